// What a phase is to be, and what became of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

enum class Phase { pilot, warm_up, measure, count };

enum class StampKind { each, batch, two_lengths };

struct Stamp {
    StampKind kind = StampKind::each;
    // Operations between two stamps (of the shorter batch).
    std::uint64_t n = 1;
};

struct Order {
    Phase phase = Phase::measure;
    std::uint64_t count = 0;
    Stamp stamp;

    // How many operations a sample or a pair of samples takes, so that `count` is a multiple.
    [[nodiscard]] std::uint64_t step() const {
        return stamp.kind == StampKind::two_lengths ? 3 * stamp.n : stamp.n;
    }
    [[nodiscard]] std::uint64_t samples() const {
        return count / step() * (stamp.kind == StampKind::two_lengths ? 2 : 1);
    }
};

// Room for samples, made and touched before a phase begins; empty where none are kept.
using Samples = std::vector<std::uint64_t>;

struct Counters {
    std::uint64_t count = 0;
    std::uint64_t samples = 0;
    std::uint64_t max_ticks = 0;
    std::uint64_t elapsed_ticks = 0;
    std::uint64_t lost = 0;

    // Notes a sample, and keeps it if there is room.
    void note(std::uint64_t ticks, Samples& room) {
        if (samples < room.size()) room[samples] = ticks;
        ++samples;
        max_ticks = std::max(max_ticks, ticks);
        elapsed_ticks += ticks;
    }
};
