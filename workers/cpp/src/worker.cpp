#include "worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "describe.hpp"
#include "failure.hpp"
#include "lines.hpp"
#include "registry.hpp"
#include "stamp_cost.hpp"

using Json = nlohmann::ordered_json;

namespace {

Role parse_role(const std::string& word) {
    if (word == "caller") return Role::caller;
    if (word == "callee") return Role::callee;
    throw Failure("`" + word + "` is no role");
}

const char* word(Role role) { return role == Role::caller ? "caller" : "callee"; }

Phase parse_phase(const std::string& word) {
    if (word == "pilot") return Phase::pilot;
    if (word == "warm-up") return Phase::warm_up;
    if (word == "measure") return Phase::measure;
    if (word == "count") return Phase::count;
    throw Failure("`" + word + "` is no phase");
}

Stamp parse_stamp(const Json& stamp) {
    const auto kind = stamp.at("kind").get<std::string>();
    if (kind == "each") return {};
    const auto n = stamp.at("n").get<std::uint64_t>();
    if (n == 0 || n > UINT32_MAX) throw Failure("a batch cannot have " + std::to_string(n) + " operations");
    if (kind == "batch") return {StampKind::batch, n};
    if (kind == "two-lengths") return {StampKind::two_lengths, n};
    throw Failure("`" + kind + "` is no way to stamp");
}

Order parse_order(const Json& command) {
    Order order;
    order.phase = parse_phase(command.at("phase").get<std::string>());
    order.count = command.at("count").get<std::uint64_t>();
    order.stamp = parse_stamp(command.at("stamp"));
    if (order.count == 0 || order.count % order.step() != 0)
        throw Failure("the count " + std::to_string(order.count) + " is no multiple of " + std::to_string(order.step()));
    return order;
}

// How many descriptors an end of this mechanism is given.
std::size_t descriptors_of(const std::string& mechanism) { return mechanism == "pipe" ? 2 : 1; }

Half inherited(const Facts& facts, const Json& link) {
    if (facts.link != LinkSource::descriptors) throw Failure(facts.name + " makes its link itself and plays both ends");
    const auto numbers = link.value("fds", std::vector<int>{});
    const std::size_t wanted = descriptors_of(facts.name);
    if (numbers.size() != wanted)
        throw Failure(facts.name + " takes " + std::to_string(wanted) + " inherited descriptors, not " +
                      std::to_string(numbers.size()));
    Half half;
    for (const int fd : numbers) half.descriptors.push_back(adopt(fd));
    return half;
}

Json end_of(const Seat& seat, const Counters& counters) {
    Json end = {{"role", word(seat.role())},
                {"count", counters.count},
                {"samples", seat.samples().empty() ? 0 : counters.samples},
                {"max_ticks", counters.max_ticks},
                {"elapsed_ticks", counters.elapsed_ticks}};
    if (counters.lost > 0) end["lost"] = counters.lost;
    return end;
}

struct Part {
    Role role;
    Half half;
};

// What each seat gets: its inherited half, half of a link made here, or, for a
// call, nothing.
std::vector<Part> parts_of(const Json& command, const Case& subject, const Mechanism& mechanism) {
    std::vector<Part> parts;
    bool has_links = true;
    for (const Json& seat : command.at("seats")) {
        Part part{parse_role(seat.at("role").get<std::string>()), {}};
        const std::string wait = subject.wait_of(part.role);
        if (mechanism.facts.workload == Workload::roundtrip && wait != "block")
            throw Failure(subject.mechanism + " waits by `block` alone, not by `" + wait + "`");
        if (seat.contains("link") && !seat["link"].is_null())
            part.half = inherited(mechanism.facts, seat["link"]);
        else
            has_links = false;
        parts.push_back(std::move(part));
    }
    if (parts.empty() || parts.size() > 2) throw Failure("a worker plays one end or both");
    if (mechanism.facts.workload == Workload::call) {
        if (parts.size() != 1 || parts[0].role != Role::caller) throw Failure("a call has one end, the caller");
        return parts;
    }
    if (has_links) return parts;
    if (parts.size() != 2 || parts[0].role != Role::caller || parts[1].role != Role::callee ||
        subject.value("boundary", "") != word(Boundary::thread))
        throw Failure("without a link this worker plays both ends, the caller first, as threads of one process");
    Link link = mechanism.open({subject, command.value("scratch", "")});
    parts[0].half = std::move(link.caller);
    parts[1].half = std::move(link.callee);
    return parts;
}

}  // namespace

