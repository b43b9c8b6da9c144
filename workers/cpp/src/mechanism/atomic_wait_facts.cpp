// What is said of `atomic-wait`, apart from it because a compiler may not have it.
#include "registry.hpp"

Facts atomic_wait_facts() {
    Facts facts;
    facts.name = "atomic-wait";
    facts.family = "notifier";
    facts.revision = 3;
    facts.about = "std::atomic<int>::wait and notify_one (C++20), one atomic per direction";
    facts.boundaries = {Boundary::thread};
    facts.payload = PayloadRange{0, 65'536, 0};
    facts.crosses = "one number per direction in the process's memory (and, with a payload, a shared buffer)";
    facts.copies = "with a payload, each end copies its message into the shared buffer, and the other's is compared there; the kernel copies nothing";
    facts.wakes =
        "the notifying end by a futex wake, which libstdc++ leaves out where nobody waits; the waiting end looks "
        "sixteen times first, with twelve pauses and four sched_yield, and only then sleeps in futex(2)";
    facts.between_stamps = "copy, store, notify_one; wait, compare; the same on the other side";
    facts.limits =
        "payload up to 64 KiB; it is called blocking because the standard says so, but how long libstdc++ spins first "
        "is its own affair and no program can set it";
    facts.sources = {"https://en.cppreference.com/w/cpp/atomic/atomic/wait", "bits/atomic_wait.h of libstdc++", "futex(7)"};
    return facts;
}
