// What mechanisms on descriptors share: a message over a byte stream, and a
// message as one packet.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "buffer.hpp"
#include "failure.hpp"
#include "mechanism.hpp"
#include "messages.hpp"

// `write` until all is written, `read` until all is there. SIGPIPE is ignored
// (main.cpp), so that a partner that is gone is an error.
class Stream {
public:
    static constexpr bool loses = false;

    Stream(Half half, const Attaching& attaching)
        : descriptors_(std::move(half.descriptors)),
          messages_(attaching.subject.payload()),
          incoming_(descriptors_.front().get()),
          outgoing_(descriptors_.back().get()),
          input_(messages_.payload()) {}

    void send(std::uint64_t sequence) {
        const std::byte* message = messages_.at(sequence);
        for (std::size_t done = 0; done < messages_.payload();) {
            const ssize_t written = write(outgoing_, message + done, messages_.payload() - done);
            if (written >= 0) {
                done += static_cast<std::size_t>(written);
            } else if (errno == EPIPE || errno == ECONNRESET) {
                throw peer_closed();
            } else if (errno != EINTR) {
                throw system_failure("write");
            }
        }
    }

    void receive(std::uint64_t sequence) {
        for (std::size_t done = 0; done < input_.size();) {
            const ssize_t got = read(incoming_, input_.data() + done, input_.size() - done);
            if (got > 0) {
                done += static_cast<std::size_t>(got);
            } else if (got == 0 || errno == ECONNRESET) {
                throw peer_closed();
            } else if (errno != EINTR) {
                throw system_failure("read");
            }
        }
        messages_.expect(sequence, input_.data(), input_.size());
    }

private:
    std::vector<Descriptor> descriptors_;
    Messages messages_;
    int incoming_;
    int outgoing_;
    Buffer input_;
};

// `send` and `recv` on a connected socket, never split.
class Packets {
public:
    static constexpr bool loses = false;

    Packets(Half half, const Attaching& attaching)
        : socket_(std::move(half.descriptors.front())),
          messages_(attaching.subject.payload()),
          // One byte more, so that a longer message is seen as such.
          input_(messages_.payload() + 1) {}

    void send(std::uint64_t sequence) {
        for (;;) {
            const ssize_t sent =
                ::send(socket_.get(), messages_.at(sequence), messages_.payload(), MSG_NOSIGNAL);
            if (sent == static_cast<ssize_t>(messages_.payload())) return;
            if (sent >= 0) throw Failure("only a part of a message was sent");
            if (errno == EPIPE || errno == ECONNRESET || errno == ECONNREFUSED) throw peer_closed();
            if (errno != EINTR) throw system_failure("send");
        }
    }

    void receive(std::uint64_t sequence) {
        ssize_t got = take();
        while (got < 0) {
            if (errno != EINTR) throw refused();
            got = take();
        }
        if (got == 0 && messages_.payload() > 0) throw peer_closed();
        messages_.expect(sequence, input_.data(), static_cast<std::size_t>(got));
    }

protected:
    ssize_t take() { return recv(socket_.get(), input_.data(), input_.size(), 0); }

    // Why a receive failed, by errno.
    static Failure refused() {
        if (errno == ECONNRESET || errno == ECONNREFUSED) return peer_closed();
        return system_failure("recv");
    }

    Descriptor socket_;
    Messages messages_;
    Buffer input_;
};
