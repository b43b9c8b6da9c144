/* Makes every write(2) and send(2) of INJECTED_BYTES bytes longer by a chain of INJECTED_STEPS
 * multiplications. As a program, it says how many nanoseconds such a chain takes on this CPU:
 *
 *     gcc -O2 -shared -fPIC -o injected.so injected.c -ldl    LD_PRELOAD=./injected.so ...
 *     gcc -O2 -DMEASURE -o injected injected.c                ./injected CPU STEPS
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

/* Waits until all before it is done: otherwise the chain would overlap with what follows. */
static inline void fence(void) {
#ifdef __x86_64__
    __asm__ volatile("lfence" ::: "memory");
#else
    __asm__ volatile("isb" ::: "memory");
#endif
}

static inline void work(long n) {
    uint64_t x = 3;
    fence();
    for (; n > 0; n--) {
        x *= 0x9E3779B97F4A7C15u;
        __asm__ volatile("" : "+r"(x));
    }
    fence();
}

#ifdef MEASURE
static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

/* The median of 301 batches of 200 chains, less that of empty ones. */
static double chain_ns(long n) {
    static double each[301];
    for (int at = 0; at < 301; at++) {
        double start = now_ns();
        for (int i = 0; i < 200; i++)
            work(n);
        each[at] = (now_ns() - start) / 200;
    }
    qsort(each, 301, sizeof each[0], ascending);
    return each[150];
}

int main(int argc, char **argv) {
    if (argc != 3)
        return fprintf(stderr, "usage: injected CPU STEPS\n"), 2;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return perror("sched_setaffinity"), 1;
    printf("%.4f\n", chain_ns(atol(argv[2])) - chain_ns(0));
}
#else
static long steps, bytes = -1;

__attribute__((constructor)) static void begin(void) {
    const char *n = getenv("INJECTED_STEPS"), *of = getenv("INJECTED_BYTES");
    steps = n ? atol(n) : 0;
    bytes = of ? atol(of) : -1;
}

ssize_t write(int fd, const void *buffer, size_t len) {
    if ((long)len == bytes)
        work(steps);
    return syscall(SYS_write, fd, buffer, len);
}

ssize_t send(int fd, const void *buffer, size_t len, int flags) {
    if ((long)len == bytes)
        work(steps);
    return syscall(SYS_sendto, fd, buffer, len, flags, (void *)0, 0);
}
#endif