Json Worker::attach(const Json& command) {
    if (!seats_.empty()) throw Failure("this worker has attached already");
    const Case subject = parse_case(command.at("case").get<std::string>());
    const Mechanism& mechanism = mechanism_of(subject);
    if (command.contains("samples_fd") && !command["samples_fd"].is_null())
        samples_ = adopt(command["samples_fd"].get<int>());
    is_call_ = mechanism.facts.workload == Workload::call;
    for (Part& part : parts_of(command, subject, mechanism)) {
        // Shared, because a std::function has to be copyable.
        auto half = std::make_shared<Half>(std::move(part.half));
        auto attach_end = [subject, half, role = part.role, &mechanism] {
            return mechanism.attach(std::move(*half), Attaching{subject, role});
        };
        if (seats_.empty())
            seats_.push_back(std::make_unique<MainSeat>(part.role, std::move(attach_end)));
        else
            seats_.push_back(std::make_unique<ThreadSeat>(part.role, std::move(attach_end)));
    }
    Json seats = Json::array();
    // The main thread's first: it attaches here, while the other one does on its own.
    for (const auto& seat : seats_) {
        seat->attached();
        seats.push_back({{"role", word(seat->role())}, {"tid", seat->tid()}});
    }
    return {{"is", "attached"}, {"pid", getpid()}, {"seats", seats}};
}

Json Worker::run(const Json& command) {
    if (seats_.empty()) throw Failure("there is nothing to run before `attach`");
    const Order order = parse_order(command);
    if (order.stamp.kind == StampKind::two_lengths && !is_call_) throw Failure("two lengths are for calls alone");
    for (const auto& seat : seats_) seat->prepare(order);
    // The main thread's last: it plays its end here.
    for (auto seat = seats_.rbegin(); seat != seats_.rend(); ++seat) (*seat)->begin(order);
    Json ends = Json::array();
    for (const auto& seat : seats_) {
        const Counters counters = seat->finish();
        const Samples& samples = seat->samples();
        if (!samples.empty()) {
            if (!samples_.is_open()) throw Failure("`attach` named no descriptor for samples");
            write_all(samples_.get(), samples.data(), counters.samples * sizeof samples[0]);
        }
        ends.push_back(end_of(*seat, counters));
    }
    return {{"is", "ran"}, {"ends", ends}};
}

namespace {

Json clock_reading(const Json& command) {
    const auto cpu = command.at("cpu").get<unsigned>();
    const StampCost cost = stamp_cost(cpu);
    return {{"is", "clock"},
            {"cpu", cpu},
            {"runtime", "cpp"},
            {"source", "CLOCK_MONOTONIC"},
            {"ticks_per_second", 1e9},
            {"stamp_min_ns", cost.min_ns},
            {"stamp_p50_ns", cost.p50_ns},
            {"stamp_p99_ns", cost.p99_ns}};
}

}  // namespace

std::string Worker::answer(const std::string& line) {
    const Json command = Json::parse(line);
    const auto wanted = command.at("do").get<std::string>();
    const auto reply = [&]() -> Json {
        if (wanted == "describe") return describe();
        if (wanted == "attach") return attach(command);
        if (wanted == "run") return run(command);
        if (wanted == "clock") return clock_reading(command);
        if (wanted == "stop") return {{"is", "stopped"}};
        if (wanted == "meet") throw Failure("no end of this worker offers an address");
        throw Failure("the C++ worker knows no command `" + wanted + "`");
    };
    std::string text = reply().dump();
    has_stopped_ = wanted == "stop";
    return text;
}
