// The timed loops, the only ones: templates over a clock and a channel or an operation, so
// that nothing but these is in the loop.
//
// A channel is a class with
//     void send(std::uint64_t sequence);         sends that message
//     void receive(std::uint64_t sequence);      waits for that message and no other
// An operation is a class with
//     std::uint64_t call(std::uint64_t x);       returns x + 1, so that each depends on the last
// Whatever else happens is thrown as a Failure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "failure.hpp"

// Nanoseconds of CLOCK_MONOTONIC, which is what libstdc++ and libc++ take for
// std::chrono::steady_clock on Linux.
struct SteadyClock {
    static std::uint64_t now() {
        using namespace std::chrono;
        return static_cast<std::uint64_t>(
            duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
    }
};

// What a phase is to be.
struct Order {
    std::uint64_t count = 0;
    // Operations between two stamps.
    std::uint64_t batch = 1;
    // Whether every other batch is twice as long.
    bool has_two_lengths = false;
    // Of the sender of a load: when to send each message, in nanoseconds from the first stamp.
    std::vector<std::uint64_t> times = {};
    // Whether it only goes through these times.
    bool is_alone = false;

    // How many operations a sample or a pair of samples takes, so that `count` is a multiple.
    [[nodiscard]] std::uint64_t step() const { return has_two_lengths ? 3 * batch : batch; }
    [[nodiscard]] std::uint64_t samples() const { return count / step() * (has_two_lengths ? 2 : 1); }
};

// Room for samples, made and touched before a phase begins; empty where none are kept.
using Samples = std::vector<std::uint64_t>;

// What an end saw in a phase.
struct Counters {
    std::uint64_t count = 0;
    std::uint64_t samples = 0;
    std::uint64_t max_ticks = 0;
    std::uint64_t elapsed_ticks = 0;
    // Of an end of a load: its first stamp, and how many messages it came to when their time had passed.
    std::uint64_t first_tick = 0;
    std::uint64_t overruns = 0;

    // Keeps the stamp of a message of a load, with the highest bit set if the sender came late.
    void stamp(std::uint64_t now, bool is_late, Samples& room) {
        if (count < room.size()) room[count] = now | static_cast<std::uint64_t>(is_late) << 63;
        ++count;
        overruns += is_late;
        elapsed_ticks = now - first_tick;
    }

    // Notes a sample, and keeps it if there is room.
    void note(std::uint64_t ticks, Samples& room) {
        if (samples < room.size()) room[samples] = ticks;
        ++samples;
        max_ticks = std::max(max_ticks, ticks);
        elapsed_ticks += ticks;
    }
};

// Exchanges ahead of the first stamp of a phase.
constexpr std::uint64_t lead_in = 2;

template <class Channel>
void exchange(Channel& channel, std::uint64_t& next) {
    const std::uint64_t sequence = next;
    next += 2;
    channel.send(sequence);
    channel.receive(sequence + 1);
}

// `next` numbers the messages of the trial and is left at the next phase's first.
template <class Clock, class Channel>
Counters play_caller(Channel& channel, std::uint64_t& next, const Order& order, Samples& room) {
    Counters seen;
    for (std::uint64_t i = 0; i < lead_in; ++i) exchange(channel, next);
    std::uint64_t before = Clock::now();
    while (seen.count < order.count) {
        for (std::uint64_t i = 0; i < order.batch; ++i) exchange(channel, next);
        const std::uint64_t now = Clock::now();
        seen.note(now - before, room);
        seen.count += order.batch;
        before = now;
    }
    return seen;
}

template <class Channel>
Counters play_callee(Channel& channel, std::uint64_t& next, const Order& order) {
    for (std::uint64_t i = 0; i < order.count + lead_in; ++i) {
        channel.receive(next);
        channel.send(next + 1);
        next += 2;
    }
    Counters seen;
    seen.count = order.count;
    return seen;
}

// The sender of a load: each message at its time, whatever the other end does.
template <class Clock, class Channel>
Counters play_sender(Channel& channel, std::uint64_t& next, const Order& order, Samples& room) {
    for (std::uint64_t i = 0; i < lead_in && !order.is_alone; ++i) exchange(channel, next);
    Counters seen;
    seen.first_tick = Clock::now();
    for (const std::uint64_t after : order.times) {
        const std::uint64_t due = seen.first_tick + after;
        std::uint64_t now = Clock::now();
        const bool is_late = now > due;
        while (now < due) now = Clock::now();
        seen.stamp(now, is_late, room);
        if (order.is_alone) continue;
        channel.send(next);
        next += 2;
    }
    return seen;
}

// The receiver of a load stamps each message when it has come.
template <class Clock, class Channel>
Counters play_receiver(Channel& channel, std::uint64_t& next, const Order& order, Samples& room) {
    Counters seen;
    seen.count = order.count;
    if (order.is_alone) return seen;
    play_callee(channel, next, Order{});
    seen.count = 0;
    while (seen.count < order.count) {
        channel.receive(next);
        next += 2;
        const std::uint64_t now = Clock::now();
        if (seen.count == 0) seen.first_tick = now;
        seen.stamp(now, false, room);
    }
    return seen;
}

template <class Operation>
std::uint64_t repeat(Operation& operation, std::uint64_t x, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        x = operation.call(x);
        // Hides where x comes from, so that the compiler does not shorten the chain.
        asm volatile("" : "+r"(x));
    }
    return x;
}

template <class Clock, class Operation>
Counters play_calls(Operation& operation, const Order& order, Samples& room) {
    const std::uint64_t lengths = order.has_two_lengths ? 2 : 1;
    Counters seen;
    std::uint64_t x = 0;
    while (seen.count < order.count) {
        for (std::uint64_t length = 1; length <= lengths; ++length) {
            const std::uint64_t n = order.batch * length;
            const std::uint64_t before = Clock::now();
            x = repeat(operation, x, n);
            seen.note(Clock::now() - before, room);
            seen.count += n;
        }
    }
    if (x != seen.count) throw Failure("an operation did not do what it was to do");
    return seen;
}
