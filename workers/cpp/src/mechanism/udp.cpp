// `udp`: two UDP sockets on the loopback interface, connected to each other; send
// and recv. A datagram may be lost: then the caller's receive times out, it sends
// again, and the exchange is counted as lost and is no sample.
#include <chrono>
#include <optional>

#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "ticker.hpp"
#include "transport.hpp"

namespace {

std::chrono::milliseconds timeout(const Case& subject) {
    const std::string text = subject.value("timeout", "200ms");
    if (text == "200ms") return std::chrono::milliseconds(200);
    if (text == "1s") return std::chrono::seconds(1);
    throw Failure("timeout is `200ms` or `1s`, not `" + text + "`");
}

class Udp : Packets {
public:
    static constexpr bool loses = true;

    Udp(Half half, const Attaching& attaching) : Packets(std::move(half), attaching) {
        if (attaching.role == Role::caller) ticker_.emplace(timeout(attaching.subject) / 2);
    }

    using Packets::send;

    Received receive(std::uint64_t sequence) {
        const unsigned since = ticker_ ? ticker_->ticks() : 0;
        ssize_t got = take();
        while (got < 0) {
            if (errno != EINTR) throw refused();
            if (ticker_ && ticker_->ticks() - since >= periods) return timed_out(sequence);
            got = take();
        }
        const auto length = static_cast<std::size_t>(got);
        if (messages_.is(sequence, input_.data(), length)) return Received::expected;
        if (sequence > 2 && messages_.is(sequence - 2, input_.data(), length)) return Received::repeated;
        messages_.unexpected(sequence, length);
    }

private:
    // Two make a time-out, and the first may be nearly over when a receive begins.
    static constexpr unsigned periods = 3;

    Received timed_out(std::uint64_t sequence) const {
        if (messages_.payload() > 0) return Received::timed_out;
        throw Failure("message " + std::to_string(sequence) +
                      " or its request was lost; without payload it cannot be told from the next one");
    }

    std::optional<Ticker> ticker_;
};

}  // namespace

Mechanism udp_mechanism() {
    Facts facts = on_descriptors("udp", "inet socket");
    facts.revision = 2;
    facts.about = "send and recv on two connected UDP sockets over loopback (127.0.0.1)";
    facts.payload = PayloadRange{0, 65'507, 64};
    facts.parameters = {{"timeout",
                         {"200ms", "1s"},
                         "200ms",
                         "how long the caller waits for a reply, and at most half as long again, before it counts the "
                         "exchange as lost and sends again"}};
    facts.crosses = "one datagram a message, through the loopback device";
    facts.wakes = "the kernel: the softirq that the send raises delivers the datagram and wakes the sleeping receiver";
    facts.between_stamps =
        "send (with the whole way through the network stack), sleep in recv, be woken, recv returns; on the other side "
        "recv returns, send, recv";
    facts.limits =
        "0 to 65,507 bytes, the most that one datagram holds; a lost exchange is counted and is no sample (without "
        "payload, where messages cannot be told apart, it ends the trial); a callee that waits for a dead partner is "
        "ended by its deadline; a timer interrupts the caller's thread every half time-out";
    facts.sources = {"udp(7)", "send(2)", "recv(2)", "timer_create(2)"};
    facts.system_calls = CountRange{4, 4.2};
    return {facts, [](const Opening&) { return halves(udp_pair()); }, attach_channel<Udp>, {}};
}
