/* The plainest C program that does what a hopcost round trip between two hosts does.
 *
 *   pair tcp|udp serve ADDRESS PORT CPU PAYLOAD            answers until the peer leaves (udp: until killed)
 *   pair tcp|udp call ADDRESS PORT CPU PAYLOAD WARM_UP COUNT   prints the median round trip in nanoseconds
 *
 * Each message is written anew and compared whole by its receiver; TCP by write and read with TCP_NODELAY at both
 * ends, UDP by send and recv on connected sockets.
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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) { fprintf(stderr, "pair: %s: %s\n", what, strerror(errno)); exit(1); }
static long check(long result, const char *what) { if (result < 0) die(what); return result; }

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static size_t payload;
static int udp;
static unsigned char message[1 << 16], expected[1 << 16];

static void fill(unsigned char *at, uint64_t number) {
    for (size_t i = 0; i < payload; i += 8) {
        uint64_t word = number * 0x9E3779B97F4A7C15ull + i / 8;
        memcpy(at + i, &word, payload - i < 8 ? payload - i : 8);
    }
}

static void put(int fd, uint64_t number) {
    fill(message, number);
    for (size_t done = 0; done < payload;)
        done += udp ? check(send(fd, message + done, payload - done, 0), "send")
                    : check(write(fd, message + done, payload - done), "write");
}

static int get(int fd, uint64_t number) {
    fill(expected, number);
    for (size_t done = 0; done < payload;) {
        long n = udp ? check(recv(fd, message + done, payload - done, 0), "recv")
                     : check(read(fd, message + done, payload - done), "read");
        if (n == 0) return 0;
        done += n;
    }
    if (memcmp(message, expected, payload)) { fprintf(stderr, "pair: a message is not as it was sent\n"); exit(1); }
    return 1;
}

static int order(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 7) { fprintf(stderr, "usage: pair tcp|udp serve|call ADDRESS PORT CPU PAYLOAD [WARM_UP COUNT]\n"); return 2; }
    udp = !strcmp(argv[1], "udp");
    int serves = !strcmp(argv[2], "serve"), one = 1;
    payload = strtoul(argv[6], 0, 10);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[5]), &set);
    check(sched_setaffinity(0, sizeof set, &set), "affinity");
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[4])) };
    inet_pton(AF_INET, argv[3], &to.sin_addr);
    int fd = check(socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, 0), "socket");
    if (serves) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        check(bind(fd, (void *)&to, sizeof to), "bind");
        if (!udp) check(listen(fd, 1), "listen");
        printf("listening\n");
        fflush(stdout);
        if (udp) {
            struct sockaddr_in from;
            socklen_t length = sizeof from;
            check(recvfrom(fd, message, sizeof message, MSG_PEEK, (void *)&from, &length), "recvfrom");
            check(connect(fd, (void *)&from, sizeof from), "connect");
        } else {
            fd = check(accept(fd, 0, 0), "accept");
        }
    } else {
        check(connect(fd, (void *)&to, sizeof to), "connect");
    }
    if (!udp) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (serves) {
        for (uint64_t n = 1; get(fd, n); n += 2) put(fd, n + 1);
        return 0;
    }
    size_t warm_up = strtoul(argv[7], 0, 10), count = strtoul(argv[8], 0, 10);
    uint64_t *took = malloc(count * sizeof *took), n = 1;
    for (size_t i = 0; i < warm_up; i++, n += 2) { put(fd, n); get(fd, n + 1); }
    uint64_t before = now();
    for (size_t i = 0; i < count; i++, n += 2) {
        put(fd, n);
        if (!get(fd, n + 1)) { fprintf(stderr, "pair: the peer is gone\n"); return 1; }
        uint64_t after = now();
        took[i] = after - before;
        before = after;
    }
    qsort(took, count, sizeof *took, order);
    printf("%llu\n", (unsigned long long)took[count / 2]);
    return 0;
}
