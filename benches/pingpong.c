/* The other side of every comparison: the plainest C program that does the same
 * as one hopcost round trip. Two ends, of which the caller takes a stamp after
 * every exchange and prints its median in clock ticks.
 *
 *   pingpong MECHANISM BOUNDARY CPU_CALLER CPU_CALLEE WARM_UP COUNT [BATCH [PAYLOAD [TOUCH]]]
 *
 * Mechanisms: spin futex semaphore condvar eventfd signal (no payload),
 *             pipe socketpair unix-stream udp tcp (64 bytes if nothing else is said; TOUCH is
 *             verify: every byte written and compared, none: the first 8 alone, or nothing:
 *             a buffer is passed and not looked at),
 *             ring (the same, up to 64 KiB), spin-bare ring-bare (spinning without a pause instruction).
 * Boundaries: process (two processes, process-shared primitives; the callee is started anew,
 *             as hopcost's ends are, because a forked child shares pages with its parent,
 *             which makes a round trip over a pipe 0.8 %, 0.5 to 1.1, shorter),
 *             thread (two threads, process-private ones: the first four mechanisms).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
static inline uint64_t stamp(void) { unsigned aux; return __rdtscp(&aux); }
static inline void relax(void) { _mm_pause(); }
#else
static inline uint64_t stamp(void) { uint64_t t; __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t)); return t; }
static inline void relax(void) { __asm__ volatile("yield"); }
#endif

#define PAYLOAD_MAX (1 << 20)
#define LINE __attribute__((aligned(128)))

static void die(const char *what) { fprintf(stderr, "pingpong: %s: %s\n", what, strerror(errno)); exit(1); }
static void check(long result, const char *what) { if (result < 0) die(what); }

/* Up to 32 KiB in eight places, or 64 KiB in four, each with a line before the message. */
#define RING_BYTES (8 * ((32 << 10) + 128))

struct page {
    LINE char ring[2][RING_BYTES];
    LINE _Atomic uint32_t word[2][32];
    LINE _Atomic uint32_t asleep[2][32];
    LINE sem_t semaphore[2];
    LINE pthread_mutex_t mutex;
    pthread_cond_t condition[2];
    int turn[2];
    LINE _Atomic int pid[2];
};

static struct page *mapped;
static int private_flag; /* FUTEX_PRIVATE_FLAG between threads */
static __thread struct page *shared;
static __thread int side; /* 0 is the caller */
static int in_fd, out_fd;
static LINE char out_buffer[PAYLOAD_MAX], in_buffer[PAYLOAD_MAX];
static size_t payload = 64, touched = 64; /* bytes of a message; of these, written and compared */

/* As hopcost does it: eight words at a time, in four vectors, compared into four accumulators. */
typedef uint64_t pair __attribute__((vector_size(16)));
#define PAIR(sequence, at) ((sequence) * 0x9E3779B97F4A7C15u + (pair){at, at + 1})
#define PUT(words, at) memcpy(to + (at), &words, 16); words += 8
#define COMPARE(words, at, differing) memcpy(&got, from + (at), 16); differing |= got ^ words; words += 8
static inline void fill(char *to, uint64_t sequence) {
    pair a = PAIR(sequence, 0), b = PAIR(sequence, 2), c = PAIR(sequence, 4), d = PAIR(sequence, 6);
    size_t at = 0;
    for (; at + 64 <= touched; at += 64) { PUT(a, at); PUT(b, at + 16); PUT(c, at + 32); PUT(d, at + 48); }
    for (uint64_t word = a[0]; at < touched; at += 8, word++) memcpy(to + at, &word, 8);
}
static inline void verify(const char *from, uint64_t sequence) {
    pair a = PAIR(sequence, 0), b = PAIR(sequence, 2), c = PAIR(sequence, 4), d = PAIR(sequence, 6), got;
    pair da = {0}, db = {0}, dc = {0}, dd = {0};
    size_t at = 0;
    for (; at + 64 <= touched; at += 64) {
        COMPARE(a, at, da); COMPARE(b, at + 16, db); COMPARE(c, at + 32, dc); COMPARE(d, at + 48, dd);
    }
    da |= db | dc | dd;
    uint64_t all = da[0] | da[1], one;
    for (uint64_t word = a[0]; at < touched; at += 8, word++) { memcpy(&one, from + at, 8); all |= one ^ word; }
    if (all) { errno = EBADMSG; die("verify"); }
}

