#include "messages.hpp"

#include <string>

#include "failure.hpp"

namespace {

std::size_t stride(std::size_t payload) {
    const std::size_t unit = payload < page ? cache_line : page;
    return (payload + unit - 1) / unit * unit;
}

void fill(std::byte* bytes, std::size_t length, std::uint64_t sequence) {
    std::uint64_t word = sequence * 0x9E3779B97F4A7C15;
    for (std::size_t at = 0; at < length; ++at) {
        bytes[at] = static_cast<std::byte>(word >> (at % 8 * 8));
        if (at % 8 == 7) ++word;
    }
}

}  // namespace

std::uint64_t Messages::contents(std::size_t payload) {
    std::uint64_t count = 256;
    while (count > 4 && count * payload > 16 * 1024) count /= 2;
    return count;
}

Messages::Messages(std::size_t payload)
    : payload_(payload),
      last_(contents(payload) - 1),
      stride_(stride(payload)),
      bytes_((last_ + 1) * stride_) {
    for (std::uint64_t sequence = 0; sequence <= last_; ++sequence)
        fill(bytes_.data() + sequence * stride_, payload_, sequence);
}

void Messages::unexpected(std::uint64_t sequence, std::size_t length) const {
    const std::string number = "message " + std::to_string(sequence);
    if (length == payload_) throw Failure(number + " did not arrive as it was sent");
    throw Failure(number + " arrived with " + std::to_string(length) + " bytes instead of " +
                  std::to_string(payload_));
}
