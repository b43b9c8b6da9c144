// `unix-seqpacket`: a pair of connected Unix sockets that keep message borders;
// send and recv.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism unix_seqpacket_mechanism() {
    Facts facts;
    facts.name = "unix-seqpacket";
    facts.family = "unix socket";
    facts.revision = 2;
    facts.about = "send and recv on a pair of Unix sequenced-packet sockets";
    facts.boundaries = {Boundary::process, Boundary::thread};
    facts.payload = PayloadRange{1, 65'536, 64};
    facts.link = LinkSource::descriptors;
    facts.peers = Peers::any;
    facts.crosses = "one packet a message, in a socket buffer queued at the receiving socket";
    facts.copies = "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver";
    facts.wakes = "the kernel wakes the sleeping receiver from within send(2)";
    facts.between_stamps = "send, sleep in recv, be woken, recv returns; on the other side recv returns, send, recv";
    facts.limits = "1 byte (an empty packet cannot be told from end-of-file) to 64 KiB";
    facts.sources = {"unix(7)", "socketpair(2)", "send(2)", "recv(2)"};
    facts.system_calls = CountRange{4, 4};
    return {facts, [](const Opening&) { return halves(unix_seqpacket_pair()); }, attach_channel<Packets>, {}};
}
