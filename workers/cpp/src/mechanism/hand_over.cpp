// Two threads that hand messages over in memory: for each direction a way, which has a
// buffer, a `notify` of its sender and a `wait` of its receiver.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "mechanism.hpp"
#include "messages.hpp"

namespace {

// `condvar`: the textbook ping-pong of two threads: one std::mutex, and for each
// direction a std::condition_variable and a predicate. The signal is sent with the
// mutex held, as in most textbooks and programs.
struct alignas(2 * cache_line) CondvarWay {
    using Common = std::mutex;

    CondvarWay(Common& common, std::size_t payload) : mutex(common), buffer(payload) {}

    void notify(std::uint64_t) {
        const std::lock_guard lock(mutex);
        is_notified = true;
        condition.notify_one();
    }
    void wait(std::uint64_t, std::uint64_t) {
        std::unique_lock lock(mutex);
        condition.wait(lock, [this] { return is_notified; });
        is_notified = false;
    }

    std::condition_variable condition;
    // The mutex guards it.
    bool is_notified = false;
    std::mutex& mutex;
    Buffer buffer;
};

// `atomic-wait`: for each direction a std::atomic<int> that holds the number of the last
// message; int is the type for which libstdc++ waits on the atomic itself.
struct alignas(2 * cache_line) AtomicWay {
    struct Common {};

    AtomicWay(Common&, std::size_t payload) : buffer(payload) {}

    void notify(std::uint64_t sequence) {
        sent.store(static_cast<int>(sequence), std::memory_order_release);
        sent.notify_one();
    }
    void wait(std::uint64_t last, std::uint64_t sequence) {
        sent.wait(static_cast<int>(last), std::memory_order_acquire);
        if (sent.load(std::memory_order_acquire) != static_cast<int>(sequence))
            throw Failure("message " + std::to_string(sequence) + " was expected, and another came");
    }

    std::atomic<int> sent{0};
    Buffer buffer;
};

template <class Way>
struct Meeting {
    explicit Meeting(std::size_t payload) : request(common, payload), reply(common, payload) {}
    typename Way::Common common;
    Way request;
    Way reply;
};

template <class Way>
class HandOver {
public:
    HandOver(const Half& half, const Subject& subject, Role role)
        : meeting_(std::static_pointer_cast<Meeting<Way>>(half.shared)),
          outgoing_(role == Role::caller ? meeting_->request : meeting_->reply),
          incoming_(role == Role::caller ? meeting_->reply : meeting_->request),
          messages_(subject.payload) {}

    // A buffer is touched by one end at a time: by the sender before it notifies, by the
    // receiver after that.
    void send(std::uint64_t sequence) {
        std::copy_n(messages_.at(sequence), messages_.payload(), outgoing_.buffer.data());
        outgoing_.notify(sequence);
    }

    void receive(std::uint64_t sequence) {
        incoming_.wait(last_, sequence);
        last_ = sequence;
        messages_.expect(sequence, incoming_.buffer.data(), incoming_.buffer.size());
    }

private:
    std::shared_ptr<Meeting<Way>> meeting_;
    Way& outgoing_;
    Way& incoming_;
    Messages messages_;
    std::uint64_t last_ = 0;
};

template <class Way>
Link open_meeting(const Subject& subject) {
    auto meeting = std::make_shared<Meeting<Way>>(subject.payload);
    return {{{}, meeting}, {{}, meeting}};
}

}  // namespace

std::vector<Mechanism> hand_over_mechanisms() {
    return {{"condvar", 3, attach_channel<HandOver<CondvarWay>>, open_meeting<CondvarWay>},
            {"atomic-wait", 3, attach_channel<HandOver<AtomicWay>>, open_meeting<AtomicWay>}};
}
