#include "links.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failure.hpp"

int check(int result, const char* doing) {
    if (result < 0) throw system_failure(doing);
    return result;
}

namespace {

// A socket that is bound to a port of 127.0.0.1, which the kernel chooses.
int bound_socket(int type) {
    const int bound = check(socket(AF_INET, type | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
    return bound;
}

sockaddr_in address_of(int socket) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    check(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
    return address;
}

void connect_to(int socket, int other) {
    const sockaddr_in address = address_of(other);
    check(connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
}

}  // namespace

Link pipes() {
    int request[2], reply[2];
    check(pipe2(request, O_CLOEXEC), "pipe2");
    check(pipe2(reply, O_CLOEXEC), "pipe2");
    return {{{reply[0], request[1]}, nullptr}, {{request[0], reply[1]}, nullptr}};
}

std::array<int, 2> unix_pair(int type) {
    std::array<int, 2> pair{};
    check(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()), "socketpair");
    return pair;
}

std::array<int, 2> tcp_pair() {
    const int listener = bound_socket(SOCK_STREAM);
    check(listen(listener, 16), "listen");
    const int caller = bound_socket(SOCK_STREAM);
    connect_to(caller, listener);
    for (;;) {
        sockaddr_in from{};
        socklen_t length = sizeof from;
        const int callee = check(accept4(listener, reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC), "accept");
        // Any process of this machine could have connected first.
        if (from.sin_port == address_of(caller).sin_port) {
            close(listener);
            return {caller, callee};
        }
        close(callee);
    }
}

std::array<int, 2> udp_pair() {
    const int caller = bound_socket(SOCK_DGRAM);
    const int callee = bound_socket(SOCK_DGRAM);
    connect_to(caller, callee);
    connect_to(callee, caller);
    return {caller, callee};
}

Link halves(std::array<int, 2> pair) { return {{{pair[0]}, nullptr}, {{pair[1]}, nullptr}}; }

void set_nodelay(int socket, bool is_on) {
    const int value = is_on;
    check(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value), "TCP_NODELAY");
}
