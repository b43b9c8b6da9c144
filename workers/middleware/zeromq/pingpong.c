/* ZeroMQ by hand, without hopcost and its protocol, in the style of libzmq's local_lat and remote_lat: p50 of the
 * round trip in nanoseconds (benches/workers_against_native.py). Both ends run on the CPU of the first argument,
 * and write and compare each message. */
#include "pingpong.h"
#include <zmq.h>

static void *end;

static void fail(const char *what) { fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno())), exit(1); }
static void put(void) {
    if (zmq_send(end, messages + number++ % contents * size, size, 0) < 0) fail("zmq_send");
}
static void take(void) {
    int came = zmq_recv(end, got, size + 1, 0);
    if (came != (int)size || memcmp(got, messages + number++ % contents * size, size)) fail("zmq_recv");
}
static void listen_at(const char *address) {
    end = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
    if (zmq_bind(end, address)) fail(address);
}
static void connect_to(const char *address) {
    end = zmq_socket(zmq_ctx_new(), ZMQ_PAIR);
    if (zmq_connect(end, address)) fail(address);
}
