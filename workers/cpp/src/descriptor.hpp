// A file descriptor that is closed when its owner is gone.
#pragma once

#include <utility>

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor();

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    // Hands it over to somebody who closes it.
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

// An inherited descriptor, which must be open. It is made to block, because that
// is how every mechanism here waits, and is not passed on to other programs.
[[nodiscard]] Descriptor adopt(int fd);

// The result of a system call that returns a descriptor.
[[nodiscard]] Descriptor opened(int result, const char* doing);
