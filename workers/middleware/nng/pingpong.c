/* NNG by hand, without hopcost and its protocol, in the style of nng's local_lat and remote_lat: p50 of the
 * round trip in nanoseconds (benches/workers_against_native.py). Both ends run on the CPU of the first argument,
 * and write and compare each message. */
#define _GNU_SOURCE
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static unsigned char *messages, *got;
static size_t size;
static uint64_t contents = 256, number = 1;

static void check(const char *what, int error) {
    if (error) fprintf(stderr, "%s: %s\n", what, nng_strerror(error)), exit(1);
}
static void put(nng_socket socket) {
    check("nng_send", nng_send(socket, messages + number++ % contents * size, size, 0));
}
static void take(nng_socket socket) {
    size_t came = size + 1;
    check("nng_recv", nng_recv(socket, got, &came, 0));
    if (came != size || memcmp(got, messages + number++ % contents * size, size)) check("a message", NNG_EPROTO);
}
static int by_size(const void *a, const void *b) {
    return (*(const uint64_t *)a > *(const uint64_t *)b) - (*(const uint64_t *)a < *(const uint64_t *)b);
}
static uint64_t now(void) {
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t), (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
int main(int argc, char **argv) {
    if (argc != 4 && argc != 5) return fprintf(stderr, "usage: pingpong CPU COUNT PAYLOAD\n"), 2;
    uint64_t count = strtoull(argv[2], NULL, 10), *ticks = malloc(count * 8);
    size = strtoull(argv[3], NULL, 10);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[1]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    while (contents > 4 && contents * size > 16 * 1024) contents /= 2;
    messages = malloc(contents * size), got = malloc(size + 1);
    for (uint64_t s = 0; s < contents; s++)
        for (uint64_t i = 0; i < size; i++)
            messages[s * size + i] = (unsigned char)((s * 0x9E3779B97F4A7C15u + i / 8) >> (i % 8 * 8));
    memset(ticks, 1, count * 8);
    char address[64];
    snprintf(address, sizeof address, "ipc:///tmp/pingpong-%d.nng", argc == 5 ? atoi(argv[4]) : getpid());
    nng_socket socket;
    check("nng_pair0_open", nng_pair0_open(&socket));
    if (argc == 5) { /* the other end, started anew as hopcost's ends are */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        check(address, nng_listen(socket, address, NULL, 0));
        for (;;) take(socket), put(socket);
    }
    char parent[16];
    snprintf(parent, sizeof parent, "%d", getpid());
    pid_t child = fork();
    if (child == 0) return execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], parent, NULL), 1;
    for (int error; (error = nng_dial(socket, address, NULL, 0));) /* until it listens */
        if (error != NNG_ECONNREFUSED) check(address, error);
    for (int i = 0; i < 2; i++) put(socket), take(socket);
    for (uint64_t i = 0, before = now(), then; i < count; i++, before = then) {
        put(socket), take(socket);
        ticks[i] = (then = now()) - before;
    }
    kill(child, SIGKILL), waitpid(child, NULL, 0), unlink(address + 6);
    qsort(ticks, count, 8, by_size);
    return printf("%ju\n", (uintmax_t)ticks[count / 2]), 0;
}
