/* Makes every write(2) and send(2) of INJECTED_BYTES bytes longer by a chain of STEPS multiplications, each waiting for the
 * last, in straight-line code: a loop would end in a branch that is predicted in one place and not in another. As a program, it
 * says how many nanoseconds such a chain takes on a CPU:
 *
 *     gcc -O2 -DSTEPS=100 -shared -fPIC -o injected.so injected.c    LD_PRELOAD=./injected.so ...
 *     gcc -O2 -DSTEPS=100 -DMEASURE -o injected injected.c           ./injected CPU
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define MULTIPLY "imul %1, %0"
#define FENCE "lfence"
#else
#define MULTIPLY "mul %0, %0, %1"
#define FENCE "isb"
#endif
#define TEXT(x) #x
#define REPEATED(n) ".rept " TEXT(n) "\n\t" MULTIPLY "\n\t.endr"

/* Waits until all before it is done: otherwise the chain would overlap with what is around it. */
static inline void fence(void) {
    __asm__ volatile(FENCE ::: "memory");
}

static inline void chain(void) {
    uint64_t x = 3;
    fence();
    __asm__ volatile(REPEATED(STEPS) : "+r"(x) : "r"(0x9E3779B97F4A7C15u));
    fence();
}

static inline void nothing(void) {
    fence();
    fence();
}

#ifdef MEASURE
#define TIMES 200
#define BATCHES 301

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

static double median(double *values) {
    qsort(values, BATCHES, sizeof values[0], ascending);
    return values[BATCHES / 2];
}

int main(int argc, char **argv) {
    static double with[BATCHES], without[BATCHES];
    if (argc != 2)
        return fprintf(stderr, "usage: injected CPU\n"), 2;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return perror("sched_setaffinity"), 1;
    for (int at = 0; at < BATCHES; at++) {
        double start = now_ns();
        for (int i = 0; i < TIMES; i++)
            chain();
        double middle = now_ns();
        for (int i = 0; i < TIMES; i++)
            nothing();
        with[at] = (middle - start) / TIMES;
        without[at] = (now_ns() - middle) / TIMES;
    }
    printf("%.4f\n", median(with) - median(without));
}
#else
static long bytes = -1;

__attribute__((constructor)) static void begin(void) {
    const char *of = getenv("INJECTED_BYTES");
    bytes = of ? atol(of) : -1;
}

ssize_t write(int fd, const void *buffer, size_t len) {
    if ((long)len == bytes)
        chain();
    return syscall(SYS_write, fd, buffer, len);
}

ssize_t send(int fd, const void *buffer, size_t len, int flags) {
    if ((long)len == bytes)
        chain();
    return syscall(SYS_sendto, fd, buffer, len, flags, (void *)0, 0);
}
#endif
