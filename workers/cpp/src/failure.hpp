// What ends a trial: one line that says why.
#pragma once

#include <stdexcept>
#include <string>

enum class Cause { said_by_reason, partner_gone };

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
    Cause cause = Cause::said_by_reason;
};

// A failed system call, by errno: "doing: No such file or directory".
[[nodiscard]] Failure system_failure(const std::string& doing);

// The other end is gone: what the other worker says explains more.
[[nodiscard]] Failure peer_closed();
