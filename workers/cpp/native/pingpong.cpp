// The round trip over two pipes between two processes on one CPU, by hand and
// without a protocol: `pingpong CPU COUNT` prints its median in nanoseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>
#include <vector>

int main(int argc, char** argv) {
    const long count = argc == 3 ? std::atol(argv[2]) : 0;
    int request[2], reply[2];
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (count > 0) CPU_SET(std::atoi(argv[1]), &cpus);
    if (count < 1 || sched_setaffinity(0, sizeof cpus, &cpus) || pipe(request) || pipe(reply))
        return std::fputs("usage: pingpong CPU COUNT\n", stderr), 2;
    char message[64] = {};
    if (fork() == 0) {
        close(request[1]);
        while (read(request[0], message, sizeof message) == sizeof message)
            if (write(reply[1], message, sizeof message) != sizeof message) break;
        _exit(0);
    }
    std::vector<long> times(count);
    for (long& time : times) {
        const auto before = std::chrono::steady_clock::now();
        if (write(request[1], message, sizeof message) != sizeof message) return 1;
        if (read(reply[0], message, sizeof message) != sizeof message) return 1;
        time = std::chrono::nanoseconds(std::chrono::steady_clock::now() - before).count();
    }
    std::nth_element(times.begin(), times.begin() + count / 2, times.end());
    std::printf("%ld\n", times[count / 2]);
}
