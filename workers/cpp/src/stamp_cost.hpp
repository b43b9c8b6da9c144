// What a stamp costs, measured on one CPU.
#pragma once

struct StampCost {
    double min_ns;
    double p50_ns;
    double p99_ns;
};

// Moves to the CPU for it and back; throws a Failure where it may not.
[[nodiscard]] StampCost stamp_cost(unsigned cpu);
