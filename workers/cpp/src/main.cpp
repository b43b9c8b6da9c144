// The C++ worker of hopcost (workers/PROTOCOL.md).
#include <unistd.h>

#include <csignal>
#include <exception>

#include "lines.hpp"
#include "worker.hpp"

int main() {
    // A write to a partner that is gone is an error and no silent death.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        Worker worker;
        LineReader commands(STDIN_FILENO);
        while (!worker.has_stopped()) {
            const auto command = commands.next();
            if (!command) return 0;
            say(worker.answer(*command));
        }
    } catch (const std::exception& error) {
        give_up(error);
    }
}
