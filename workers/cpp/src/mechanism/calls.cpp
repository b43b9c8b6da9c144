// The operations of one thread.
#include <sys/socket.h>

#include <mutex>
#include <thread>

#include "failure.hpp"
#include "links.hpp"
#include "mechanism.hpp"
#include "messages.hpp"

namespace {

// `mutex-uncontended`: lock and unlock a std::mutex that nobody else wants.
//
// glibc leaves the atomic instructions out while a process has never had a second
// thread. A program with a mutex has had one, so one is started and joined first.
class MutexUncontended {
public:
    explicit MutexUncontended(const Subject&) {
        std::thread([] {}).join();
    }
    std::uint64_t call(std::uint64_t x) {
        const std::lock_guard lock(mutex_);
        return x + 1;
    }

private:
    std::mutex mutex_;
};

// `udp-send`: send a datagram that nobody reads. The receiving socket is of the
// same process, is never read, and its buffer is full before the first operation:
// every datagram goes the whole way through the network stack, in the sender's
// context, and the kernel drops it there. Sent to a port that nobody has bound,
// every other send would fail instead (ECONNREFUSED).
class UdpSend {
public:
    explicit UdpSend(const Subject& subject) : pair_(udp_pair()), messages_(subject.payload) {
        // The kernel raises this to its least.
        const int least = 1;
        check(setsockopt(pair_[1], SOL_SOCKET, SO_RCVBUF, &least, sizeof least), "SO_RCVBUF");
        // Far more than fit.
        for (int i = 0; i < 256; ++i) call(0);
    }
    std::uint64_t call(std::uint64_t x) {
        const ssize_t sent = send(pair_[0], messages_.at(1), messages_.payload(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(messages_.payload())) throw system_failure("sending a datagram");
        return x + 1;
    }

private:
    std::array<int, 2> pair_;
    Messages messages_;
};

// `thread-start`: start a std::thread that does next to nothing, and join it. The
// chain from operation to operation goes through the thread.
class ThreadStart {
public:
    explicit ThreadStart(const Subject&) {}
    std::uint64_t call(std::uint64_t x) {
        std::thread([&x] { ++x; }).join();
        return x;
    }
};

}  // namespace

std::vector<Mechanism> call_mechanisms() {
    return {{"mutex-uncontended", 1, attach_call<MutexUncontended>, nullptr},
            {"udp-send", 1, attach_call<UdpSend>, nullptr},
            {"thread-start", 1, attach_call<ThreadStart>, nullptr}};
}
