// The mechanisms on descriptors: a message over a byte stream (`pipe`, `unix-stream`,
// `tcp`), and a message as one packet (`unix-dgram`, `unix-seqpacket`, `udp`).
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "failure.hpp"
#include "links.hpp"
#include "mechanism.hpp"
#include "messages.hpp"

namespace {

// `write` until all is written, `read` until all is there. SIGPIPE is ignored
// (main.cpp), so that a partner that is gone is an error.
class Stream {
public:
    Stream(const Half& half, const Subject& subject, Role)
        : messages_(subject.payload),
          incoming_(half.descriptors.at(0)),
          outgoing_(half.descriptors.back()),
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
    Messages messages_;
    int incoming_;
    int outgoing_;
    Buffer input_;
};

// `send` and `recv` on a connected socket, never split.
class Packets {
public:
    Packets(const Half& half, const Subject& subject, Role)
        : socket_(half.descriptors.at(0)),
          messages_(subject.payload),
          // One byte more, so that a longer message is seen as such.
          input_(messages_.payload() + 1) {}

    void send(std::uint64_t sequence) {
        for (;;) {
            const ssize_t sent = ::send(socket_, messages_.at(sequence), messages_.payload(), MSG_NOSIGNAL);
            if (sent == static_cast<ssize_t>(messages_.payload())) return;
            if (sent >= 0) throw Failure("only a part of a message was sent");
            if (errno == EPIPE || errno == ECONNRESET || errno == ECONNREFUSED) throw peer_closed();
            if (errno != EINTR) throw system_failure("send");
        }
    }

    void receive(std::uint64_t sequence) {
        const std::size_t got = take();
        if (got == 0 && messages_.payload() > 0) throw peer_closed();
        messages_.expect(sequence, input_.data(), got);
    }

protected:
    // The length of the next packet.
    std::size_t take() {
        for (;;) {
            const ssize_t got = recv(socket_, input_.data(), input_.size(), 0);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno == ECONNRESET || errno == ECONNREFUSED) throw peer_closed();
            if (errno != EINTR) throw system_failure("recv");
        }
    }

    int socket_;
    Messages messages_;
    Buffer input_;
};

// A datagram may be lost. What comes a second time has been answered, and the answer was
// lost: the callee answers again. The caller waits.
class Udp : public Packets {
public:
    Udp(const Half& half, const Subject& subject, Role role) : Packets(half, subject, role), role_(role) {}

    void receive(std::uint64_t sequence) {
        const std::size_t got = take();
        if (!messages_.is(sequence, input_.data(), got)) answer_again(sequence, got);
    }

private:
    // Messages of the past that are answered or skipped in a row at most.
    static constexpr int repeated_max = 10'000;

    [[gnu::noinline, gnu::cold]] void answer_again(std::uint64_t sequence, std::size_t got) {
        for (int repeated = 0; repeated < repeated_max && sequence > 2; ++repeated) {
            if (!messages_.is(sequence - 2, input_.data(), got)) break;
            if (role_ == Role::callee) send(sequence - 1);
            got = take();
            if (messages_.is(sequence, input_.data(), got)) return;
        }
        messages_.unexpected(sequence, got);
    }

    Role role_;
};

End attach_tcp(const Half& half, const Subject& subject, Role role) {
    set_nodelay(half.descriptors.at(0), subject.parameters.at("nodelay") == "on");
    return attach_channel<Stream>(half, subject, role);
}

// Opens a link of connected Unix sockets.
template <int type>
Link open_unix(const Subject&) {
    return halves(unix_pair(type));
}

}  // namespace

std::vector<Mechanism> descriptor_mechanisms() {
    return {{"pipe", 2, attach_channel<Stream>, [](const Subject&) { return pipes(); }},
            {"unix-stream", 2, attach_channel<Stream>, open_unix<SOCK_STREAM>},
            {"unix-dgram", 2, attach_channel<Packets>, open_unix<SOCK_DGRAM>},
            {"unix-seqpacket", 2, attach_channel<Packets>, open_unix<SOCK_SEQPACKET>},
            {"tcp", 2, attach_tcp, [](const Subject&) { return halves(tcp_pair()); }},
            {"udp", 2, attach_channel<Udp>, [](const Subject&) { return halves(udp_pair()); }}};
}
