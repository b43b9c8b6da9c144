/* The plainest C program that does what hopcost's round trips over new, many or pipelined connections do.
 *
 *   connect tcp|unix each normal|reset CALLER_CPU CALLEE_CPU WARM_UP COUNT      a connection for each round trip
 *   connect tcp|unix WINDOW CONNECTIONS CALLER_CPU CALLEE_CPU WARM_UP COUNT     WINDOW in flight over CONNECTIONS
 *
 * Messages of 64 bytes, each written anew and compared whole. Prints the median in ticks: of a round trip, or of the
 * response time of one; then the ticks of the whole over COUNT.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define PAYLOAD 64
static void die(const char *what) { fprintf(stderr, "connect: %s: %s\n", what, strerror(errno)); exit(1); }
static long check(long result, const char *what) { if (result < 0) die(what); return result; }

static void fill(uint64_t *at, uint64_t number) {
    for (int i = 0; i < PAYLOAD / 8; i++) at[i] = number * 0x9E3779B97F4A7C15ull + i;
}
static void put(int fd, uint64_t number) {
    uint64_t message[PAYLOAD / 8];
    fill(message, number);
    if (check(write(fd, message, PAYLOAD), "write") != PAYLOAD) die("short write");
}
static int get(int fd, uint64_t number) {
    uint64_t message[PAYLOAD / 8], expected[PAYLOAD / 8];
    fill(expected, number);
    long n = check(read(fd, message, PAYLOAD), "read");
    if (n == 0) return 0;
    if (n != PAYLOAD || memcmp(message, expected, PAYLOAD)) { fprintf(stderr, "connect: not as it was sent\n"); exit(1); }
    return 1;
}
static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    check(sched_setaffinity(0, sizeof set, &set), "affinity");
}
static int order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct sockaddr_storage where;
static socklen_t length;
static int one = 1, is_tcp;

static int dial(void) {
    int fd = check(socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    check(connect(fd, (void *)&where, length), "connect");
    return fd;
}
static int take(int listener) { return check(accept4(listener, 0, 0, SOCK_CLOEXEC), "accept"); }

int main(int argc, char **argv) {
    if (argc != 8) { fprintf(stderr, "usage: see the head of connect.c\n"); return 2; }
    int each = !strcmp(argv[2], "each"), resets = !strcmp(argv[3], "reset");
    int window = atoi(argv[2]), connections = each ? 0 : atoi(argv[3]);
    size_t warm_up = strtoul(argv[6], 0, 10), count = strtoul(argv[7], 0, 10);
    is_tcp = !strcmp(argv[1], "tcp");
    if (is_tcp) {
        struct sockaddr_in *inet = (void *)&where;
        *inet = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        length = sizeof *inet;
    } else {
        struct sockaddr_un *path = (void *)&where;
        path->sun_family = AF_UNIX;
        snprintf(path->sun_path, sizeof path->sun_path, "/tmp/hopcost-connect-%d", getpid());
        length = sizeof *path;
    }
    int listener = check(socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    check(bind(listener, (void *)&where, length), "bind");
    check(listen(listener, 128), "listen");
    check(getsockname(listener, (void *)&where, &length), "getsockname");
    int calls[4096], answers[4096];
    for (int i = 0; i < connections; i++) {
        calls[i] = dial();
        answers[i] = take(listener);
        for (int *fd = (int[]){ calls[i], answers[i] }, n = 0; is_tcp && n < 2; n++)
            setsockopt(fd[n], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    pid_t callee = check(fork(), "fork");
    if (callee == 0) {
        pin(atoi(argv[5]));
        if (each) {
            for (uint64_t n = 1; n <= 2 * (warm_up + count); n += 2) {
                char end;
                int fd = take(listener);
                if (get(fd, n)) put(fd, n + 1);
                if (read(fd, &end, 1) > 0) die("more than a message");
                close(fd);
            }
            exit(0);
        }
        for (int i = 0; i < connections; i++) close(calls[i]);
        uint64_t expected[4096];
        for (int i = 0; i < connections; i++) expected[i] = 1 + 2 * i;
        if (connections == 1) {
            while (get(answers[0], expected[0])) { put(answers[0], expected[0] + 1); expected[0] += 2; }
            exit(0);
        }
        int epoll = check(epoll_create1(0), "epoll");
        for (int i = 0; i < connections; i++) {
            struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };
            check(epoll_ctl(epoll, EPOLL_CTL_ADD, answers[i], &event), "epoll_ctl");
        }
        for (;;) {
            struct epoll_event events[64];
            int found = check(epoll_wait(epoll, events, 64, -1), "epoll_wait");
            for (int i = 0; i < found; i++) {
                uint64_t at = events[i].data.u64;
                if (!get(answers[at], expected[at])) exit(0);
                put(answers[at], expected[at] + 1);
                expected[at] += 2 * connections;
            }
        }
    }
    pin(atoi(argv[4]));
    close(listener);
    for (int i = 0; i < connections; i++) close(answers[i]);
    uint64_t *took = malloc(count * sizeof *took), starts[4096], before = __rdtsc(), first = before;
    if (each) {
        for (size_t i = 0; i < warm_up + count; i++) {
            if (i == warm_up) first = before;
            int fd = dial();
            put(fd, 2 * i + 1);
            if (!get(fd, 2 * i + 2)) die("the peer is gone");
            if (resets) setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
            close(fd);
            uint64_t now = __rdtsc();
            if (i >= warm_up) took[i - warm_up] = now - before;
            before = now;
        }
    } else {
        size_t sent = 0, all = warm_up + count;
        for (; sent < (size_t)window && sent < all; sent++) {
            starts[sent % window] = __rdtsc();
            put(calls[sent % connections], 2 * sent + 1);
        }
        for (size_t i = 0; i < all; i++) {
            if (!get(calls[i % connections], 2 * i + 2)) die("the peer is gone");
            uint64_t now = __rdtsc();
            if (i + 1 == warm_up) first = now;
            if (i >= warm_up) took[i - warm_up] = now - starts[i % window];
            if (sent < all) {
                starts[sent % window] = now;
                put(calls[sent % connections], 2 * sent + 1);
                sent++;
            }
            before = now;
        }
    }
    for (int i = 0; i < connections; i++) close(calls[i]);
    if (!is_tcp) unlink(((struct sockaddr_un *)&where)->sun_path);
    waitpid(callee, 0, 0);
    qsort(took, count, sizeof *took, order);
    printf("%llu %llu\n", (unsigned long long)took[count / 2], (unsigned long long)((before - first) / count));
    return 0;
}
