// The timed loops behind one virtual call a phase.
#pragma once

#include <memory>
#include <utility>

#include "calls.hpp"
#include "clock.hpp"
#include "mechanism.hpp"
#include "roundtrip.hpp"

template <class Channel>
class CallerEnd final : public End {
public:
    CallerEnd(Half half, const Attaching& attaching) : channel_(std::move(half), attaching) {}
    Counters run(const Order& order, Samples& room) override {
        return roundtrip::caller<SteadyClock>(channel_, next_, order, room);
    }
    bool stamps() const override { return true; }

private:
    Channel channel_;
    std::uint64_t next_ = 1;
};

template <class Channel>
class CalleeEnd final : public End {
public:
    CalleeEnd(Half half, const Attaching& attaching) : channel_(std::move(half), attaching) {}
    Counters run(const Order& order, Samples&) override {
        return roundtrip::callee(channel_, next_, order);
    }
    bool stamps() const override { return false; }

private:
    Channel channel_;
    std::uint64_t next_ = 1;
};

// Attaches an end of a round trip; the two ends' channels may be of two types.
template <class CallerChannel, class CalleeChannel = CallerChannel>
std::unique_ptr<End> attach_channel(Half half, const Attaching& attaching) {
    if (attaching.role == Role::caller)
        return std::make_unique<CallerEnd<CallerChannel>>(std::move(half), attaching);
    return std::make_unique<CalleeEnd<CalleeChannel>>(std::move(half), attaching);
}

template <class Operation>
class CallEnd final : public End {
public:
    explicit CallEnd(const Attaching& attaching) : operation_(attaching.subject) {}
    Counters run(const Order& order, Samples& room) override {
        return calls::run<SteadyClock>(operation_, order, room);
    }
    bool stamps() const override { return true; }

private:
    Operation operation_;
};

template <class Operation>
std::unique_ptr<End> attach_call(Half, const Attaching& attaching) {
    return std::make_unique<CallEnd<Operation>>(attaching);
}
