// `unix-seqpacket`: a pair of connected Unix sockets that keep message borders;
// send and recv.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism unix_seqpacket_mechanism() {
    Facts facts = on_descriptors("unix-seqpacket", "unix socket");
    facts.revision = 2;
    facts.about = "send and recv on a pair of Unix sequenced-packet sockets";
    facts.crosses = "one packet a message, in a socket buffer queued at the receiving socket";
    facts.wakes = "the kernel wakes the sleeping receiver from within send(2)";
    facts.between_stamps = "send, sleep in recv, be woken, recv returns; on the other side recv returns, send, recv";
    facts.limits = "1 byte (an empty packet cannot be told from end-of-file) to 64 KiB";
    facts.sources = {"unix(7)", "socketpair(2)", "send(2)", "recv(2)"};
    return {facts, [](const Opening&) { return halves(unix_seqpacket_pair()); }, attach_channel<Packets>, {}};
}
