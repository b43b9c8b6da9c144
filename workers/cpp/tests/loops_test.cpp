// The timed loops over a clock and a channel that do as they are told.
#include <deque>
#include <initializer_list>
#include <vector>

#include "calls.hpp"
#include "check.hpp"
#include "roundtrip.hpp"

namespace {

struct TestClock {
    inline static std::uint64_t time = 0;
    static std::uint64_t now() { return time; }
};

// An operation takes 10 ticks, the n-th exchange of a channel n.
struct Operation {
    int skip = -1;
    int done = 0;
    std::uint64_t call(std::uint64_t x) {
        TestClock::time += 10;
        return done++ == skip ? x : x + 1;
    }
};

struct Channel {
    static constexpr bool loses = false;
    std::vector<std::uint64_t> sent, received;
    void send(std::uint64_t sequence) { sent.push_back(sequence); }
    void receive(std::uint64_t sequence) {
        received.push_back(sequence);
        TestClock::time += received.size();
    }
};

struct Lossy {
    static constexpr bool loses = true;
    std::deque<Received> outcomes;
    Received otherwise = Received::expected;
    std::vector<std::uint64_t> sent, received;
    void send(std::uint64_t sequence) { sent.push_back(sequence); }
    Received receive(std::uint64_t sequence) {
        received.push_back(sequence);
        TestClock::time += 1;
        if (outcomes.empty()) return otherwise;
        const Received outcome = outcomes.front();
        outcomes.pop_front();
        return outcome;
    }
};

using Numbers = std::vector<std::uint64_t>;

Order order(std::uint64_t count, StampKind kind = StampKind::each, std::uint64_t n = 1) {
    return {Phase::measure, count, {kind, n}};
}

void each_exchange_is_a_sample() {
    Channel channel;
    Samples room(3);
    std::uint64_t next = 1;
    const Counters seen = roundtrip::caller<TestClock>(channel, next, order(3), room);
    // Two exchanges lead in, so the stamped ones take 3, 4 and 5.
    CHECK((room == Samples{3, 4, 5}));
    CHECK(seen.count == 3 && seen.samples == 3 && seen.max_ticks == 5 && seen.elapsed_ticks == 12 && seen.lost == 0);
    CHECK((channel.sent == Numbers{1, 3, 5, 7, 9}));
    CHECK((channel.received == Numbers{2, 4, 6, 8, 10}));
    CHECK(next == 11);
}

void a_batch_is_a_sample_and_numbers_go_on() {
    Channel channel;
    Samples room(2);
    std::uint64_t next = 11;
    const Counters seen = roundtrip::caller<TestClock>(channel, next, order(4, StampKind::batch, 2), room);
    CHECK((room == Samples{3 + 4, 5 + 6}));
    CHECK(seen.count == 4 && seen.samples == 2 && seen.max_ticks == 11 && seen.elapsed_ticks == 18);
    CHECK(channel.sent.front() == 11 && channel.sent.back() == 21 && next == 23);
}

void without_room_the_sums_are_kept() {
    Channel channel;
    Samples none;
    std::uint64_t next = 1;
    const Counters seen = roundtrip::caller<TestClock>(channel, next, order(3), none);
    CHECK(seen.elapsed_ticks == 12 && seen.max_ticks == 5 && none.empty());
}

void a_callee_answers_with_the_next_number() {
    Channel channel;
    std::uint64_t next = 1;
    CHECK(roundtrip::callee(channel, next, order(1)).count == 1);
    CHECK((channel.received == Numbers{1, 3, 5}));
    CHECK((channel.sent == Numbers{2, 4, 6}));
    CHECK(next == 7);
}

void a_lost_exchange_is_no_sample() {
    Lossy channel;
    channel.outcomes = {Received::expected, Received::expected, Received::timed_out, Received::expected,
                        Received::repeated, Received::expected};
    Samples room(3);
    std::uint64_t next = 1;
    const Counters seen = roundtrip::caller<TestClock>(channel, next, order(3), room);
    CHECK(seen.lost == 1 && seen.samples == 2 && seen.count == 3);
    CHECK((channel.sent == Numbers{1, 3, 5, 5, 7, 9}));
    CHECK((room == Samples{2, 1, 0}));
}

void a_dead_callee_ends_the_caller() {
    Lossy channel;
    channel.otherwise = Received::timed_out;
    Samples none;
    std::uint64_t next = 1;
    CHECK_THROWS(Failure, roundtrip::caller<TestClock>(channel, next, order(3), none));
    CHECK(channel.sent.size() == roundtrip::timeouts_max);
}

void the_last_message_is_given_up_early() {
    Lossy channel;
    channel.outcomes = {Received::expected, Received::expected};
    channel.otherwise = Received::timed_out;
    Samples none;
    std::uint64_t next = 1;
    const Counters seen = roundtrip::caller<TestClock>(channel, next, order(1), none);
    CHECK(seen.lost == 1 && seen.samples == 0);
}

void a_callee_answers_again() {
    Lossy channel;
    channel.outcomes = {Received::repeated, Received::expected, Received::expected, Received::expected};
    std::uint64_t next = 7;
    (void)roundtrip::callee(channel, next, order(1));
    CHECK((channel.sent == Numbers{6, 8, 10, 12}));
}

void calls_in_batches_and_in_two_lengths() {
    Operation operation;
    Samples room(4);
    Counters seen = calls::run<TestClock>(operation, order(12, StampKind::two_lengths, 2), room);
    CHECK((room == Samples{20, 40, 20, 40}));
    CHECK(seen.count == 12 && seen.samples == 4 && seen.elapsed_ticks == 120 && seen.max_ticks == 40);
    seen = calls::run<TestClock>(operation, order(6, StampKind::batch, 3), room);
    CHECK(seen.samples == 2 && room[0] == 30 && room[1] == 30);
    Operation lazy{3};
    CHECK_THROWS(Failure, calls::run<TestClock>(lazy, order(6, StampKind::batch, 3), room));
}

void room_is_as_large_as_the_samples() {
    CHECK(order(7).samples() == 7);
    CHECK(order(12, StampKind::batch, 4).samples() == 3);
    CHECK(order(12, StampKind::two_lengths, 2).samples() == 4);
}

}  // namespace

void test_loops() {
    each_exchange_is_a_sample();
    a_batch_is_a_sample_and_numbers_go_on();
    without_room_the_sums_are_kept();
    a_callee_answers_with_the_next_number();
    a_lost_exchange_is_no_sample();
    a_dead_callee_ends_the_caller();
    the_last_message_is_given_up_early();
    a_callee_answers_again();
    calls_in_batches_and_in_two_lengths();
    room_is_as_large_as_the_samples();
}
