/* NNG by hand, without hopcost and its protocol, in the style of nng's local_lat and remote_lat: p50 of the
 * round trip in nanoseconds (benches/workers_against_native.py). Both ends run on the CPU of the first argument,
 * and write and compare each message. */
#include "pingpong.h"
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>

static nng_socket end;

static void check(const char *what, int error) {
    if (error) fprintf(stderr, "%s: %s\n", what, nng_strerror(error)), exit(1);
}
static void put(void) {
    check("nng_send", nng_send(end, messages + number++ % contents * size, size, 0));
}
static void take(void) {
    size_t came = size + 1;
    check("nng_recv", nng_recv(end, got, &came, 0));
    if (came != size || memcmp(got, messages + number++ % contents * size, size)) check("a message", NNG_EPROTO);
}
static void listen_at(const char *address) {
    check("nng_pair0_open", nng_pair0_open(&end));
    check(address, nng_listen(end, address, NULL, 0));
}
static void connect_to(const char *address) {
    check("nng_pair0_open", nng_pair0_open(&end));
    for (int error; (error = nng_dial(end, address, NULL, 0));) /* until it listens */
        if (error != NNG_ECONNREFUSED) check(address, error);
}
