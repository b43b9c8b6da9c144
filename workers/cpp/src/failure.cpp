#include "failure.hpp"

#include <cerrno>
#include <system_error>

Failure system_failure(const std::string& doing) {
    return Failure(doing + ": " + std::system_category().message(errno));
}

Failure peer_closed() {
    Failure failure("the other end closed the link");
    failure.cause = Cause::partner_gone;
    return failure;
}
