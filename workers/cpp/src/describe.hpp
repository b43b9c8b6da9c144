// The answer to `describe`.
#pragma once

#include <nlohmann/json_fwd.hpp>

[[nodiscard]] nlohmann::ordered_json describe();
