#include "descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "failure.hpp"

Descriptor::~Descriptor() {
    if (fd_ >= 0) close(fd_);
}

Descriptor adopt(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        throw system_failure("inherited descriptor " + std::to_string(fd));
    return Descriptor(fd);
}

Descriptor opened(int result, const char* doing) {
    if (result < 0) throw system_failure(doing);
    return Descriptor(result);
}
