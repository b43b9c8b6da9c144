// `unix-dgram`: two Unix datagram sockets, connected to each other; send and recv.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism unix_dgram_mechanism() {
    Facts facts;
    facts.name = "unix-dgram";
    facts.family = "unix socket";
    facts.revision = 2;
    facts.about = "send and recv on two connected Unix datagram sockets";
    facts.boundaries = {Boundary::process, Boundary::thread};
    facts.payload = PayloadRange{0, 65'536, 64};
    facts.link = LinkSource::descriptors;
    facts.peers = Peers::any;
    facts.crosses = "one datagram a message, in a socket buffer queued at the receiving socket";
    facts.copies = "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver";
    facts.wakes = "the kernel wakes the sleeping receiver from within send(2)";
    facts.between_stamps = "send, sleep in recv, be woken, recv returns; on the other side recv returns, send, recv";
    facts.limits =
        "0 bytes to 64 KiB; a datagram socket has no end-of-file, so an end that waits for a dead partner is ended by "
        "its deadline (one that sends to it gets ECONNREFUSED)";
    facts.sources = {"unix(7)", "send(2)", "recv(2)"};
    facts.system_calls = CountRange{4, 4};
    return {facts, [](const Opening& opening) { return halves(unix_dgram_pair(opening.scratch)); },
            attach_channel<Packets>, {}};
}
