#include "sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "failure.hpp"

namespace {

void check(int result, const char* doing) {
    if (result < 0) throw system_failure(doing);
}

Descriptor new_socket(int family, int type) {
    return opened(socket(family, type | SOCK_CLOEXEC, 0), "socket");
}

template <class Address>
void bind_to(const Descriptor& socket, const Address& address) {
    check(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
}

template <class Address>
void connect_to(const Descriptor& socket, const Address& address) {
    check(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
}

// A port of 127.0.0.1 that the kernel chooses.
sockaddr_in loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

sockaddr_in own_address(const Descriptor& socket) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    check(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
    return address;
}

bool same(const sockaddr_in& a, const sockaddr_in& b) {
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
}

// A name for a socket that is removed again: a connection refers to the socket
// and not to its name.
class Name {
public:
    Name(const std::string& directory, const char* kind) {
        const auto folder =
            directory.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(directory);
        path_ = folder / ("hopcost-cpp-" + std::to_string(getpid()) + "-" + kind);
        if (path_.native().size() >= sizeof(sockaddr_un::sun_path))
            throw Failure("a socket's name would be too long: " + path_.string());
    }
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;
    ~Name() { unlink(path_.c_str()); }

    [[nodiscard]] sockaddr_un address() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path_.c_str(), path_.native().size());
        return address;
    }

private:
    std::filesystem::path path_;
};

Half one(Descriptor a) {
    Half half;
    half.descriptors.push_back(std::move(a));
    return half;
}

Half two(Descriptor incoming, Descriptor outgoing) {
    Half half = one(std::move(incoming));
    half.descriptors.push_back(std::move(outgoing));
    return half;
}

DescriptorPair new_pipe() {
    int ends[2];
    check(pipe2(ends, O_CLOEXEC), "pipe2");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

Link pipes() {
    auto [request_in, request_out] = new_pipe();
    auto [reply_in, reply_out] = new_pipe();
    return {two(std::move(reply_in), std::move(request_out)), two(std::move(request_in), std::move(reply_out))};
}

DescriptorPair tcp_pair() {
    const Descriptor listener = new_socket(AF_INET, SOCK_STREAM);
    bind_to(listener, loopback());
    check(listen(listener.get(), 16), "listen");
    Descriptor caller = new_socket(AF_INET, SOCK_STREAM);
    connect_to(caller, own_address(listener));
    for (;;) {
        sockaddr_in from{};
        socklen_t length = sizeof from;
        Descriptor callee = opened(
            accept4(listener.get(), reinterpret_cast<sockaddr*>(&from), &length, SOCK_CLOEXEC), "accept");
        // Any process of this machine could have connected first.
        if (same(from, own_address(caller))) return {std::move(caller), std::move(callee)};
    }
}

DescriptorPair udp_pair() {
    Descriptor caller = new_socket(AF_INET, SOCK_DGRAM);
    Descriptor callee = new_socket(AF_INET, SOCK_DGRAM);
    bind_to(caller, loopback());
    bind_to(callee, loopback());
    connect_to(caller, own_address(callee));
    connect_to(callee, own_address(caller));
    return {std::move(caller), std::move(callee)};
}

DescriptorPair unix_stream_pair(const std::string& directory) {
    const Name name(directory, "stream");
    const Descriptor listener = new_socket(AF_UNIX, SOCK_STREAM);
    bind_to(listener, name.address());
    check(listen(listener.get(), 1), "listen");
    Descriptor caller = new_socket(AF_UNIX, SOCK_STREAM);
    // The connection is complete before it is accepted, so one thread can do both.
    connect_to(caller, name.address());
    Descriptor callee = opened(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept");
    return {std::move(caller), std::move(callee)};
}

DescriptorPair unix_dgram_pair(const std::string& directory) {
    const Name of_caller(directory, "caller");
    const Name of_callee(directory, "callee");
    Descriptor caller = new_socket(AF_UNIX, SOCK_DGRAM);
    Descriptor callee = new_socket(AF_UNIX, SOCK_DGRAM);
    bind_to(caller, of_caller.address());
    bind_to(callee, of_callee.address());
    connect_to(caller, of_callee.address());
    connect_to(callee, of_caller.address());
    return {std::move(caller), std::move(callee)};
}

DescriptorPair unix_seqpacket_pair() {
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Link halves(DescriptorPair pair) { return {one(std::move(pair[0])), one(std::move(pair[1]))}; }

void set_nodelay(const Descriptor& socket, const Case& subject) {
    const std::string nodelay = subject.value("nodelay", "on");
    if (nodelay != "on" && nodelay != "off") throw Failure("nodelay is `on` or `off`, not `" + nodelay + "`");
    const int value = nodelay == "on";
    check(setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &value, sizeof value), "TCP_NODELAY");
}
