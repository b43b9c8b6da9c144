// Memory for messages, zeroed, and with none of its cache lines shared with anything
// else. It begins where hopcost's own buffers do: at a pair of lines, which some
// processors fetch together, and from 4 KiB on at a page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

constexpr std::size_t cache_line = 64;
constexpr std::size_t page = 4096;

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
