#include "registry.hpp"

#include <algorithm>

#include "failure.hpp"

namespace {

[[maybe_unused]] Mechanism unavailable(Facts facts, const std::string& reason) {
    facts.unavailable = reason;
    return {facts, nullptr, nullptr, {}};
}

[[maybe_unused]] constexpr const char* no_websocketpp =
    "WebSocket++ or Asio was not there when the worker was built: install libwebsocketpp-dev libasio-dev and build again";

std::vector<Mechanism> make_all() {
    std::vector<Mechanism> all{
        mutex_uncontended_mechanism(),
        udp_send_mechanism(),
        thread_start_mechanism(),
        condvar_mechanism(),
#ifdef HAS_ATOMIC_WAIT
        atomic_wait_mechanism(),
#else
        unavailable(atomic_wait_facts(), "the compiler's library has no std::atomic::wait: install g++ 11 or later"),
#endif
        pipe_mechanism(),
        unix_stream_mechanism(),
        unix_dgram_mechanism(),
        unix_seqpacket_mechanism(),
        tcp_mechanism(),
        udp_mechanism(),
#ifdef HAS_WEBSOCKETPP
        websocketpp_mechanism(),
        websocketpp_threaded_mechanism(),
#else
        unavailable(websocketpp_facts(), no_websocketpp),
        unavailable(websocketpp_threaded_facts(), no_websocketpp),
#endif
#ifdef HAS_BEAST
        beast_mechanism(),
#else
        unavailable(beast_facts(),
                    "Boost.Beast was not there when the worker was built: install libboost-dev and build again"),
#endif
    };
    return all;
}

void check_boundary(const Facts& facts, const Case& subject) {
    const std::string boundary = subject.value("boundary", "");
    const bool crosses = std::any_of(facts.boundaries.begin(), facts.boundaries.end(),
                                     [&](Boundary each) { return boundary == word(each); });
    if (!crosses) throw Failure(facts.name + " does not cross the boundary `" + boundary + "`");
}

}  // namespace

const std::vector<Mechanism>& all_mechanisms() {
    static const std::vector<Mechanism> all = make_all();
    return all;
}

const Mechanism& mechanism_of(const Case& subject) {
    const auto& all = all_mechanisms();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Mechanism& mechanism) {
        return mechanism.facts.name == subject.mechanism;
    });
    if (found == all.end()) throw Failure("there is no mechanism `" + subject.mechanism + "` in C++");
    const Facts& facts = found->facts;
    if (!facts.unavailable.empty()) throw Failure(facts.name + ": " + facts.unavailable);
    if (subject.workload != word(facts.workload))
        throw Failure(facts.name + " is no mechanism of the workload `" + subject.workload + "`");
    const std::size_t payload = subject.payload();
    const auto range = facts.payload.value_or(PayloadRange{0, 0, 0});
    if (payload < range.min || payload > range.max)
        throw Failure(facts.name + " has no payload of " + std::to_string(payload) + " bytes");
    if (facts.workload == Workload::roundtrip) check_boundary(facts, subject);
    return *found;
}

Facts on_descriptors(std::string name, std::string family) {
    Facts facts;
    facts.name = std::move(name);
    facts.family = std::move(family);
    facts.boundaries = {Boundary::process, Boundary::thread};
    facts.payload = PayloadRange{1, 65'536, 64};
    facts.link = LinkSource::descriptors;
    facts.peers = Peers::any;
    facts.copies = "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver";
    facts.system_calls = CountRange{4, 4};
    return facts;
}

const char* word(Workload workload) { return workload == Workload::call ? "call" : "roundtrip"; }

const char* word(Boundary boundary) { return boundary == Boundary::thread ? "thread" : "process"; }
