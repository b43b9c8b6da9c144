/* The other side of the wake-up comparison: the plainest C program that does what
 * hopcost's `wake` does. Two pinned processes; the sender sleeps GAP_NS, takes a
 * stamp and notifies; the receiver wakes and takes a stamp. Prints the median of
 * the differences in clock ticks, as they are: the offset of the two CPUs' clocks
 * is in it.
 *
 *   wake MECHANISM CPU_SENDER CPU_RECEIVER GAP_NS WARM_UP COUNT
 *
 * Mechanisms: semaphore signal (no payload), pipe socketpair (1 byte), mq (8 bytes), spin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
static inline uint64_t stamp(void) { unsigned aux; return __rdtscp(&aux); }
static inline void relax(void) { _mm_pause(); }
#else
static inline uint64_t stamp(void) { uint64_t t; __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t)); return t; }
static inline void relax(void) { __asm__ volatile("yield"); }
#endif

#define LINE __attribute__((aligned(128)))
static void die(const char *what) { fprintf(stderr, "wake: %s: %s\n", what, strerror(errno)); exit(1); }
static void check(long result, const char *what) { if (result < 0) die(what); }

struct page {
    LINE sem_t semaphore;
    LINE _Atomic uint32_t flag;
    LINE _Atomic uint32_t taken; /* wake-ups that the receiver has stamped */
    LINE _Atomic int ready;
};
static struct page *shared;
static int in_fd, out_fd;
static mqd_t queue;
static pid_t receiver;
static sigset_t usr1;

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}
static void notify(const char *how, uint32_t number) {
    char byte = 1, message[8] = {0};
    switch (how[0] == 's' ? how[1] : how[0]) {
    case 'm': check(mq_send(queue, message, sizeof message, 0), "mq_send"); break;
    case 'e': check(sem_post(&shared->semaphore), "sem_post"); break;
    case 'i': check(kill(receiver, SIGUSR1), "kill"); break;
    case 'p': if (how[0] == 's') atomic_store_explicit(&shared->flag, number, memory_order_release);
              else check(write(out_fd, &byte, 1), "write");
              break;
    default: check(write(out_fd, &byte, 1), "write");
    }
}
static void wait_for(const char *how, uint32_t number) {
    char byte, message[8];
    int got;
    switch (how[0] == 's' ? how[1] : how[0]) {
    case 'm': check(mq_receive(queue, message, sizeof message, NULL), "mq_receive"); break;
    case 'e': while (sem_wait(&shared->semaphore)) if (errno != EINTR) die("sem_wait"); break;
    case 'i': if (sigwait(&usr1, &got)) die("sigwait"); break;
    case 'p': if (how[0] == 's') { while (atomic_load_explicit(&shared->flag, memory_order_acquire) != number) relax(); break; }
              /* fall through: pipe */
    default: if (read(in_fd, &byte, 1) != 1) die("read");
    }
}
static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: wake MECHANISM CPU_SENDER CPU_RECEIVER GAP_NS WARM_UP COUNT\n"); return 2; }
    const char *how = argv[1];
    long gap_ns = atol(argv[4]), warm_up = atol(argv[5]), count = atol(argv[6]), all = warm_up + count + 1;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t *woken = mmap(NULL, all * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    uint64_t *sent = calloc(all, 8);
    if (shared == MAP_FAILED || woken == MAP_FAILED || !sent) die("memory");
    memset(sent, 1, all * 8);
    check(sem_init(&shared->semaphore, 1, 0), "sem_init");
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    int fds[2];
    if (!strcmp(how, "socketpair")) check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "socketpair");
    else check(pipe(fds), "pipe");
    in_fd = fds[0];
    out_fd = fds[1];
    char name[32];
    snprintf(name, sizeof name, "/hopcost-wake-%d", getpid());
    struct mq_attr places = {.mq_maxmsg = 4, .mq_msgsize = 8};
    check(queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &places), "mq_open");
    mq_unlink(name);
    receiver = fork();
    check(receiver, "fork");
    if (receiver == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(atoi(argv[3]));
        atomic_store(&shared->ready, 1);
        for (long i = 0; i < all; i++) {
            wait_for(how, i + 1);
            woken[i] = stamp();
            atomic_store_explicit(&shared->taken, i + 1, memory_order_release);
        }
        _exit(0);
    }
    pin(atoi(argv[2]));
    check(prctl(PR_SET_TIMERSLACK, 1), "prctl");
    while (!atomic_load(&shared->ready)) sched_yield();
    struct timespec gap = {gap_ns / 1000000000, gap_ns % 1000000000}, pause = {0, gap_ns < 10000 ? 10000 : gap_ns};
    for (long i = 0; i < all; i++) {
        check(clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, NULL), "clock_nanosleep");
        while (atomic_load_explicit(&shared->taken, memory_order_acquire) != i) nanosleep(&pause, NULL);
        sent[i] = stamp();
        notify(how, i + 1);
    }
    int status;
    check(waitpid(receiver, &status, 0), "waitpid");
    int64_t *between = calloc(count, 8);
    for (long i = 0; i < count; i++) between[i] = (int64_t)(woken[all - count + i] - sent[all - count + i]);
    qsort(between, count, 8, by_value);
    printf("%.1f\n", (between[(count - 1) / 2] + between[count / 2]) / 2.0);
    return 0;
}
