// The round trip over two pipes between two processes on one CPU, by hand and
// without a protocol: `pingpong CPU COUNT PAYLOAD` prints its median in nanoseconds.
// As many different messages as in PROTOCOL.md, sent from where they lie.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>
#include <vector>

static std::size_t payload, contents = 256;
static char *messages, *input;

static void send(int pipe, long number) {
    const char* message = messages + number % contents * payload;
    for (std::size_t done = 0; done < payload;) {
        const ssize_t written = write(pipe, message + done, payload - done);
        if (written < 0) std::_Exit(1);
        done += written;
    }
}

static void receive(int pipe, long number) {
    for (std::size_t done = 0; done < payload;) {
        const ssize_t got = read(pipe, input + done, payload - done);
        if (got <= 0) std::_Exit(got < 0);
        done += got;
    }
    if (std::memcmp(input, messages + number % contents * payload, payload) != 0) std::_Exit(1);
}

int main(int argc, char** argv) {
    const long count = argc == 4 ? std::atol(argv[2]) : 0;
    int request[2], reply[2];
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (count > 0) CPU_SET(std::atoi(argv[1]), &cpus), payload = std::atol(argv[3]);
    if (payload < 1 || sched_setaffinity(0, sizeof cpus, &cpus) || pipe(request) || pipe(reply))
        return std::fputs("usage: pingpong CPU COUNT PAYLOAD\n", stderr), 2;
    while (contents > 4 && contents * payload > 16 * 1024) contents /= 2;
    messages = static_cast<char*>(std::aligned_alloc(4096, (contents * payload + 4095) / 4096 * 4096));
    input = static_cast<char*>(std::aligned_alloc(4096, (payload + 4095) / 4096 * 4096));
    for (std::size_t at = 0; at < contents * payload; ++at) messages[at] = static_cast<char>(std::rand());
    if (fork() == 0) {
        close(request[1]);
        for (long number = 1;; number += 2) receive(request[0], number), send(reply[1], number + 1);
    }
    std::vector<long> times(count);
    long number = 1;
    auto before = std::chrono::steady_clock::now();
    for (long& time : times) {
        send(request[1], number), receive(reply[0], number + 1);
        const auto now = std::chrono::steady_clock::now();
        time = std::chrono::nanoseconds(now - before).count();
        before = now;
        number += 2;
    }
    std::nth_element(times.begin(), times.begin() + count / 2, times.end());
    std::printf("%ld\n", times[count / 2]);
}
