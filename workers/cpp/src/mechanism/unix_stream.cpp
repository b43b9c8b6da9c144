// `unix-stream`: a Unix stream socket that was connected by path; read and write.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism unix_stream_mechanism() {
    Facts facts = on_descriptors("unix-stream", "unix socket");
    facts.revision = 2;
    facts.about = "read and write on a Unix stream socket";
    facts.crosses = "the message's bytes, in socket buffers queued at the receiving socket";
    facts.wakes =
        "the kernel wakes the sleeping reader from within write(2), and a sleeping writer's socket when its partner "
        "has read and so made room";
    facts.between_stamps = "write, sleep in read, be woken, read returns; on the other side read returns, write, read";
    facts.limits = "1 byte to 64 KiB";
    facts.sources = {"unix(7)", "connect(2)", "accept(2)", "read(2)", "write(2)"};
    return {facts, [](const Opening& opening) { return halves(unix_stream_pair(opening.scratch)); },
            attach_channel<Stream>, {}};
}
