// The different messages of a trial (workers/PROTOCOL.md), made once: a timed loop
// sends them from where they lie and compares what arrives as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "buffer.hpp"

class Messages {
public:
    // After how many numbers messages of this length come again: a power of two.
    static std::uint64_t contents(std::size_t payload);

    explicit Messages(std::size_t payload);

    [[nodiscard]] std::size_t payload() const { return payload_; }
    [[nodiscard]] const std::byte* at(std::uint64_t sequence) const {
        return bytes_.data() + (sequence & last_) * stride_;
    }
    [[nodiscard]] bool is(std::uint64_t sequence, const void* received, std::size_t length) const {
        return length == payload_ && (length == 0 || std::memcmp(received, at(sequence), length) == 0);
    }
    // Throws unless this is message `sequence`, byte for byte.
    void expect(std::uint64_t sequence, const void* received, std::size_t length) const {
        if (!is(sequence, received, length)) unexpected(sequence, length);
    }
    [[noreturn]] void unexpected(std::uint64_t sequence, std::size_t length) const;

private:
    std::size_t payload_;
    std::uint64_t last_;
    // Each begins a cache line of its own, from 4 KiB on a page.
    std::size_t stride_;
    Buffer bytes_;
};
