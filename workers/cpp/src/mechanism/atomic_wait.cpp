// `atomic-wait`: for each direction a std::atomic<int> that holds the number of
// the last message, waited for with std::atomic::wait. Compiled as C++20.
#include <algorithm>
#include <atomic>

#include "buffer.hpp"
#include "ends.hpp"
#include "messages.hpp"
#include "registry.hpp"

namespace {

// One direction, on cache lines of its own; int is the type for which libstdc++ waits on the atomic itself.
struct alignas(2 * cache_line) Way {
    explicit Way(std::size_t payload) : buffer(payload) {}
    std::atomic<int> sent{0};
    // Touched by one end at a time: by the sender before it stores the number, by
    // the receiver after it has seen it.
    Buffer buffer;
};

struct Meeting {
    explicit Meeting(std::size_t payload) : request(payload), reply(payload) {}
    Way request;
    Way reply;
};

class AtomicWait {
public:
    static constexpr bool loses = false;

    AtomicWait(Half half, const Attaching& attaching)
        : meeting_(std::static_pointer_cast<Meeting>(half.shared)),
          outgoing_(attaching.role == Role::caller ? meeting_->request : meeting_->reply),
          incoming_(attaching.role == Role::caller ? meeting_->reply : meeting_->request),
          messages_(attaching.subject.payload()) {}

    void send(std::uint64_t sequence) {
        std::copy_n(messages_.at(sequence), messages_.payload(), outgoing_.buffer.data());
        outgoing_.sent.store(static_cast<int>(sequence), std::memory_order_release);
        outgoing_.sent.notify_one();
    }

    void receive(std::uint64_t sequence) {
        incoming_.sent.wait(last_, std::memory_order_acquire);
        last_ = static_cast<int>(sequence);
        if (incoming_.sent.load(std::memory_order_acquire) != last_)
            throw Failure("message " + std::to_string(sequence) + " was expected, and another came");
        messages_.expect(sequence, incoming_.buffer.data(), incoming_.buffer.size());
    }

private:
    std::shared_ptr<Meeting> meeting_;
    Way& outgoing_;
    Way& incoming_;
    Messages messages_;
    int last_ = 0;
};

}  // namespace

Mechanism atomic_wait_mechanism() {
    return {atomic_wait_facts(),
            [](const Opening& opening) {
                auto meeting = std::make_shared<Meeting>(opening.subject.payload());
                return Link{{{}, meeting}, {{}, meeting}};
            },
            attach_channel<AtomicWait>,
            {}};
}
