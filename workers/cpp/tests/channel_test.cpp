// Every mechanism in one process: both ends as threads, or the one of a call.
#include <exception>
#include <string>
#include <thread>

#include "check.hpp"
#include "registry.hpp"

namespace {

Order order(Phase phase, std::uint64_t count, Stamp stamp) { return {phase, count, stamp}; }

void callee(const Mechanism& mechanism, Half half, const Case& subject) try {
    const auto end = mechanism.attach(std::move(half), Attaching{subject, Role::callee});
    Samples none;
    for (int phase = 0; phase < 2; ++phase)
        CHECK(end->run(order(Phase::measure, 300, {}), none).count == 300);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s, callee: %s\n", mechanism.facts.name.c_str(), error.what());
    ++failures;
}

void round_trips(const Mechanism& mechanism, std::size_t payload, const std::string& parameter = "") try {
    const Case subject = parse_case("roundtrip/" + mechanism.facts.name + "?payload=" + std::to_string(payload) +
                                    "&boundary=thread&place=free&wait=block" + parameter);
    CHECK(&mechanism_of(subject) == &mechanism);
    Link link = mechanism.open({subject, ""});
    std::thread other([&] { callee(mechanism, std::move(link.callee), subject); });
    const auto end = mechanism.attach(std::move(link.caller), Attaching{subject, Role::caller});
    for (int phase = 0; phase < 2; ++phase) {
        Samples room(300);
        const Counters seen = end->run(order(Phase::measure, 300, {}), room);
        CHECK(seen.count == 300 && seen.samples + seen.lost == 300 && seen.elapsed_ticks > 0);
    }
    other.join();
} catch (const std::exception& error) {
    // The other thread may be asleep for good.
    std::fprintf(stderr, "%s, caller: %s\n", mechanism.facts.name.c_str(), error.what());
    std::exit(1);
}

void a_call(const Mechanism& mechanism) {
    const Case subject = parse_case("call/" + mechanism.facts.name);
    const auto end = mechanism.attach({}, Attaching{subject, Role::caller});
    Samples room(4);
    const Counters seen = end->run(order(Phase::measure, 12, {StampKind::two_lengths, 2}), room);
    CHECK(seen.count == 12 && seen.samples == 4 && seen.elapsed_ticks > 0);
}

}  // namespace

void test_channels() {
    for (const Mechanism& mechanism : all_mechanisms()) {
        const Facts& facts = mechanism.facts;
        if (!facts.unavailable.empty()) {
            std::printf("not tested: %s: %s\n", facts.name.c_str(), facts.unavailable.c_str());
        } else if (facts.workload == Workload::call) {
            a_call(mechanism);
        } else {
            for (const std::size_t payload : {facts.payload->min, std::size_t{64}, std::size_t{1000}, facts.payload->max})
                round_trips(mechanism, payload);
            for (const Parameter& parameter : facts.parameters)
                for (const std::string& value : parameter.values)
                    round_trips(mechanism, 64, "&" + parameter.name + "=" + value);
        }
    }
}
