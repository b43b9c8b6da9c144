// The C++ worker of hopcost (workers/PROTOCOL.md).
#include <csignal>
#include <iostream>

#include "worker.hpp"

int main() {
    // A write to a partner that is gone is an error and no silent death.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        Worker worker;
        for (std::string line; std::getline(std::cin, line);) {
            const Json command = Json::parse(line);
            say(worker.answer(command));
            if (command.at("do") == "stop") break;
        }
    } catch (const std::exception& error) {
        give_up(error);
    }
    // At once, whatever threads there are.
    std::_Exit(0);
}
