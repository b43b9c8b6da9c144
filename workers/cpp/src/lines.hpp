// Lines in, lines out, and the last line of a worker that cannot go on.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>

// The longest line that either side accepts, in bytes.
constexpr std::size_t line_max = 256 * 1024;

class LineReader {
public:
    explicit LineReader(int fd) : fd_(fd) {}
    // The next line without its end; nothing at the end of input. Throws a Failure
    // where a line is too long.
    [[nodiscard]] std::optional<std::string> next();

private:
    int fd_;
    std::string buffer_;
};

// Writes all of it; throws a Failure where that cannot be done.
void write_all(int fd, const void* bytes, std::size_t length);

// Writes a line to standard output.
void say(const std::string& line);

// Answers `failed` and ends the process with exit code 1, whichever thread calls
// it; only the first call says anything.
[[noreturn]] void give_up(const std::exception& error);
