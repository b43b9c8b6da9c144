// `condvar`: the textbook ping-pong of two threads: one std::mutex, and for each
// direction a std::condition_variable, a predicate and a buffer. The signal is
// sent with the mutex held, as in most textbooks and programs.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "buffer.hpp"
#include "ends.hpp"
#include "messages.hpp"
#include "registry.hpp"

namespace {

// One direction, on cache lines of its own.
struct alignas(2 * cache_line) Way {
    explicit Way(std::size_t payload) : buffer(payload) {}
    std::condition_variable condition;
    // The mutex guards it.
    bool notified = false;
    // Touched by one end at a time: by the sender before it notifies, by the
    // receiver after that.
    Buffer buffer;
};

struct Meeting {
    explicit Meeting(std::size_t payload) : request(payload), reply(payload) {}
    std::mutex mutex;
    Way request;
    Way reply;
};

class Condvar {
public:
    static constexpr bool loses = false;

    Condvar(Half half, const Attaching& attaching)
        : meeting_(std::static_pointer_cast<Meeting>(half.shared)),
          outgoing_(attaching.role == Role::caller ? meeting_->request : meeting_->reply),
          incoming_(attaching.role == Role::caller ? meeting_->reply : meeting_->request),
          messages_(attaching.subject.payload()) {}

    void send(std::uint64_t sequence) {
        std::copy_n(messages_.at(sequence), messages_.payload(), outgoing_.buffer.data());
        const std::lock_guard lock(meeting_->mutex);
        outgoing_.notified = true;
        outgoing_.condition.notify_one();
    }

    void receive(std::uint64_t sequence) {
        {
            std::unique_lock lock(meeting_->mutex);
            incoming_.condition.wait(lock, [this] { return incoming_.notified; });
            incoming_.notified = false;
        }
        messages_.expect(sequence, incoming_.buffer.data(), incoming_.buffer.size());
    }

private:
    std::shared_ptr<Meeting> meeting_;
    Way& outgoing_;
    Way& incoming_;
    Messages messages_;
};

}  // namespace

Mechanism condvar_mechanism() {
    Facts facts;
    facts.name = "condvar";
    facts.family = "notifier";
    facts.revision = 3;
    facts.about = "one std::mutex and a std::condition_variable per direction";
    facts.boundaries = {Boundary::thread};
    facts.payload = PayloadRange{0, 65'536, 0};
    facts.crosses = "one predicate per direction in the process's memory (and, with a payload, a shared buffer)";
    facts.copies = "with a payload, each end copies its message into the shared buffer, and the other's is compared there; the kernel copies nothing";
    facts.wakes = "the notifying end, by a futex wake inside pthread_cond_signal, with the mutex held";
    facts.between_stamps = "copy, lock, set, notify, unlock; lock, wait, clear, unlock, compare; the same on the other side";
    facts.limits = "payload up to 64 KiB; libstdc++ adds next to nothing to the C library's mutex and condition variable";
    facts.sources = {"https://en.cppreference.com/w/cpp/thread/condition_variable", "pthread_cond_signal(3)", "futex(7)"};
    facts.system_calls = CountRange{0, 10};
    return {facts,
            [](const Opening& opening) {
                auto meeting = std::make_shared<Meeting>(opening.subject.payload());
                return Link{{{}, meeting}, {{}, meeting}};
            },
            attach_channel<Condvar>,
            {}};
}
