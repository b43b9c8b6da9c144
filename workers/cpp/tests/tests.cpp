// What `hopcost worker check` cannot see: the arithmetic of stamps and batches over a clock and
// a channel that do as they are told, and a lost datagram.
#include <sys/socket.h>

#include <cstdio>
#include <vector>

#include "links.hpp"
#include "loops.hpp"
#include "messages.hpp"

namespace {

int failures = 0;

void check(bool is_so, const char* what, int line) {
    if (is_so) return;
    std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, what);
    ++failures;
}

#define CHECK(condition) check((condition), #condition, __LINE__)

struct TestClock {
    inline static std::uint64_t time = 0;
    static std::uint64_t now() { return time; }
};

using Numbers = std::vector<std::uint64_t>;

// The n-th exchange takes n ticks.
struct Channel {
    Numbers sent, received;
    void send(std::uint64_t sequence) { sent.push_back(sequence); }
    void receive(std::uint64_t sequence) {
        received.push_back(sequence);
        TestClock::time += received.size();
    }
};

// An operation takes 10 ticks.
struct Operation {
    std::uint64_t call(std::uint64_t x) {
        TestClock::time += 10;
        return x + 1;
    }
};

void each_exchange_is_a_sample() {
    Channel channel;
    Samples room(3);
    std::uint64_t next = 1;
    const Counters seen = play_caller<TestClock>(channel, next, {3}, room);
    // Two exchanges lead in, so the stamped ones take 3, 4 and 5.
    CHECK((room == Samples{3, 4, 5}));
    CHECK(seen.count == 3 && seen.samples == 3 && seen.max_ticks == 5 && seen.elapsed_ticks == 12);
    CHECK((channel.sent == Numbers{1, 3, 5, 7, 9}));
    CHECK((channel.received == Numbers{2, 4, 6, 8, 10}));
    CHECK(next == 11);
}

void calls_in_batches_and_in_two_lengths() {
    const Order two_lengths{12, 2, true}, batches{12, 4};
    CHECK(two_lengths.samples() == 4 && batches.samples() == 3);
    Operation operation;
    Samples room(4);
    Counters seen = play_calls<TestClock>(operation, two_lengths, room);
    CHECK((room == Samples{20, 40, 20, 40}));
    CHECK(seen.count == 12 && seen.samples == 4 && seen.elapsed_ticks == 120 && seen.max_ticks == 40);
    seen = play_calls<TestClock>(operation, {6, 3}, room);
    CHECK(seen.samples == 2 && room[0] == 30 && room[1] == 30);
}

void messages_begin_where_hopcosts_do() {
    const auto offset = [](const void* bytes, std::size_t alignment) {
        return reinterpret_cast<std::uintptr_t>(bytes) % alignment;
    };
    for (const std::size_t length : {1, 64, 129, 4095, 4096, 32'768, 65'507}) {
        const std::size_t alignment = length < page ? cache_line : page;
        const Messages messages(length);
        for (const std::uint64_t sequence : {1, 2, 3}) CHECK(offset(messages.at(sequence), alignment) == 0);
        CHECK(offset(Buffer(length).data(), std::max(alignment, 2 * cache_line)) == 0);
    }
}

void a_datagram_that_comes_twice_is_answered_twice() {
    const auto [caller, callee] = udp_pair();
    const Messages messages(64);
    for (const std::uint64_t sequence : {1, 1, 3, 3, 5}) send(caller, messages.at(sequence), 64, 0);
    for (const Mechanism& mechanism : descriptor_mechanisms()) {
        if (mechanism.name != "udp") continue;
        Samples none;
        CHECK(mechanism.attach({{callee}, nullptr}, {64, {}}, Role::callee)({1}, none).count == 1);
    }
    std::byte input[65];
    for (const std::uint64_t sequence : {2, 2, 4, 4, 6})
        CHECK(messages.is(sequence, input, static_cast<std::size_t>(recv(caller, input, sizeof input, MSG_DONTWAIT))));
}

}  // namespace

int main() {
    each_exchange_is_a_sample();
    calls_in_batches_and_in_two_lengths();
    messages_begin_where_hopcosts_do();
    a_datagram_that_comes_twice_is_answered_twice();
    std::printf("%s\n", failures == 0 ? "all tests passed" : "tests failed");
    return failures == 0 ? 0 : 1;
}
