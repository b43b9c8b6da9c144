// Links that this worker makes itself, for two of its own threads: the caller's
// end first.
#pragma once

#include <array>
#include <string>

#include "mechanism.hpp"

using DescriptorPair = std::array<Descriptor, 2>;

// Two pipes; each end gets the one it reads from and the one it writes to.
[[nodiscard]] Link pipes();
// A TCP connection over 127.0.0.1.
[[nodiscard]] DescriptorPair tcp_pair();
// Two UDP sockets of 127.0.0.1, connected to each other.
[[nodiscard]] DescriptorPair udp_pair();
// A Unix stream socket, bound to a name in this directory, connected, accepted.
[[nodiscard]] DescriptorPair unix_stream_pair(const std::string& directory);
// Two Unix datagram sockets, each bound to a name there and connected to the other.
[[nodiscard]] DescriptorPair unix_dgram_pair(const std::string& directory);
[[nodiscard]] DescriptorPair unix_seqpacket_pair();

// A connected pair as a link.
[[nodiscard]] Link halves(DescriptorPair pair);

// Sets TCP_NODELAY as the case's `nodelay` says, `on` if it does not.
void set_nodelay(const Descriptor& socket, const Case& subject);
