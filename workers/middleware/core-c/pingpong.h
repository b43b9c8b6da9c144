/* What the programs by hand of this folder's C libraries share: their messages, their other end and the clock. None of
 * it is hopcost's. A program has the four functions below, of which put and take carry one message each. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned char *messages, *got;
static size_t size;
static uint64_t contents = 256, number = 1;

static void listen_at(const char *address);
static void connect_to(const char *address);
static void put(void);
static void take(void);

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
    snprintf(address, sizeof address, "ipc:///tmp/pingpong-%d.socket", argc == 5 ? atoi(argv[4]) : getpid());
    if (argc == 5) { /* the other end, started anew as hopcost's ends are */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        listen_at(address);
        for (;;) take(), put();
    }
    char parent[16];
    snprintf(parent, sizeof parent, "%d", getpid());
    pid_t child = fork();
    if (child == 0) return execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], parent, NULL), 1;
    connect_to(address);
    for (int i = 0; i < 2; i++) put(), take();
    for (uint64_t i = 0, before = now(), then; i < count; i++, before = then) {
        put(), take();
        ticks[i] = (then = now()) - before;
    }
    kill(child, SIGKILL), waitpid(child, NULL, 0), unlink(address + 6);
    qsort(ticks, count, 8, by_size);
    return printf("%ju\n", (uintmax_t)ticks[count / 2]), 0;
}
