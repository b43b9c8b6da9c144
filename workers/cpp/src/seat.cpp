#include "seat.hpp"

#include <unistd.h>

#include <exception>

#include "lines.hpp"

void Seat::make_room(const End& end, const Order& order) {
    const bool keeps = end.stamps() && order.phase == Phase::measure;
    room_.assign(keeps ? order.samples() : 0, 0);
}

void MainSeat::attached() {
    end_ = attach_();
    tid_ = gettid();
}

ThreadSeat::ThreadSeat(Role role, Attach attach)
    : Seat(role), thread_([this, attach = std::move(attach)] { play(attach); }) {}

ThreadSeat::~ThreadSeat() {
    move_to(State::leaving);
    thread_.join();
}

void ThreadSeat::play(const Attach& attach) try {
    end_ = attach();
    tid_ = gettid();
    std::unique_lock lock(mutex_);
    if (state_ == State::attaching) state_ = State::idle;
    for (;;) {
        changed_.notify_all();
        changed_.wait(lock, [this] { return state_ == State::ordered || state_ == State::leaving; });
        if (state_ == State::leaving) break;
        lock.unlock();
        counters_ = end_->run(order_, room_);
        lock.lock();
        if (state_ == State::ordered) state_ = State::idle;
    }
    end_.reset();
} catch (const std::exception& error) {
    give_up(error);
}

void ThreadSeat::move_to(State state) {
    const std::lock_guard lock(mutex_);
    state_ = state;
    changed_.notify_all();
}

void ThreadSeat::wait_until_idle(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return state_ == State::idle; });
}

void ThreadSeat::attached() {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
}

void ThreadSeat::begin(const Order& order) {
    order_ = order;
    move_to(State::ordered);
}

Counters ThreadSeat::finish() {
    std::unique_lock lock(mutex_);
    wait_until_idle(lock);
    return counters_;
}
