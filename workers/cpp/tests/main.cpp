#include <csignal>
#include <initializer_list>

#include "check.hpp"

void test_cases();
void test_channels();
void test_describe();
void test_lines();
void test_loops();
void test_messages();

int main() {
    std::signal(SIGPIPE, SIG_IGN);
    for (auto test : {test_messages, test_cases, test_lines, test_loops, test_channels, test_describe}) test();
    std::printf("%s\n", failures == 0 ? "all tests passed" : "tests failed");
    return failures == 0 ? 0 : 1;
}
