#include "stamp_cost.hpp"

#include <sched.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clock.hpp"
#include "failure.hpp"

namespace {

// The calling thread on one CPU as long as this lives.
class Pinned {
public:
    explicit Pinned(unsigned cpu) {
        if (cpu >= CPU_SETSIZE) throw Failure("there is no CPU " + std::to_string(cpu));
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_getaffinity(0, sizeof before_, &before_) < 0 || sched_setaffinity(0, sizeof one, &one) < 0)
            throw system_failure("moving to CPU " + std::to_string(cpu));
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

private:
    cpu_set_t before_;
};

}  // namespace

StampCost stamp_cost(unsigned cpu) {
    const Pinned pinned(cpu);
    std::vector<std::uint64_t> costs(10'000);
    for (auto& cost : costs) {
        const std::uint64_t before = SteadyClock::now();
        cost = SteadyClock::now() - before;
    }
    std::sort(costs.begin(), costs.end());
    const auto at = [&](double quantile) {
        return static_cast<double>(costs[static_cast<std::size_t>(quantile * static_cast<double>(costs.size()))]);
    };
    return {at(0), at(0.5), at(0.99)};
}
