#include "worker.hpp"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "failure.hpp"

namespace {

std::mutex speaking;

void write_line(const Json& reply) {
    std::cout << reply.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace

void say(const Json& reply) {
    const std::lock_guard lock(speaking);
    write_line(reply);
}

void give_up(const std::exception& error) {
    // Held for good: another thread that fails has nothing to add.
    speaking.lock();
    std::string reason = error.what();
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    Json failed = {{"is", "failed"}, {"reason", reason}};
    const auto failure = dynamic_cast<const Failure*>(&error);
    if (failure && failure->is_partner_gone) failed["cause"] = "partner-gone";
    write_line(failed);
    std::_Exit(1);
}

namespace {

// Whatever fails in a seat ends the process at once: the other end may be asleep waiting for it.
template <class Task>
void or_give_up(const Task& task) try {
    task();
} catch (const std::exception& error) {
    give_up(error);
}

}  // namespace

Player::Player() {
    std::thread([this] { play(); }).detach();
}

void Player::start(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    changed_.notify_all();
}

void Player::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !task_; });
}

void Player::play() {
    for (;;) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return task_ != nullptr; });
        lock.unlock();
        or_give_up(task_);
        lock.lock();
        task_ = nullptr;
        changed_.notify_all();
    }
}

namespace {

void append(std::vector<Mechanism>& all, const std::vector<Mechanism>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

[[maybe_unused]] Mechanism unavailable(const char* name, unsigned revision, const char* library, const char* packages) {
    return {name, revision, nullptr, nullptr, {},
            std::string(library) + " was not there when the worker was built: install " + packages + " and build again"};
}

// In the order of the documentation.
std::vector<Mechanism> make_all() {
    std::vector<Mechanism> all;
    append(all, call_mechanisms());
    append(all, hand_over_mechanisms());
    append(all, descriptor_mechanisms());
#ifdef HAS_WEBSOCKETPP
    append(all, websocketpp_mechanisms());
#else
    for (const auto& [name, revision] : {std::pair("websocket", 2), std::pair("websocket-threaded", 1)})
        all.push_back(unavailable(name, revision, "WebSocket++ or Asio", "libwebsocketpp-dev libasio-dev"));
#endif
#ifdef HAS_BEAST
    all.push_back(beast_mechanism());
#else
    all.push_back(unavailable("websocket-beast", 2, "Boost.Beast", "libboost-dev"));
#endif
    return all;
}

const std::vector<Mechanism>& mechanisms() {
    static const std::vector<Mechanism> all = make_all();
    return all;
}

const Mechanism& find(const std::string& name) {
    for (const Mechanism& mechanism : mechanisms()) {
        if (mechanism.name != name) continue;
        if (!mechanism.unavailable.empty()) throw Failure(name + ": " + mechanism.unavailable);
        return mechanism;
    }
    throw Failure("there is no mechanism `" + name + "` in C++");
}

Json libraries() {
#if defined(__clang__)
    const char* compiler = "Clang " __VERSION__;
#else
    const char* compiler = "GCC " __VERSION__;
#endif
    Json libraries = {{"cpp", compiler}, {"glibc", gnu_get_libc_version()}};
    const auto json = Json::meta();
    libraries["nlohmann-json"] = json["version"]["string"];
#ifdef _GLIBCXX_RELEASE
    libraries["libstdc++"] = std::to_string(_GLIBCXX_RELEASE);
#endif
    for (const Mechanism& mechanism : mechanisms())
        for (const auto& [name, version] : mechanism.libraries) libraries[name] = version;
    return libraries;
}

Json describe() {
    Json rows = Json::array();
    for (const Mechanism& mechanism : mechanisms()) {
        rows.push_back({{"name", mechanism.name}, {"revision", mechanism.revision}});
        if (!mechanism.unavailable.empty()) rows.back()["unavailable"] = mechanism.unavailable;
    }
    return {{"is", "described"},
            {"protocol", 3},
            {"runtime", "cpp"},
            {"version", WORKER_VERSION},
            {"libraries", libraries()},
            {"remarks",
             {"compiled ahead of time as C++20 (WebSocket++ as C++17), CMake build type " WORKER_BUILD,
              "the messages of a trial are made beforehand, at most 256 of them and 16 KiB, but four at least; one is "
              "sent from where it lies, and what arrives is compared as a whole"}},
            {"mechanisms", rows}};
}

// What a stamp costs. hopcost has confined this worker to the CPU.
Json stamp_cost(const Json& command) {
    std::vector<std::uint64_t> costs(10'000);
    for (auto& cost : costs) {
        const std::uint64_t before = SteadyClock::now();
        cost = SteadyClock::now() - before;
    }
    std::sort(costs.begin(), costs.end());
    return {{"is", "clock"},
            {"cpu", command.at("cpu")},
            {"runtime", "cpp"},
            {"source", "CLOCK_MONOTONIC"},
            {"ticks_per_second", 1e9},
            {"stamp_min_ns", costs.front()},
            {"stamp_p50_ns", costs[costs.size() / 2]},
            {"stamp_p99_ns", costs[costs.size() * 99 / 100]}};
}

Role role_of(const Json& seat) {
    const auto word = seat.at("role").get<std::string>();
    if (word != "caller" && word != "callee") throw Failure("`" + word + "` is no role");
    return word == "caller" ? Role::caller : Role::callee;
}

const char* word(Role role) { return role == Role::caller ? "caller" : "callee"; }

Order order_of(const Json& command) {
    const Json& stamp = command.at("stamp");
    Order order;
    order.count = command.at("count").get<std::uint64_t>();
    order.batch = stamp.value("n", std::uint64_t{1});
    order.has_two_lengths = stamp.at("kind") == "two-lengths";
    if (order.count == 0 || order.step() == 0 || order.count % order.step() != 0)
        throw Failure("the count " + std::to_string(order.count) + " is no multiple of " + std::to_string(order.step()));
    return order;
}

// When to send each message of a load's next phase.
std::vector<std::uint64_t> times(int fd, std::uint64_t count) {
    std::vector<std::uint64_t> all(count);
    const auto bytes = static_cast<ssize_t>(count * sizeof all[0]);
    if (pread(fd, all.data(), static_cast<std::size_t>(bytes), 0) != bytes) throw Failure("the schedule is too short");
    return all;
}

}  // namespace

template <class Task>
void Worker::each_seat(const Task& task) {
    // The main thread's last: it does its part here.
    for (auto seat = seats_.rbegin(); seat != seats_.rend(); ++seat) {
        if (seat->player)
            seat->player->start([&task, &seat = *seat] { task(seat); });
        else
            or_give_up([&] { task(*seat); });
    }
    for (Seat& seat : seats_)
        if (seat.player) seat.player->wait();
}

Json Worker::attach(const Json& command) {
    if (!seats_.empty()) throw Failure("this worker has attached already");
    const Mechanism& mechanism = find(command.at("mechanism").get<std::string>());
    const Subject subject{command.at("payload").get<std::size_t>(),
                          command.at("parameters").get<std::map<std::string, std::string>>(),
                          command.at("workload") == "load"};
    is_load_ = subject.is_load;
    schedule_ = command.value("schedule_fd", -1);
    if (const int fd = command.value("samples_fd", -1); fd >= 0) {
        samples_ = fdopen(fd, "wb");
        if (!samples_) throw system_failure("the descriptor of the samples");
    }
    Link own;
    for (const Json& seat : command.at("seats")) {
        const Role role = role_of(seat);
        Half& half = role == Role::caller ? own.caller : own.callee;
        if (seat.contains("link")) half.descriptors = seat["link"].at("fds").get<std::vector<int>>();
        seats_.emplace_back().role = role;
        if (seats_.size() > 1) seats_.back().player = std::make_unique<Player>();
    }
    if (mechanism.open && own.caller.descriptors.empty() && own.callee.descriptors.empty()) {
        if (seats_.size() != 2) throw Failure("without a link a worker plays both ends, the caller first");
        own = mechanism.open(subject);
    }
    each_seat([&](Seat& seat) {
        seat.end = mechanism.attach(seat.role == Role::caller ? own.caller : own.callee, subject, seat.role);
        seat.tid = gettid();
    });
    Json attached = Json::array();
    for (const Seat& seat : seats_) attached.push_back({{"role", word(seat.role)}, {"tid", seat.tid}});
    return {{"is", "attached"}, {"pid", getpid()}, {"seats", attached}};
}

Json Worker::run(const Json& command) {
    if (seats_.empty()) throw Failure("there is nothing to run before `attach`");
    Order order = order_of(command);
    order.is_alone = is_load_ && command.at("phase") == "pilot";
    if (schedule_ >= 0) order.times = times(schedule_, order.count);
    const bool keeps = order.is_alone || command.at("phase") == "measure";
    for (Seat& seat : seats_) {
        const bool stamps = seat.role == Role::caller || (is_load_ && !order.is_alone);
        seat.room.assign(keeps && stamps ? order.samples() : 0, 0);
    }
    each_seat([&](Seat& seat) { seat.counters = seat.end(order, seat.room); });
    Json ends = Json::array();
    for (const Seat& seat : seats_) {
        const Samples& samples = seat.room;
        if (!samples.empty()) {
            if (!samples_) throw Failure("`attach` named no descriptor for samples");
            if (std::fwrite(samples.data(), sizeof samples[0], samples.size(), samples_) != samples.size() ||
                std::fflush(samples_) != 0)
                throw system_failure("writing the samples");
        }
        ends.push_back({{"role", word(seat.role)},
                        {"count", seat.counters.count},
                        {"samples", samples.size()},
                        {"max_ticks", seat.counters.max_ticks},
                        {"elapsed_ticks", seat.counters.elapsed_ticks},
                        {"first_tick", seat.counters.first_tick},
                        {"overruns", seat.counters.overruns}});
    }
    return {{"is", "ran"}, {"ends", ends}};
}

Json Worker::answer(const Json& command) {
    const auto wanted = command.at("do").get<std::string>();
    if (wanted == "describe") return describe();
    if (wanted == "attach") return attach(command);
    if (wanted == "run") return run(command);
    if (wanted == "clock") return stamp_cost(command);
    if (wanted == "stop") return {{"is", "stopped"}};
    throw Failure("the C++ worker knows no command `" + wanted + "`");
}
