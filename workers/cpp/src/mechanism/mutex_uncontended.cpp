// `mutex-uncontended`: lock and unlock a std::mutex that nobody else wants.
//
// glibc leaves the atomic instructions out while a process has never had a second
// thread. A program with a mutex has had one, so one is started and joined first.
#include <mutex>
#include <thread>

#include "ends.hpp"
#include "registry.hpp"

namespace {

class MutexUncontended {
public:
    explicit MutexUncontended(const Case&) {
        std::thread([] {}).join();
    }
    std::uint64_t call(std::uint64_t x) {
        const std::lock_guard lock(mutex_);
        return x + 1;
    }

private:
    std::mutex mutex_;
};

}  // namespace

Mechanism mutex_uncontended_mechanism() {
    Facts facts;
    facts.name = "mutex-uncontended";
    facts.family = "call";
    facts.about = "lock and unlock a std::mutex that is free";
    facts.workload = Workload::call;
    facts.crosses = "nothing";
    facts.copies = "nobody";
    facts.wakes = "nobody";
    facts.between_stamps = "batches of std::mutex::lock, an addition, std::mutex::unlock";
    facts.limits = "in libstdc++ a pthread mutex, in the own cache; with contention it becomes futex(2)";
    facts.sources = {"https://en.cppreference.com/w/cpp/thread/mutex", "pthread_mutex_lock(3)"};
    facts.system_calls = CountRange{0, 0};
    return {facts, nullptr, attach_call<MutexUncontended>, {}};
}
