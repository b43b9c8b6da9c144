// `pipe`: two pipes, one per direction; read and write.
#include "ends.hpp"
#include "registry.hpp"
#include "sockets.hpp"
#include "transport.hpp"

Mechanism pipe_mechanism() {
    Facts facts = on_descriptors("pipe", "pipe");
    facts.revision = 2;
    facts.about = "read and write on two pipes, one per direction";
    facts.crosses = "the message's bytes, through a kernel buffer of 64 KiB per direction";
    facts.copies = "the kernel, twice a message: from the sender into the pipe's pages, from there to the receiver";
    facts.wakes = "the kernel wakes the sleeping reader from within write(2)";
    facts.between_stamps = "write, sleep in read, be woken, read returns; on the other side read returns, write, read";
    facts.limits = "1 byte to 64 KiB";
    facts.sources = {"pipe(2)", "pipe(7)", "read(2)", "write(2)"};
    return {facts, [](const Opening&) { return pipes(); }, attach_channel<Stream>, {}};
}
