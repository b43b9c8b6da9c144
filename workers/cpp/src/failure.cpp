#include "failure.hpp"

#include <cerrno>
#include <system_error>

Failure system_failure(const std::string& doing) {
    return Failure(doing + ": " + std::system_category().message(errno));
}

Failure peer_closed() { return Failure("the other end closed the link"); }
