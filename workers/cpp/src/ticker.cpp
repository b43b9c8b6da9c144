#include "ticker.hpp"

#include <csignal>
#include <unistd.h>

#include "failure.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace {

// One for the process: a worker plays at most one caller.
std::atomic<unsigned> periods{0};
static_assert(std::atomic<unsigned>::is_always_lock_free, "the handler may only touch what cannot block");

void count(int) { periods.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

Ticker::Ticker(std::chrono::nanoseconds period) {
    const int signal_number = SIGRTMIN + 3;
    struct sigaction action {};
    // Without SA_RESTART, so that a receive that sleeps returns EINTR.
    action.sa_handler = count;
    if (sigaction(signal_number, &action, nullptr) < 0) throw system_failure("sigaction");
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_number;
    event.sigev_notify_thread_id = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) < 0) throw system_failure("timer_create");
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
    itimerspec times{};
    times.it_interval.tv_sec = seconds.count();
    times.it_interval.tv_nsec = (period - seconds).count();
    times.it_value = times.it_interval;
    if (timer_settime(timer_, 0, &times, nullptr) < 0) throw system_failure("timer_settime");
}

Ticker::~Ticker() { timer_delete(timer_); }

unsigned Ticker::ticks() const { return periods.load(std::memory_order_relaxed); }