/* A counter per direction: nothing is ever reset, so each line is written by one side only. */
static __thread uint32_t notified, awaited;
static inline void spin_send(uint64_t s) { (void)s; atomic_store_explicit(&shared->word[!side][0], ++notified, memory_order_release); }
static inline void spin_receive(uint64_t s) {
    (void)s;
    awaited++;
    while (atomic_load_explicit(&shared->word[side][0], memory_order_acquire) != awaited) relax();
}
#define spin_bare_send spin_send
static inline void spin_bare_receive(uint64_t s) {
    (void)s;
    awaited++;
    while (atomic_load_explicit(&shared->word[side][0], memory_order_acquire) != awaited);
}
/* Rings whose messages lie where hopcost's do: number and length, 4 bytes each, then the message, or where that takes
 * no line more, the message from the next line on. The reply says that the place is free, so nothing else crosses.
 * The asm keeps the address of a place in a register: where gcc works it out again after the number has come, the look at
 * the message waits for that and the round trip takes a tenth longer. */
static uint32_t places;
static size_t message_at, place_bytes;
static void lay_out_ring(void) {
    message_at = (8 + payload + 63) / 64 < (64 + payload + 63) / 64 ? 8 : 64;
    place_bytes = (message_at + payload + 127) / 128 * 128;
    places = payload <= 32 << 10 ? 8 : 4;
}
static inline char *place(int whose, uint32_t number) {
    char *place = shared->ring[whose] + (number & (places - 1)) * place_bytes;
    __asm__("" : "+r"(place));
    return place;
}
static inline void ring_send(uint64_t s) {
    char *at = place(!side, notified++);
    fill(at + message_at, s);
    *(uint32_t *)(at + 4) = payload;
    atomic_store_explicit((_Atomic uint32_t *)at, notified, memory_order_release);
}
static inline void ring_take(uint64_t s, int pause) {
    char *at = place(side, awaited++);
    while (atomic_load_explicit((_Atomic uint32_t *)at, memory_order_acquire) != awaited) if (pause) relax();
    if (*(uint32_t *)(at + 4) != payload) { errno = EBADMSG; die("length"); }
    verify(at + message_at, s);
}
static inline void ring_receive(uint64_t s) { ring_take(s, 1); }
#define ring_bare_send ring_send
static inline void ring_bare_receive(uint64_t s) { ring_take(s, 0); }
static inline void wake(void) { check(syscall(SYS_futex, &shared->word[!side][0], FUTEX_WAKE | private_flag, 1), "futex wake"); }
static inline void sleep_while(uint32_t seen) {
    if (syscall(SYS_futex, &shared->word[side][0], FUTEX_WAIT | private_flag, seen, NULL) < 0 && errno != EAGAIN && errno != EINTR)
        die("futex wait");
}
/* The waiter says that it sleeps, and only then it is woken. */
static inline void futex_send(uint64_t s) {
    spin_send(s);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&shared->asleep[!side][0], memory_order_relaxed)) wake();
}
static inline void futex_receive(uint64_t s) {
    (void)s;
    while (atomic_load_explicit(&shared->word[side][0], memory_order_acquire) == awaited) {
        atomic_store_explicit(&shared->asleep[side][0], 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        sleep_while(awaited);
        atomic_store_explicit(&shared->asleep[side][0], 0, memory_order_relaxed);
    }
    awaited++;
}
static inline void semaphore_send(uint64_t s) { (void)s; check(sem_post(&shared->semaphore[!side]), "sem_post"); }
static inline void semaphore_receive(uint64_t s) { (void)s; while (sem_wait(&shared->semaphore[side]) < 0) if (errno != EINTR) die("sem_wait"); }
static inline void condvar_send(uint64_t s) {
    (void)s;
    pthread_mutex_lock(&shared->mutex);
    shared->turn[!side] = 1;
    pthread_cond_signal(&shared->condition[!side]);
    pthread_mutex_unlock(&shared->mutex);
}
static inline void condvar_receive(uint64_t s) {
    (void)s;
    pthread_mutex_lock(&shared->mutex);
    while (!shared->turn[side]) pthread_cond_wait(&shared->condition[side], &shared->mutex);
    shared->turn[side] = 0;
    pthread_mutex_unlock(&shared->mutex);
}
static inline void eventfd_send(uint64_t s) { (void)s; uint64_t one = 1; if (write(out_fd, &one, 8) != 8) die("write"); }
static inline void eventfd_receive(uint64_t s) { (void)s; uint64_t n; if (read(in_fd, &n, 8) != 8 || n != 1) die("read"); }
static sigset_t usr1;
static inline void signal_send(uint64_t s) { (void)s; check(kill(shared->pid[!side], SIGUSR1), "kill"); }
static inline void signal_receive(uint64_t s) { (void)s; int got; if (sigwait(&usr1, &got)) die("sigwait"); }
static inline void stream_send(uint64_t s) {
    fill(out_buffer, s);
    for (size_t done = 0; done < payload;) {
        ssize_t n = write(out_fd, out_buffer + done, payload - done);
        if (n <= 0) die("write");
        done += n;
    }
}
static inline void stream_receive(uint64_t s) {
    for (size_t done = 0; done < payload;) {
        ssize_t n = read(in_fd, in_buffer + done, payload - done);
        if (n <= 0) die("read");
        done += n;
    }
    verify(in_buffer, s);
}
static inline void packet_send(uint64_t s) { fill(out_buffer, s); if (send(out_fd, out_buffer, payload, MSG_NOSIGNAL) != (ssize_t)payload) die("send"); }
static inline void packet_receive(uint64_t s) { if (recv(in_fd, in_buffer, payload, 0) != (ssize_t)payload) die("recv"); verify(in_buffer, s); }

static int by_ticks(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define LOOPS(name)                                                                              \
    static void name##_caller(uint64_t warm, uint64_t count, uint64_t batch, uint64_t *samples) { \
        uint64_t sequence = 1;                                                                    \
        for (uint64_t i = 0; i < warm; i++, sequence += 2) { name##_send(sequence); name##_receive(sequence + 1); } \
        uint64_t before = stamp();                                                                \
        for (uint64_t i = 0; i < count; i++) {                                                    \
            for (uint64_t j = 0; j < batch; j++, sequence += 2) { name##_send(sequence); name##_receive(sequence + 1); } \
            uint64_t now = stamp();                                                               \
            samples[i] = now - before;                                                            \
            before = now;                                                                         \
        }                                                                                         \
    }                                                                                             \
    static void name##_callee(uint64_t total) {                                                   \
        for (uint64_t sequence = 1; total--; sequence += 2) { name##_receive(sequence); name##_send(sequence + 1); } \
    }
LOOPS(spin) LOOPS(spin_bare) LOOPS(ring) LOOPS(ring_bare) LOOPS(futex) LOOPS(semaphore) LOOPS(condvar) LOOPS(eventfd) LOOPS(signal) LOOPS(stream) LOOPS(packet)

static const struct { const char *name; void (*caller)(uint64_t, uint64_t, uint64_t, uint64_t *); void (*callee)(uint64_t); } table[] = {
    {"spin", spin_caller, spin_callee}, {"futex", futex_caller, futex_callee},
    {"semaphore", semaphore_caller, semaphore_callee}, {"condvar", condvar_caller, condvar_callee},
    {"eventfd", eventfd_caller, eventfd_callee}, {"signal", signal_caller, signal_callee},
    {"ring", ring_caller, ring_callee}, {"ring-bare", ring_bare_caller, ring_bare_callee},
    {"spin-bare", spin_bare_caller, spin_bare_callee},
    {"pipe", stream_caller, stream_callee}, {"socketpair", stream_caller, stream_callee},
    {"unix-stream", stream_caller, stream_callee}, {"tcp", stream_caller, stream_callee}, {"udp", packet_caller, packet_callee},
};

static int sockets[2], request[2], reply[2];

static void connect_tcp(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (void *)&address, len), "bind");
    check(getsockname(listener, (void *)&address, &len), "getsockname");
    check(listen(listener, 1), "listen");
    check(sockets[0] = socket(AF_INET, SOCK_STREAM, 0), "socket");
    check(connect(sockets[0], (void *)&address, len), "connect");
    check(sockets[1] = accept(listener, NULL, NULL), "accept");
    close(listener);
    for (int i = 0; i < 2; i++) check(setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "TCP_NODELAY");
}

static void connect_unix(void) {
    /* No length but that of the family: the kernel makes up a name (unix(7), autobind). */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof address;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    check(bind(listener, (void *)&address, sizeof address.sun_family), "bind");
    check(getsockname(listener, (void *)&address, &len), "getsockname");
    check(listen(listener, 1), "listen");
    check(sockets[0] = socket(AF_UNIX, SOCK_STREAM, 0), "socket");
    check(connect(sockets[0], (void *)&address, len), "connect");
    check(sockets[1] = accept(listener, NULL, NULL), "accept");
    close(listener);
}

static void connect_udp(void) {
    struct sockaddr_in address[2];
    for (int i = 0; i < 2; i++) {
        address[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof address[i];
        check(sockets[i] = socket(AF_INET, SOCK_DGRAM, 0), "socket");
        check(bind(sockets[i], (void *)&address[i], len), "bind");
        check(getsockname(sockets[i], (void *)&address[i], &len), "getsockname");
    }
    for (int i = 0; i < 2; i++) check(connect(sockets[i], (void *)&address[!i], sizeof address[i]), "connect");
}

static int file = -1; /* the memory of two processes */

static void open_link(const char *name, const char *boundary) {
    int pshared = strcmp(boundary, "thread") != 0;
    if (pshared) {
        check(file = memfd_create("pingpong", 0), "memfd");
        check(ftruncate(file, sizeof *shared), "memfd");
    }
    mapped = shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, pshared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    if (mapped == MAP_FAILED) die("mmap");
    private_flag = pshared ? 0 : FUTEX_PRIVATE_FLAG;
    pthread_mutexattr_t mutex; pthread_condattr_t condition;
    pthread_mutexattr_init(&mutex); pthread_mutexattr_setpshared(&mutex, pshared);
    pthread_condattr_init(&condition); pthread_condattr_setpshared(&condition, pshared);
    pthread_mutex_init(&shared->mutex, &mutex);
    for (int i = 0; i < 2; i++) { sem_init(&shared->semaphore[i], pshared, 0); pthread_cond_init(&shared->condition[i], &condition); }
    if (!strcmp(name, "eventfd")) { request[0] = request[1] = eventfd(0, 0); reply[0] = reply[1] = eventfd(0, 0); }
    else if (!strcmp(name, "pipe")) { check(pipe(request), "pipe"); check(pipe(reply), "pipe"); }
    else if (!strcmp(name, "socketpair")) check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "socketpair");
    else if (!strcmp(name, "unix-stream")) connect_unix();
    else if (!strcmp(name, "tcp")) connect_tcp();
    else if (!strcmp(name, "udp")) connect_udp();
}

/* Each process keeps its own descriptors only. */
static void take_side(const char *name, int which) {
    side = which;
    shared = mapped;
    if (!strcmp(name, "eventfd")) { in_fd = side ? request[0] : reply[0]; out_fd = side ? reply[0] : request[0]; }
    else if (!strcmp(name, "pipe")) {
        in_fd = side ? request[0] : reply[0]; out_fd = side ? reply[1] : request[1];
        close(side ? request[1] : reply[1]); close(side ? reply[0] : request[0]);
    } else if (sockets[0]) { in_fd = out_fd = sockets[side]; close(sockets[!side]); }
}

static void pin(int cpu) {
    cpu_set_t set; CPU_ZERO(&set); CPU_SET(cpu, &set);
    check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

static const char *name;
static int cpus[2];
static unsigned at;
static uint64_t warm, count, batch;

static void callee(void) {
    pin(cpus[1]);
    shared->pid[1] = getpid();
    while (!shared->pid[0]) usleep(50);
    table[at].callee(warm + count * batch);
}

static void *callee_thread(void *unused) {
    take_side(name, 1);
    callee();
    return unused;
}

#define INHERITED "PINGPONG_INHERITED"

/* Becomes the callee's program, which finds its descriptors in the environment. */
static void start_callee(char **argv) {
    take_side(name, 1);
    char descriptors[64];
    snprintf(descriptors, sizeof descriptors, "%d %d %d", file, in_fd, out_fd);
    setenv(INHERITED, descriptors, 1);
    alarm(20); /* alarms are not inherited */
    execv("/proc/self/exe", argv);
    die("exec");
}

static void inherit(const char *descriptors) {
    if (sscanf(descriptors, "%d %d %d", &file, &in_fd, &out_fd) != 3) die(INHERITED);
    side = 1;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) die("mmap");
}

int main(int argc, char **argv) {
    if (argc < 7) { fprintf(stderr, "usage: pingpong MECHANISM BOUNDARY CPU_CALLER CPU_CALLEE WARM_UP COUNT [BATCH [PAYLOAD [TOUCH]]]\n"); return 2; }
    name = argv[1];
    const char *boundary = argv[2];
    cpus[0] = atoi(argv[3]); cpus[1] = atoi(argv[4]);
    warm = strtoull(argv[5], 0, 0); count = strtoull(argv[6], 0, 0); batch = argc > 7 ? strtoull(argv[7], 0, 0) : 1;
    if (argc > 8) payload = strtoul(argv[8], 0, 0);
    touched = argc > 9 && !strcmp(argv[9], "none") ? 8 : argc > 9 && !strcmp(argv[9], "nothing") ? 0 : payload;
    if (payload < 8 || payload % 8 || payload > PAYLOAD_MAX) { fprintf(stderr, "pingpong: a payload is a multiple of 8, up to 1 MiB\n"); return 2; }
    if (!strncmp(name, "ring", 4) && payload > 64 << 10) { fprintf(stderr, "pingpong: a ring takes up to 64 KiB\n"); return 2; }
    lay_out_ring();
    memset(out_buffer, 1, payload);
    int threads = !strcmp(boundary, "thread");
    while (at < sizeof table / sizeof *table && strcmp(table[at].name, name)) at++;
    if (at == sizeof table / sizeof *table || (threads && at > 3)) {
        fprintf(stderr, "pingpong: no mechanism %s with boundary %s\n", name, boundary);
        return 2;
    }
    sigemptyset(&usr1); sigaddset(&usr1, SIGUSR1); sigprocmask(SIG_BLOCK, &usr1, NULL);
    const char *inherited = getenv(INHERITED);
    if (inherited) {
        inherit(inherited);
        callee();
        return 0;
    }
    uint64_t *samples = malloc(count * sizeof *samples);
    if (!samples) die("malloc");
    memset(samples, 1, count * sizeof *samples);
    alarm(20);
    open_link(name, boundary);
    pid_t parent = getpid(), child = 0;
    pthread_t thread;
    if (threads) {
        if ((errno = pthread_create(&thread, NULL, callee_thread, NULL))) die("pthread_create");
    } else {
        check(child = fork(), "fork");
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(1);
            start_callee(argv);
        }
    }
    pin(cpus[0]);
    take_side(name, 0);
    shared->pid[0] = getpid();
    while (!shared->pid[1]) usleep(50);
    table[at].caller(warm, count, batch, samples);
    int status = 0;
    if (threads) pthread_join(thread, NULL);
    else check(waitpid(child, &status, 0), "waitpid");
    qsort(samples, count, sizeof *samples, by_ticks);
    printf("%.4f\n", (double)samples[(count + 1) / 2 - 1] / batch);
    return status != 0;
}
