// What ends a trial: one line that says why.
#pragma once

#include <stdexcept>
#include <string>

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A failed system call, by errno: "doing: No such file or directory".
[[nodiscard]] Failure system_failure(const std::string& doing);

// The other end is gone.
[[nodiscard]] Failure peer_closed();
