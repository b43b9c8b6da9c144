// `udp-send`: send a datagram that nobody reads. The receiving socket is of the
// same process, is never read, and its buffer is full before the first operation:
// every datagram goes the whole way through the network stack, in the sender's
// context, and the kernel drops it there. Sent to a port that nobody has bound,
// every other send would fail instead (ECONNREFUSED).
#include <sys/socket.h>

#include "ends.hpp"
#include "messages.hpp"
#include "registry.hpp"
#include "sockets.hpp"

namespace {

class UdpSend {
public:
    explicit UdpSend(const Case& subject) : pair_(udp_pair()), messages_(subject.payload()) {
        // The kernel raises this to its least.
        const int least = 1;
        if (setsockopt(pair_[1].get(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least) < 0)
            throw system_failure("SO_RCVBUF");
        // Far more than fit.
        for (int i = 0; i < 256; ++i) call(0);
    }
    std::uint64_t call(std::uint64_t x) {
        const ssize_t sent = send(pair_[0].get(), messages_.at(1), messages_.payload(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(messages_.payload())) throw system_failure("sending a datagram");
        return x + 1;
    }

private:
    DescriptorPair pair_;
    Messages messages_;
};

}  // namespace

Mechanism udp_send_mechanism() {
    Facts facts;
    facts.name = "udp-send";
    facts.family = "call";
    facts.about = "send a UDP datagram over loopback that nobody reads";
    facts.workload = Workload::call;
    facts.payload = PayloadRange{0, 65'507, 64};
    facts.crosses =
        "one datagram, through the loopback device up to the receiving socket, whose full buffer it does not enter";
    facts.copies = "the kernel, once: from the sender into a socket buffer, which it then frees";
    facts.wakes = "nobody";
    facts.between_stamps =
        "batches of send on a connected socket: route, IP, loopback device, softirq, look-up of the receiving socket, drop";
    facts.limits =
        "the receiver is a socket of the same process that is never read; the drop is cheaper than queueing and being "
        "read; firewall rules are part of the number";
    facts.sources = {"udp(7)", "send(2)", "socket(7)"};
    facts.system_calls = CountRange{1, 1};
    return {facts, nullptr, attach_call<UdpSend>, {}};
}
