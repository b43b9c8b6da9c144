// What is said of the two WebSocket libraries, apart from them because either may
// not be installed.
#include "registry.hpp"

namespace {

Facts common(std::string name) {
    Facts facts = on_descriptors(std::move(name), "websocket");
    facts.revision = 2;
    facts.payload = PayloadRange{0, 65'536, 64};
    facts.crosses =
        "one frame a message: a header of 2, 4 or 10 bytes, from the client 4 bytes of mask, the message; as TCP "
        "segments through the loopback device; no compression";
    return facts;
}

}  // namespace

Facts websocketpp_facts() {
    Facts facts = common("websocket");
    facts.about = "WebSocket messages over loopback TCP (WebSocket++ on standalone Asio), in the calling thread";
    facts.copies =
        "four times a message: the library into the outgoing message (the client masks it there), the kernel in and "
        "out, and the library from its read buffer into a new message (unmasked there)";
    facts.wakes =
        "the kernel, out of epoll_wait: the io_context is run by the end's own thread, one handler at a time, until "
        "the message has been written or has come; of the three epoll_wait a message, two only look; there is no hidden "
        "thread";
    facts.between_stamps =
        "frame, mask (client), post the write, run it and its completion; a try to read that finds nothing, epoll_wait, "
        "read, parse, unmask (server), the message's handler; the same on the other side; the handshakes are over "
        "before; messages, handlers and Asio's operations are allocated anew";
    facts.limits =
        "0 bytes to 64 KiB; the library's default configuration (with mutexes and a strand, as for several threads), "
        "logging off, TCP_NODELAY on; the connection ends without a closing handshake";
    facts.sources = {"RFC 6455", "https://docs.websocketpp.org", "https://think-async.com/Asio"};
    facts.system_calls = CountRange{9, 12.5};
    return facts;
}

Facts websocketpp_threaded_facts() {
    Facts facts = websocketpp_facts();
    facts.name = "websocket-threaded";
    facts.revision = 1;
    facts.peers = Peers::own;
    facts.about = "WebSocket messages over loopback TCP (WebSocket++ on standalone Asio), with a thread for the library";
    facts.parameters = {
        {"answer", {"thread", "handler"}, "thread",
         "who answers at the server: a thread that the library's thread wakes (6 hand-offs a round trip), or the library's "
         "thread itself, in its message handler (4)"}};
    facts.wakes =
        "the end's own thread wakes the library's out of epoll_wait by Asio's eventfd, the kernel wakes the library's at the "
        "other end, and that one wakes its end's own thread by a condition variable: six wake-ups a round trip; with "
        "answer=handler four";
    facts.between_stamps =
        "frame, mask (client), post the write, wake the library's thread, be scheduled, write; at the other end "
        "epoll_wait, read, parse, unmask (server), the message's handler, wake by a condition variable, be scheduled; and "
        "all of it back; with answer=handler the server parses, answers and writes in one thread";
    facts.limits =
        "0 bytes to 64 KiB; a worker has one thread more than seats for each end it holds (with answer=handler for the "
        "caller's alone), on the CPU of that end's seat where it is pinned; otherwise as `websocket`";
    facts.system_calls = CountRange{12, 30};
    return facts;
}

Facts beast_facts() {
    Facts facts = common("websocket-beast");
    facts.carrier = "websocket";
    facts.about = "WebSocket messages over loopback TCP (Boost.Beast, synchronous calls)";
    facts.copies =
        "the kernel twice a message; of the client the library too, into its write buffer of 4 KiB to mask it there (the "
        "server's message is written from where it lies); of the receiver the library from its read buffer of 1.5 KiB, "
        "but for what is longer, which is read to its place";
    facts.wakes = "the kernel: the softirq that the write raises delivers the segment and wakes the sleeping reader";
    facts.between_stamps =
        "frame, mask (client), sendmsg, sleep in recvmsg, be woken, parse, unmask (server); the same on the other side; "
        "the handshakes are over before";
    facts.limits =
        "0 bytes to 64 KiB, one frame a message; a client's message of over 4 KiB is masked and sent in parts of 4 KiB; "
        "masks come from a cryptographic generator (Beast's default), TCP_NODELAY on; the connection ends without a "
        "closing handshake";
    facts.sources = {"RFC 6455", "https://www.boost.org/libs/beast", "tcp(7)"};
    return facts;
}
