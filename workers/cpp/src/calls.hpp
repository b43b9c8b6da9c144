// The timed loop of a call: one operation in one thread, in batches.
//
// An operation is a class with `std::uint64_t call(std::uint64_t x)`, which
// returns x + 1, so that each operation depends on the one before.
#pragma once

#include <cstdint>

#include "failure.hpp"
#include "order.hpp"

namespace calls {

template <class Operation>
std::uint64_t batch(Operation& operation, std::uint64_t x, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        x = operation.call(x);
        // Hides where x comes from, so that the compiler does not shorten the chain.
        asm volatile("" : "+r"(x));
    }
    return x;
}

template <class Clock, class Operation>
Counters run(Operation& operation, const Order& order, Samples& room) {
    const std::uint64_t lengths = order.stamp.kind == StampKind::two_lengths ? 2 : 1;
    Counters seen;
    std::uint64_t x = 0;
    while (seen.count < order.count) {
        for (std::uint64_t length = 1; length <= lengths; ++length) {
            const std::uint64_t n = order.stamp.n * length;
            const std::uint64_t before = Clock::now();
            x = batch(operation, x, n);
            seen.note(Clock::now() - before, room);
            seen.count += n;
        }
    }
    if (x != seen.count) throw Failure("an operation did not do what it was to do");
    return seen;
}

}  // namespace calls
