// The commands of the protocol (workers/PROTOCOL.md) and their replies.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "mechanism.hpp"

using Json = nlohmann::ordered_json;

// Writes a line to standard output.
void say(const Json& reply);

// Answers `failed` and ends the process with exit code 1, whichever thread calls
// it; only the first call says anything.
[[noreturn]] void give_up(const std::exception& error);

// A thread that does what it is given, as long as the process lives.
class Player {
public:
    Player();
    void start(std::function<void()> task);
    // Waits until the last task is done.
    void wait();

private:
    [[noreturn]] void play();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> task_;
};

// An end and who plays it.
struct Seat {
    Role role = Role::caller;
    // None of the first seat, which is the main thread's.
    std::unique_ptr<Player> player;
    pid_t tid = 0;
    End end;
    Samples room;
    Counters counters;
};

class Worker {
public:
    // The reply to a command; throws where there is none but `failed`.
    [[nodiscard]] Json answer(const Json& command);

private:
    Json attach(const Json& command);
    Json run(const Json& command);
    // Has every seat do something, and waits for all.
    template <class Task>
    void each_seat(const Task& task);

    std::deque<Seat> seats_;
    std::FILE* samples_ = nullptr;
    bool is_load_ = false;
    int schedule_ = -1;
};
