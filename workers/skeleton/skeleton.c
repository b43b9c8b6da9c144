/* A complete worker (workers/PROTOCOL.md) to copy: one mechanism, `pipe`, by read(2) and write(2).
 * Replace exchange() by your library, MECHANISM by its facts, and run `hopcost worker check` on it. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define MECHANISM "{\"name\":\"pipe\",\"boundaries\":[\"process\"],\"payload\":{\"min\":1,\"max\":4096,\"default\":64}}"
static char line[256 * 1024];
static unsigned char messages[16 * 1024], got[4096]; /* up to PIPE_BUF a message never comes in parts */
static uint64_t size, contents = 256, number = 1, ticks[1 << 20]; /* number: of the next message, through all phases */
static int caller, in = -1, out = -1, samples_fd;
static struct timespec t;
static void fail(const char *reason) { printf("{\"is\":\"failed\",\"reason\":\"%s\"}\n", reason), exit(1); }
/* No JSON parser: hopcost's lines have no blanks and are regular enough to look for parts. */
static const char *after(const char *part) { return strstr(line, part) ? strstr(line, part) + strlen(part) : ""; }
static uint64_t now(void) { return clock_gettime(CLOCK_MONOTONIC, &t), (uint64_t)(t.tv_sec * 1000000000ll + t.tv_nsec); }
static void exchange(void) { /* the caller writes first, the callee second; every byte is compared */
    for (int step = 0; step < 2; step++, number++) {
        unsigned char *own = messages + number % contents * size, writes = step == (caller ? 0 : 1);
        if ((writes ? write(out, own, size) : read(in, got, size)) != (ssize_t)size) fail("the other end is gone");
        if (!writes && memcmp(got, own, size)) fail("a message did not arrive as it was sent");
    }
}
static void attach(void) {
    if (!*after("\"mechanism\":\"pipe\"")) fail("there is no such mechanism");
    in = atoi(after("\"fds\":[")), out = atoi(strchr(after("\"fds\":["), ',') + 1); /* incoming, outgoing */
    size = atoll(after("\"payload\":")), samples_fd = atoi(after("\"samples_fd\":")), caller = !!*after("\"role\":\"caller\"");
    while (contents > 4 && contents * size > sizeof messages) contents /= 2;
    for (uint64_t i = 0; i < contents * size; i++) /* all messages beforehand: little-endian words that count up */
        messages[i] = (unsigned char)((i / size * 0x9E3779B97F4A7C15u + i % size / 8) >> (i % size % 8 * 8));
    memset(ticks, 1, sizeof ticks); /* so that no page of it is touched first in the loop; and there is one thread: */
    printf("{\"is\":\"attached\",\"pid\":%d,\"seats\":[{\"role\":\"%s\",\"tid\":%d}]}\n", getpid(), caller ? "caller" : "callee", getpid());
}
static void run(void) {
    uint64_t count = atoll(after("\"count\":")), n = *after("\"batch\"") ? atoll(after("\"n\":")) : 1, most = 0, sum = 0;
    uint64_t samples = caller && *after("\"measure\"") ? count / n : 0;
    if (samples > sizeof ticks / 8) fail("there is no room for so many samples");
    exchange(), exchange(); /* the lead-in: neither stamped nor counted */
    for (uint64_t i = 0, then, before = now(); i < count / n; i++, before = then) {
        for (uint64_t j = 0; j < n; j++) exchange();
        ticks[i % (1 << 20)] = (then = now()) - before;
        sum += then - before, most = then - before > most ? then - before : most;
    }
    if (write(samples_fd, ticks, samples * 8) < 0 && samples) fail("the samples could not be written"); /* first */
    printf("{\"is\":\"ran\",\"ends\":[{\"role\":\"%s\",\"count\":%ju,\"samples\":%ju,\"max_ticks\":%ju,\"elapsed_ticks\":%ju}]}\n",
           caller ? "caller" : "callee", (uintmax_t)count, (uintmax_t)samples, (uintmax_t)most, (uintmax_t)sum);
}
int main(void) {
    signal(SIGPIPE, SIG_IGN), setvbuf(stdout, NULL, _IOLBF, 0); /* a dead partner is to be an error of write */
    while (fgets(line, sizeof line, stdin) && !*after("\"do\":\"stop\"")) {
        if (*after("\"do\":\"describe\"")) puts("{\"is\":\"described\",\"protocol\":3,\"runtime\":\"c-skeleton\",\"mechanisms\":[" MECHANISM "]}");
        else if (*after("\"do\":\"attach\"")) attach();
        else if (*after("\"do\":\"run\"")) run();
        else fail("this command is not known here");
    }
    if (!feof(stdin)) puts("{\"is\":\"stopped\"}");
}
