// A mechanism: how its link is opened, and how an end attaches. Its facts stand
// in worker.toml.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loops.hpp"

enum class Role { caller, callee };

// What of a case an end plays.
struct Subject {
    std::size_t payload = 0;
    std::map<std::string, std::string> parameters;
    bool is_load = false;
};

// What an end needs to reach the other: descriptors (of a pipe the incoming and
// the outgoing one, otherwise one socket), or memory that both threads share.
// Descriptors stay open as long as the process, which plays one trial.
struct Half {
    std::vector<int> descriptors;
    std::shared_ptr<void> shared;
};

struct Link {
    Half caller;
    Half callee;
};

// An end of a link, or the one end of a call: plays a phase behind one indirect call.
// It attaches and plays on one and the same thread.
using End = std::function<Counters(const Order& order, Samples& room)>;

struct Mechanism {
    std::string name;
    // Raised by one whenever a change of its code can move its numbers.
    unsigned revision;
    std::function<End(const Half&, const Subject&, Role)> attach;
    // Makes a link between two threads; a call has none.
    std::function<Link(const Subject&)> open;
    // What it is made of besides the language: name and version.
    std::vector<std::pair<std::string, std::string>> libraries = {};
    // Why it cannot be used here, if so.
    std::string unavailable = {};
};

// Attaches an end of a round trip; the two ends' channels may be of two types.
template <class CallerChannel, class CalleeChannel = CallerChannel>
End attach_channel(const Half& half, const Subject& subject, Role role) {
    if (role == Role::caller) {
        auto channel = std::make_shared<CallerChannel>(half, subject, role);
        return [channel, next = std::uint64_t{1}, loads = subject.is_load](const Order& order, Samples& room) mutable {
            return loads ? play_sender<SteadyClock>(*channel, next, order, room)
                         : play_caller<SteadyClock>(*channel, next, order, room);
        };
    }
    auto channel = std::make_shared<CalleeChannel>(half, subject, role);
    return [channel, next = std::uint64_t{1}, loads = subject.is_load](const Order& order, Samples& room) mutable {
        return loads ? play_receiver<SteadyClock>(*channel, next, order, room) : play_callee(*channel, next, order);
    };
}

template <class Operation>
End attach_call(const Half&, const Subject& subject, Role) {
    auto operation = std::make_shared<Operation>(subject);
    return [operation](const Order& order, Samples& room) {
        return play_calls<SteadyClock>(*operation, order, room);
    };
}

// The mechanisms, a function a file of mechanism/, in the order of the documentation.
std::vector<Mechanism> call_mechanisms();
std::vector<Mechanism> hand_over_mechanisms();
std::vector<Mechanism> descriptor_mechanisms();
std::vector<Mechanism> websocketpp_mechanisms();
Mechanism beast_mechanism();
