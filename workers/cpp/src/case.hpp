// A case's canonical spelling, as far as a worker needs it:
// `workload/mechanism?key=value&key=value`.
#pragma once

#include <cstddef>
#include <map>
#include <string>

enum class Role { caller, callee };

struct Case {
    std::string workload;
    std::string mechanism;
    std::map<std::string, std::string> keys;

    // The value of a key, or this default.
    [[nodiscard]] std::string value(const std::string& key, const std::string& otherwise) const;
    // Bytes of a message; 0 where the case says nothing.
    [[nodiscard]] std::size_t payload() const;
    // How an end waits: `wait=block`, or `wait=spin:block` for caller and callee.
    [[nodiscard]] std::string wait_of(Role role) const;
};

// Throws a Failure for what is no case.
[[nodiscard]] Case parse_case(const std::string& text);
