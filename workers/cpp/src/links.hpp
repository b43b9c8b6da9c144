// Links that this worker makes itself, for two of its own threads: the caller's end first.
#pragma once

#include <array>

#include "mechanism.hpp"

// Two pipes; each end gets the one it reads from and the one it writes to.
[[nodiscard]] Link pipes();
// A pair of connected Unix sockets of this type (SOCK_STREAM, …).
[[nodiscard]] std::array<int, 2> unix_pair(int type);
// A TCP connection over 127.0.0.1.
[[nodiscard]] std::array<int, 2> tcp_pair();
// Two UDP sockets of 127.0.0.1, connected to each other.
[[nodiscard]] std::array<int, 2> udp_pair();

// A connected pair as a link.
[[nodiscard]] Link halves(std::array<int, 2> pair);

void set_nodelay(int socket, bool is_on);

// The result of a system call; throws where it failed.
int check(int result, const char* doing);
