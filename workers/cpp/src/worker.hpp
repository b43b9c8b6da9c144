// The commands of the protocol (workers/PROTOCOL.md) and their replies.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "seat.hpp"

class Worker {
public:
    // The reply to a command; throws where there is none but `failed`.
    [[nodiscard]] std::string answer(const std::string& line);
    [[nodiscard]] bool has_stopped() const { return has_stopped_; }

private:
    nlohmann::ordered_json attach(const nlohmann::ordered_json& command);
    nlohmann::ordered_json run(const nlohmann::ordered_json& command);

    bool has_stopped_ = false;
    bool is_call_ = false;
    Descriptor samples_;
    std::vector<std::unique_ptr<Seat>> seats_;
};
