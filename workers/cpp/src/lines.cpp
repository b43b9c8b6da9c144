#include "lines.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "failure.hpp"

std::optional<std::string> LineReader::next() {
    for (;;) {
        if (const auto end = buffer_.find('\n'); end != std::string::npos) {
            std::string line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        if (buffer_.size() > line_max) throw Failure("a command is longer than 256 KiB");
        char chunk[4096];
        const ssize_t got = read(fd_, chunk, sizeof chunk);
        if (got > 0) {
            buffer_.append(chunk, static_cast<std::size_t>(got));
        } else if (got == 0) {
            return std::nullopt;
        } else if (errno != EINTR) {
            throw system_failure("reading a command");
        }
    }
}

void write_all(int fd, const void* bytes, std::size_t length) {
    for (auto at = static_cast<const char*>(bytes); length > 0;) {
        const ssize_t written = write(fd, at, length);
        if (written >= 0) {
            at += written;
            length -= static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            throw system_failure("write");
        }
    }
}

void say(const std::string& line) {
    const std::string ended = line + "\n";
    write_all(STDOUT_FILENO, ended.data(), ended.size());
}

void give_up(const std::exception& error) {
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    if (said.test_and_set()) {
        // Another thread is saying why and ends the process.
        for (;;) pause();
    }
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    nlohmann::ordered_json failed = {{"is", "failed"}, {"reason", line}};
    const auto failure = dynamic_cast<const Failure*>(&error);
    if (failure && failure->cause == Cause::partner_gone) failed["cause"] = "partner-gone";
    try {
        say(failed.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    } catch (const Failure&) {
        // Nobody listens any more.
    }
    _exit(1);
}
