// The timed loops of a round trip, the only ones: templates over a clock and a
// channel, so that nothing but the channel is in the loop.
//
// A channel is a class with
//     static constexpr bool loses;               whether messages can be lost
//     void send(std::uint64_t sequence);         sends that message
//     void receive(std::uint64_t sequence);      waits for that message and no other
// and, where messages can be lost, instead of the last
//     Received receive(std::uint64_t sequence);
// Whatever else happens is thrown as a Failure.
#pragma once

#include <cstdint>
#include <string>

#include "failure.hpp"
#include "order.hpp"

enum class Received {
    expected,
    // The message of the exchange before, once more.
    repeated,
    // Nothing came in time.
    timed_out,
};

namespace roundtrip {

// Exchanges ahead of the first stamp of a phase.
constexpr std::uint64_t lead_in = 2;
// Time-outs of one message after which a trial is over.
constexpr int timeouts_max = 50;
// Time-outs of a phase's last message after which it is taken that the callee has
// answered, that the answer was lost, and that nobody answers any more.
constexpr int last_timeouts = 4;
// Messages of the past that are answered or skipped in a row at most.
constexpr int repeated_max = 10'000;

enum class Exchange { whole, lost };

// What the caller does when no reply came, or one of the past.
template <class Channel>
[[gnu::noinline, gnu::cold]] Exchange call_again(Channel& channel, std::uint64_t sequence, bool is_last,
                                                 Received received) {
    int timeouts = 0;
    for (int repeated = 0; repeated < repeated_max;) {
        if (received == Received::repeated) {
            ++repeated;
        } else {
            ++timeouts;
            if (is_last && timeouts == last_timeouts) return Exchange::lost;
            if (timeouts == timeouts_max)
                throw Failure("message " + std::to_string(sequence) + " was sent " + std::to_string(timeouts) +
                              " times and never answered in time");
            channel.send(sequence);
        }
        received = channel.receive(sequence + 1);
        if (received == Received::expected) return timeouts > 0 ? Exchange::lost : Exchange::whole;
    }
    throw Failure("replies of the past came again and again");
}

template <class Channel>
Exchange exchange(Channel& channel, std::uint64_t& next, [[maybe_unused]] std::uint64_t last) {
    const std::uint64_t sequence = next;
    next += 2;
    channel.send(sequence);
    if constexpr (Channel::loses) {
        const Received received = channel.receive(sequence + 1);
        if (received != Received::expected) return call_again(channel, sequence, sequence == last, received);
    } else {
        channel.receive(sequence + 1);
    }
    return Exchange::whole;
}

// `next` numbers the messages of the trial and is left at the next phase's first.
template <class Clock, class Channel>
Counters caller(Channel& channel, std::uint64_t& next, const Order& order, Samples& room) {
    const std::uint64_t last = next + 2 * (order.count + lead_in - 1);
    Counters seen;
    for (std::uint64_t i = 0; i < lead_in; ++i) exchange(channel, next, last);
    std::uint64_t before = Clock::now();
    while (seen.count < order.count) {
        std::uint64_t lost = 0;
        for (std::uint64_t i = 0; i < order.stamp.n; ++i)
            lost += exchange(channel, next, last) == Exchange::lost;
        const std::uint64_t now = Clock::now();
        // A time-out says nothing of the mechanism's latency.
        if (lost == 0) seen.note(now - before, room);
        seen.lost += lost;
        seen.count += order.stamp.n;
        before = now;
    }
    return seen;
}

// Answers again what was answered before, until message `sequence` comes.
template <class Channel>
[[gnu::noinline, gnu::cold]] void answer_again(Channel& channel, std::uint64_t sequence) {
    for (int repeated = 0; repeated < repeated_max; ++repeated) {
        channel.send(sequence - 1);
        if (channel.receive(sequence) == Received::expected) return;
    }
    throw Failure("messages of the past came again and again");
}

template <class Channel>
Counters callee(Channel& channel, std::uint64_t& next, const Order& order) {
    for (std::uint64_t i = 0; i < order.count + lead_in; ++i) {
        if constexpr (Channel::loses) {
            if (channel.receive(next) != Received::expected) answer_again(channel, next);
        } else {
            channel.receive(next);
        }
        channel.send(next + 1);
        next += 2;
    }
    Counters seen;
    seen.count = order.count;
    return seen;
}

}  // namespace roundtrip
