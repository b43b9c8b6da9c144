/* A complete worker (workers/PROTOCOL.md) to copy: one mechanism, `pipe`, by read(2) and write(2).
 * Replace exchange() by your library, DESCRIBED by its facts, and run `hopcost worker check` on it. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define DESCRIBED "{'is':'described','protocol':3,'runtime':'c-skeleton','version':'1','mechanisms':[{'name':'pipe'," \
    "'family':'pipe','about':'read and write on two pipes','workloads':['roundtrip'],'boundaries':['process']," \
    "'waits':['block'],'payload':{'min':1,'max':4096,'default':64},'link':'descriptors','peers':'any'}]}"
static char line[256 * 1024 + 2];
static unsigned char messages[16 * 1024], got[4096]; /* up to PIPE_BUF a message never comes in parts */
static uint64_t size, contents = 256, number = 1, ticks[1 << 20]; /* number: of the next message, through all phases */
static int caller, in = -1, out, samples_fd;

static void reply(const char *format, ...) { /* one line, written with ' for " */
    char text[1024];
    va_list values;
    va_start(values, format), vsnprintf(text, sizeof text, format, values), va_end(values);
    for (char *c = text; *c; c++) *c = *c == '\'' ? '"' : *c;
    puts(text), fflush(stdout);
}
static void fail(const char *reason) { reply("{'is':'failed','reason':'%s'}", reason), exit(1); }
/* No JSON parser: hopcost's lines are regular enough to look for parts, once blanks are taken out. */
static const char *after(const char *part) { return strstr(line, part) ? strstr(line, part) + strlen(part) : NULL; }
static uint64_t value(const char *key) { return after(key) ? strtoull(after(key), NULL, 10) : 0; }
static uint64_t now(void) {
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t), (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
static void exchange(void) { /* the caller writes first, the callee second; every byte is compared */
    for (int step = 0; step < 2; step++, number++) {
        unsigned char *own = messages + number % contents * size, writes = step == (caller ? 0 : 1);
        if ((writes ? write(out, own, size) : read(in, got, size)) != (ssize_t)size) fail("the other end is gone");
        if (!writes && memcmp(got, own, size)) fail("a message did not arrive as it was sent");
    }
}
static void attach(void) {
    const char *fds = after("\"fds\":["), *second = fds ? strchr(fds, ',') : NULL; /* incoming, outgoing */
    size = value("payload="); /* in the case */
    if (!after("roundtrip/pipe?") || !second || size < 1 || size > 4096) fail("this is no end of a pipe of 1 to 4096 bytes");
    in = atoi(fds), out = atoi(second + 1), samples_fd = (int)value("\"samples_fd\":"), caller = !!after("\"role\":\"caller\"");
    while (contents > 4 && contents * size > sizeof messages) contents /= 2;
    for (uint64_t s = 0; s < contents; s++) /* all messages beforehand: little-endian words that count up */
        for (uint64_t i = 0; i < size; i++)
            messages[s * size + i] = (unsigned char)((s * 0x9E3779B97F4A7C15u + i / 8) >> (i % 8 * 8));
    memset(ticks, 1, sizeof ticks); /* so that no page of it is touched first in the loop; and there is one thread: */
    reply("{'is':'attached','pid':%d,'seats':[{'role':'%s','tid':%d}]}", getpid(), caller ? "caller" : "callee", getpid());
}
static void run(void) {
    uint64_t count = value("\"count\":"), batch = after("\"kind\":\"batch\"") ? value("\"n\":") : 1, most = 0, sum = 0;
    if (in < 0 || !batch || count % batch || after("\"two-lengths\"")) fail("this cannot be run");
    size_t room = sizeof ticks / sizeof *ticks, leave = caller && after("\"phase\":\"measure\"") ? count / batch : 0;
    if (leave > room) fail("there is no room for so many samples");
    exchange(), exchange(); /* the lead-in: neither stamped nor counted */
    for (uint64_t i = 0, before = now(), then; i < count / batch; i++, before = then) {
        for (uint64_t j = 0; j < batch; j++) exchange();
        uint64_t taken = ticks[i % room] = (then = now()) - before;
        sum += taken, most = taken > most ? taken : most;
    }
    if (leave && write(samples_fd, ticks, leave * 8) != (ssize_t)leave * 8) fail("the samples could not be written");
    reply("{'is':'ran','ends':[{'role':'%s','count':%ju,'samples':%zu,'max_ticks':%ju,'elapsed_ticks':%ju}]}",
          caller ? "caller" : "callee", (uintmax_t)count, leave, (uintmax_t)most, (uintmax_t)sum);
}
int main(void) {
    for (signal(SIGPIPE, SIG_IGN); fgets(line, sizeof line, stdin);) { /* a dead partner is to be an error of write */
        if (!strchr(line, '\n')) fail("a command is longer than 256 KiB");
        for (char *from = line, *to = line; (*to = *from); from++) to += *from != ' ';
        if (after("\"do\":\"stop\"")) return reply("{'is':'stopped'}"), 0;
        if (after("\"do\":\"describe\"")) reply(DESCRIBED);
        else if (after("\"do\":\"attach\"")) attach();
        else if (after("\"do\":\"run\"")) run();
        else fail("this command is not known here");
    }
}
