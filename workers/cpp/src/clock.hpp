// The clock of the stamps: nanoseconds of CLOCK_MONOTONIC, which is what
// libstdc++ and libc++ take for std::chrono::steady_clock on Linux.
#pragma once

#include <chrono>
#include <cstdint>

struct SteadyClock {
    static std::uint64_t now() {
        using namespace std::chrono;
        return static_cast<std::uint64_t>(
            duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
    }
};
