// `thread-start`: start a std::thread that does next to nothing, and join it. The
// chain from operation to operation goes through the thread.
#include <thread>

#include "ends.hpp"
#include "registry.hpp"

namespace {

class ThreadStart {
public:
    explicit ThreadStart(const Case&) {}
    std::uint64_t call(std::uint64_t x) {
        std::thread([&x] { ++x; }).join();
        return x;
    }
};

}  // namespace

Mechanism thread_start_mechanism() {
    Facts facts;
    facts.name = "thread-start";
    facts.family = "call";
    facts.about = "start a std::thread that adds one, and join it";
    facts.workload = Workload::call;
    facts.crosses = "one number, to the thread and back";
    facts.copies = "nobody";
    facts.wakes =
        "the scheduler puts the new thread on a CPU; the kernel wakes the starter when the thread is gone";
    facts.between_stamps =
        "batches of constructing a std::thread (pthread_create, and an allocation for what it runs), the thread's whole "
        "life, join";
    facts.limits =
        "the stack comes from the C library's cache; the new thread may run where its starter may, so on the same CPU "
        "if that is pinned";
    facts.sources = {"https://en.cppreference.com/w/cpp/thread/thread", "pthread_create(3)", "pthread_join(3)"};
    facts.system_calls = CountRange{8, 11};
    return {facts, nullptr, attach_call<ThreadStart>, {}};
}
