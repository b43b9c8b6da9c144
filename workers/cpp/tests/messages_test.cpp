#include "messages.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "check.hpp"
#include "failure.hpp"

// The format of workers/PROTOCOL.md, written out.
static void contents_are_the_protocols() {
    const Messages messages(20);
    const std::uint64_t word = 3 * 0x9E3779B97F4A7C15u;
    for (std::size_t at = 0; at < 20; ++at)
        CHECK(messages.at(3)[at] == static_cast<std::byte>((word + at / 8) >> (8 * (at % 8))));
    // Known values, from the definition: 0x9E3779B97F4A7C15, little-endian.
    CHECK(messages.at(1)[0] == std::byte{0x15});
    CHECK(messages.at(1)[7] == std::byte{0x9E});
    CHECK(messages.at(1)[8] == std::byte{0x16});
    CHECK(messages.at(257) == messages.at(1));
    CHECK(messages.at(1) != messages.at(2));
}

// So many of them are 16 KiB at most, where that is not fewer than four.
static void contents_come_again_sooner_the_longer_they_are() {
    const std::vector<std::pair<std::size_t, std::uint64_t>> known = {
        {0, 256}, {1, 256}, {64, 256}, {65, 128}, {100, 128}, {1024, 16}, {1025, 8}, {2049, 4}, {4096, 4}, {65'536, 4}};
    for (const auto& [payload, contents] : known) {
        CHECK(Messages::contents(payload) == contents);
        const Messages messages(payload);
        CHECK(messages.at(7 + contents) == messages.at(7));
        CHECK(payload == 0 || !messages.is(7 + contents / 2, messages.at(7), payload));
    }
}

static void any_flipped_bit_is_seen() {
    for (const std::size_t length : {1, 7, 8, 9, 63, 64, 65, 200}) {
        const Messages messages(length);
        std::vector<std::byte> copy(messages.at(5), messages.at(5) + length);
        CHECK(messages.is(5, copy.data(), length));
        CHECK(messages.is(5 + Messages::contents(length), copy.data(), length));
        CHECK(!messages.is(6, copy.data(), length));
        for (std::size_t bit = 0; bit < length * 8; ++bit) {
            copy[bit / 8] ^= std::byte{1} << (bit % 8);
            CHECK(!messages.is(5, copy.data(), length));
            CHECK_THROWS(Failure, messages.expect(5, copy.data(), length));
            copy[bit / 8] ^= std::byte{1} << (bit % 8);
        }
        CHECK(!messages.is(5, copy.data(), length - 1));
    }
}

static void messages_begin_where_hopcosts_do() {
    const auto offset = [](const void* bytes, std::size_t alignment) {
        return reinterpret_cast<std::uintptr_t>(bytes) % alignment;
    };
    for (const std::size_t length : {1, 64, 129, 4095, 4096, 32'768, 65'507}) {
        const std::size_t alignment = length < page ? cache_line : page;
        const Messages messages(length);
        for (const std::uint64_t sequence : {1, 2, 3}) CHECK(offset(messages.at(sequence), alignment) == 0);
        CHECK(offset(Buffer(length).data(), std::max(alignment, 2 * cache_line)) == 0);
    }
}

void test_messages() {
    contents_are_the_protocols();
    contents_come_again_sooner_the_longer_they_are();
    any_flipped_bit_is_seen();
    messages_begin_where_hopcosts_do();
}
