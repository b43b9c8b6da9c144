// A timer that interrupts the thread that started it, and counts: how the caller
// of a round trip notices that a datagram is lost. A receive time-out of the
// socket (SO_RCVTIMEO) would have the kernel set up a timer for every receive.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

class Ticker {
public:
    explicit Ticker(std::chrono::nanoseconds period);
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;
    ~Ticker();

    // Periods that are over.
    [[nodiscard]] unsigned ticks() const;

private:
    timer_t timer_{};
};
