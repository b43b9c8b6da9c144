// `tcp`: one TCP connection over the loopback interface; read and write.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism tcp_mechanism() {
    Facts facts = on_descriptors("tcp", "inet socket");
    facts.revision = 2;
    facts.about = "read and write on a TCP connection over loopback (127.0.0.1)";
    facts.parameters = {{"nodelay", {"on", "off"}, "on", "TCP_NODELAY at both ends"}};
    facts.crosses = "the message's bytes, as segments through the loopback device";
    facts.wakes = "the kernel: the softirq that the write raises delivers the segment and wakes the sleeping reader";
    facts.between_stamps =
        "write (with the whole way through the network stack), sleep in read, be woken, read returns; on the other "
        "side read returns, write, read";
    facts.limits = "1 byte to 64 KiB; a message longer than the send buffer is written and read in parts";
    facts.sources = {"tcp(7)", "ip(7)", "read(2)", "write(2)"};
    return {facts, [](const Opening&) { return halves(tcp_pair()); },
            [](Half half, const Attaching& attaching) {
                set_nodelay(half.descriptors.front(), attaching.subject);
                return attach_channel<Stream>(std::move(half), attaching);
            },
            {}};
}
