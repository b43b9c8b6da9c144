// The different messages of a trial (workers/PROTOCOL.md), made once: a timed loop
// sends them from where they lie and compares what arrives as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "failure.hpp"

constexpr std::size_t cache_line = 64;
constexpr std::size_t page = 4096;

// Memory for messages, zeroed, and with none of its cache lines shared with anything
// else. It begins where hopcost's own buffers do: at a pair of lines, which some
// processors fetch together, and from 4 KiB on at a page.
class Buffer {
public:
    explicit Buffer(std::size_t size) : size_(size) {
        const std::size_t unit = size < page ? 2 * cache_line : page;
        const std::size_t whole = (size / unit + 1) * unit;
        bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(unit, whole)));
        if (!bytes_) throw std::bad_alloc();
        std::fill_n(bytes_.get(), whole, std::byte{0});
    }

    [[nodiscard]] std::byte* data() { return bytes_.get(); }
    [[nodiscard]] const std::byte* data() const { return bytes_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    struct Free {
        void operator()(std::byte* bytes) const { std::free(bytes); }
    };
    std::size_t size_;
    std::unique_ptr<std::byte, Free> bytes_;
};

class Messages {
public:
    // After how many numbers messages of this length come again: a power of two.
    static std::uint64_t contents(std::size_t payload) {
        std::uint64_t count = 256;
        while (count > 4 && count * payload > 16 * 1024) count /= 2;
        return count;
    }

    explicit Messages(std::size_t payload)
        : payload_(payload),
          last_(contents(payload) - 1),
          stride_(stride(payload)),
          bytes_((last_ + 1) * stride_) {
        for (std::uint64_t sequence = 0; sequence <= last_; ++sequence)
            fill(bytes_.data() + sequence * stride_, sequence);
    }

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
    [[noreturn, gnu::noinline, gnu::cold]] void unexpected(std::uint64_t sequence, std::size_t length) const {
        const std::string number = "message " + std::to_string(sequence);
        if (length == payload_) throw Failure(number + " did not arrive as it was sent");
        throw Failure(number + " arrived with " + std::to_string(length) + " bytes instead of " +
                      std::to_string(payload_));
    }

private:
    // Each begins a cache line of its own, from 4 KiB on a page.
    static std::size_t stride(std::size_t payload) {
        const std::size_t unit = payload < page ? cache_line : page;
        return (payload + unit - 1) / unit * unit;
    }

    void fill(std::byte* bytes, std::uint64_t sequence) const {
        std::uint64_t word = sequence * 0x9E3779B97F4A7C15;
        for (std::size_t at = 0; at < payload_; ++at) {
            bytes[at] = static_cast<std::byte>(word >> (at % 8 * 8));
            if (at % 8 == 7) ++word;
        }
    }

    std::size_t payload_;
    std::uint64_t last_;
    std::size_t stride_;
    Buffer bytes_;
};
