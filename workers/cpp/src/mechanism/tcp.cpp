// `tcp`: one TCP connection over the loopback interface; read and write.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism tcp_mechanism() {
    Facts facts;
    facts.name = "tcp";
    facts.family = "inet socket";
    facts.revision = 2;
    facts.about = "read and write on a TCP connection over loopback (127.0.0.1)";
    facts.boundaries = {Boundary::process, Boundary::thread};
    facts.payload = PayloadRange{1, 65'536, 64};
    facts.parameters = {{"nodelay", {"on", "off"}, "on", "TCP_NODELAY at both ends"}};
    facts.link = LinkSource::descriptors;
    facts.peers = Peers::any;
    facts.crosses = "the message's bytes, as segments through the loopback device";
    facts.copies = "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver";
    facts.wakes = "the kernel: the softirq that the write raises delivers the segment and wakes the sleeping reader";
    facts.between_stamps =
        "write (with the whole way through the network stack), sleep in read, be woken, read returns; on the other "
        "side read returns, write, read";
    facts.limits = "1 byte to 64 KiB; a message longer than the send buffer is written and read in parts";
    facts.sources = {"tcp(7)", "ip(7)", "read(2)", "write(2)"};
    facts.system_calls = CountRange{4, 4};
    return {facts, [](const Opening&) { return halves(tcp_pair()); },
            [](Half half, const Attaching& attaching) {
                set_nodelay(half.descriptors.front(), attaching.subject);
                return attach_channel<Stream>(std::move(half), attaching);
            },
            {}};
}
