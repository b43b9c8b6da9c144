// What ends a trial: one line that says why.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
    // All that is known is that the other end is gone: what its worker says explains more.
    bool is_partner_gone = false;
};

// A failed system call, by errno: "doing: No such file or directory".
[[nodiscard]] inline Failure system_failure(const std::string& doing) {
    return Failure(doing + ": " + std::system_category().message(errno));
}

[[nodiscard]] inline Failure peer_closed() {
    Failure failure("the other end closed the link");
    failure.is_partner_gone = true;
    return failure;
}
