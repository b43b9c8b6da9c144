// A mechanism: what is said of it, how its link is opened, how an end attaches.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "case.hpp"
#include "descriptor.hpp"
#include "order.hpp"

// What an end needs to reach the other: descriptors (of a pipe the incoming and
// the outgoing one, otherwise one socket), or memory that both threads share.
struct Half {
    std::vector<Descriptor> descriptors;
    std::shared_ptr<void> shared;
};

struct Link {
    Half caller;
    Half callee;
};

struct Opening {
    const Case& subject;
    // Where names may be made.
    std::string scratch;
};

struct Attaching {
    const Case& subject;
    Role role;
};

// An end of a link, or the one end of a call. It attaches and runs on one and
// the same thread.
class End {
public:
    End() = default;
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    virtual ~End() = default;
    virtual Counters run(const Order& order, Samples& room) = 0;
    // Whether its samples are kept.
    [[nodiscard]] virtual bool stamps() const = 0;
};

enum class Workload { call, roundtrip };
enum class Boundary { thread, process };
enum class LinkSource { own, descriptors };
enum class Peers { own, any };

struct PayloadRange {
    std::size_t min, max, standard;
};
struct CountRange {
    double min, max;
};
struct Parameter {
    std::string name;
    std::vector<std::string> values;
    std::string standard;
    std::string about;
};

// What `describe` says (workers/PROTOCOL.md).
struct Facts {
    std::string name;
    std::string family;
    std::string about;
    std::string unavailable;
    Workload workload = Workload::roundtrip;
    std::vector<Boundary> boundaries;
    std::optional<PayloadRange> payload;
    std::vector<Parameter> parameters;
    LinkSource link = LinkSource::own;
    std::string carrier;
    Peers peers = Peers::own;
    std::string crosses;
    std::string copies;
    std::string wakes;
    std::string between_stamps;
    std::string limits;
    std::vector<std::string> sources;
    std::optional<CountRange> system_calls;
    // Raised by one whenever a change of its code can move its numbers.
    unsigned revision = 1;
};

struct Mechanism {
    Facts facts;
    // Both halves of a link between two threads; of a call there is none.
    std::function<Link(const Opening&)> open;
    std::function<std::unique_ptr<End>(Half, const Attaching&)> attach;
    // What it is made of besides the language: name and version.
    std::vector<std::pair<std::string, std::string>> libraries;
};
