// `unix-dgram`: two Unix datagram sockets, connected to each other; send and recv.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism unix_dgram_mechanism() {
    Facts facts = on_descriptors("unix-dgram", "unix socket");
    facts.revision = 2;
    facts.about = "send and recv on two connected Unix datagram sockets";
    facts.payload = PayloadRange{0, 65'536, 64};
    facts.crosses = "one datagram a message, in a socket buffer queued at the receiving socket";
    facts.wakes = "the kernel wakes the sleeping receiver from within send(2)";
    facts.between_stamps = "send, sleep in recv, be woken, recv returns; on the other side recv returns, send, recv";
    facts.limits =
        "0 bytes to 64 KiB; a datagram socket has no end-of-file, so an end that waits for a dead partner is ended by "
        "its deadline (one that sends to it gets ECONNREFUSED)";
    facts.sources = {"unix(7)", "send(2)", "recv(2)"};
    return {facts, [](const Opening& opening) { return halves(unix_dgram_pair(opening.scratch)); },
            attach_channel<Packets>, {}};
}
