// A seat: an end and the thread that plays it. The first seat is the main thread,
// another has a thread of its own, which lives as long as the trial.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "mechanism.hpp"

class Seat {
public:
    using Attach = std::function<std::unique_ptr<End>()>;

    virtual ~Seat() = default;
    [[nodiscard]] Role role() const { return role_; }
    [[nodiscard]] pid_t tid() const { return tid_; }
    [[nodiscard]] const Samples& samples() const { return room_; }

    // Waits until it has attached.
    virtual void attached() = 0;
    // Makes room for the samples of a phase.
    virtual void prepare(const Order& order) = 0;
    // Begins a phase; the main thread plays it to its end here.
    virtual void begin(const Order& order) = 0;
    // Waits for the end of the phase.
    virtual Counters finish() = 0;

protected:
    explicit Seat(Role role) : role_(role) {}
    void make_room(const End& end, const Order& order);

    Role role_;
    pid_t tid_ = 0;
    Samples room_;
};

class MainSeat final : public Seat {
public:
    MainSeat(Role role, Attach attach) : Seat(role), attach_(std::move(attach)) {}
    void attached() override;
    void prepare(const Order& order) override { make_room(*end_, order); }
    void begin(const Order& order) override { counters_ = end_->run(order, room_); }
    Counters finish() override { return counters_; }

private:
    Attach attach_;
    std::unique_ptr<End> end_;
    Counters counters_;
};

// Whatever fails on its thread ends the process: the other end may be asleep
// waiting for it.
class ThreadSeat final : public Seat {
public:
    ThreadSeat(Role role, Attach attach);
    ThreadSeat(const ThreadSeat&) = delete;
    ThreadSeat& operator=(const ThreadSeat&) = delete;
    ~ThreadSeat() override;
    void attached() override;
    void prepare(const Order& order) override { make_room(*end_, order); }
    void begin(const Order& order) override;
    Counters finish() override;

private:
    enum class State { attaching, idle, ordered, leaving };

    void play(const Attach& attach);
    void move_to(State state);
    void wait_until_idle(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable changed_;
    State state_ = State::attaching;
    Order order_;
    Counters counters_;
    std::unique_ptr<End> end_;
    // Last, so that everything it touches is there when it starts.
    std::thread thread_;
};
