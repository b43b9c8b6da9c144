// `websocket`: WebSocket++ on standalone Asio. Each end has an io_context of its
// own and runs it on its own thread, a handler at a time, so that there is no
// hidden thread; the adopted socket takes the place of connecting and accepting.
//
// `websocket-threaded`: the same with a thread beside the end's own that runs the
// io_context, as most programs use the library. A server with `answer=handler`
// has none: it answers in the thread in which the library calls its handler.
#include <asio.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <websocketpp/client.hpp>
#include <websocketpp/config/asio_no_tls.hpp>
#include <websocketpp/config/asio_no_tls_client.hpp>
#include <websocketpp/server.hpp>
#include <websocketpp/version.hpp>

#include "failure.hpp"
#include "links.hpp"
#include "mechanism.hpp"
#include "messages.hpp"

namespace {

namespace opcode = websocketpp::frame::opcode;

// The library's own manager of messages, but for one thing: it remembers the last
// outgoing message, which the library drops as soon as it is written. Nothing
// else tells when that is, and a callee must not leave a phase before.
template <class Message>
class WatchingManager : public websocketpp::message_buffer::alloc::con_msg_manager<Message> {
    using Base = websocketpp::message_buffer::alloc::con_msg_manager<Message>;

public:
    using ptr = std::shared_ptr<WatchingManager>;
    using weak_ptr = std::weak_ptr<WatchingManager>;
    using message_ptr = typename Message::ptr;
    using Base::get_message;

    message_ptr get_message() {
        auto message = Base::get_message();
        outgoing = message;
        return message;
    }

    // Of the thread's one connection.
    inline static thread_local std::weak_ptr<Message> outgoing;
};

template <class Base>
struct Config : Base {
    using con_msg_manager_type = WatchingManager<typename Base::message_type>;
    using endpoint_msg_manager_type =
        websocketpp::message_buffer::alloc::endpoint_msg_manager<con_msg_manager_type>;
};

using Client = websocketpp::client<Config<websocketpp::config::asio_client>>;
using Server = websocketpp::server<Config<websocketpp::config::asio>>;

Client::connection_ptr new_connection(Client& client) {
    websocketpp::lib::error_code error;
    auto connection = client.get_connection("ws://127.0.0.1/", error);
    if (error) throw Failure("a WebSocket client: " + error.message());
    return connection;
}

Server::connection_ptr new_connection(Server& server) {
    auto connection = server.get_connection();
    if (!connection) throw Failure("there is no WebSocket server");
    return connection;
}

template <class Endpoint>
class WebSocket {
    using MessagePtr = typename Endpoint::message_ptr;

public:
    WebSocket(const Half& half, const Subject& subject, Role) : messages_(subject.payload) {
        const int socket = half.descriptors.at(0);
        set_nodelay(socket, true);
        // By default the library logs to standard output, which is the protocol's.
        endpoint_.clear_access_channels(websocketpp::log::alevel::all);
        endpoint_.clear_error_channels(websocketpp::log::elevel::all);
        endpoint_.init_asio(&context_);
        connection_ = new_connection(endpoint_);
        connection_->get_raw_socket().assign(asio::ip::tcp::v4(), socket);
        connection_->set_message_handler([this](auto, MessagePtr message) { take(std::move(message)); });
        connection_->set_fail_handler([this](auto) { is_over_ = true; });
        connection_->set_close_handler([this](auto) { is_over_ = true; });
        connection_->start();
        while (connection_->get_state() != websocketpp::session::state::open) run_one();
        // The server is open before its answer is written.
        while (!outgoing().expired()) run_one();
    }

    void send(std::uint64_t sequence) {
        const auto error = connection_->send(messages_.at(sequence), messages_.payload(), opcode::binary);
        if (error) throw failed(error);
        while (!outgoing().expired()) run_one();
    }

    void receive(std::uint64_t sequence) {
        while (!message_) run_one();
        look_at(sequence);
    }

protected:
    static auto& outgoing() { return WatchingManager<typename MessagePtr::element_type>::outgoing; }

    void run_one() {
        if (context_.run_one() == 0 || is_over_) throw failed(connection_->get_ec());
    }

    void look_at(std::uint64_t sequence) {
        const auto& payload = message_->get_payload();
        if (message_->get_opcode() != opcode::binary) throw Failure("a WebSocket message is not binary");
        messages_.expect(sequence, payload.data(), payload.size());
        message_.reset();
    }

    void take(MessagePtr message) {
        if (message_) throw Failure("a WebSocket message came before the last one was looked at");
        message_ = std::move(message);
    }

    Failure failed(const websocketpp::lib::error_code& error) const {
        namespace transport = websocketpp::transport::error;
        const bool closed = is_over_ && (!error || error == make_error_code(transport::eof) ||
                                         connection_->get_transport_ec() == asio::error::connection_reset ||
                                         connection_->get_transport_ec() == asio::error::broken_pipe);
        if (closed) return peer_closed();
        return Failure("WebSocket: " + error.message());
    }

    asio::io_context context_;
    Endpoint endpoint_;
    typename Endpoint::connection_ptr connection_;
    Messages messages_;
    MessagePtr message_;
    bool is_over_ = false;
};

// The library's thread reads and writes; the end's own hands messages over and waits
// for them with a mutex and a condition variable.
template <class Endpoint>
class Threaded : private WebSocket<Endpoint> {
    using Base = WebSocket<Endpoint>;
    using MessagePtr = typename Endpoint::message_ptr;

public:
    Threaded(const Half& half, const Subject& subject, Role role) : Base(half, subject, role) {
        auto& connection = *this->connection_;
        connection.set_message_handler([this](auto, MessagePtr message) {
            tell([&] { this->take(std::move(message)); });
        });
        const auto over = [this](auto) { tell([&] { this->is_over_ = true; }); };
        connection.set_fail_handler(over);
        connection.set_close_handler(over);
        // It lives as long as the process.
        std::thread([this] { run(); }).detach();
    }

    void send(std::uint64_t sequence) {
        const auto& messages = this->messages_;
        const auto error = this->connection_->send(messages.at(sequence), messages.payload(), opcode::binary);
        if (!error) return;
        const std::lock_guard lock(mutex_);
        throw this->failed(error);
    }

    void receive(std::uint64_t sequence) {
        {
            std::unique_lock lock(mutex_);
            told_.wait(lock, [this] { return this->message_ || this->is_over_; });
            if (!this->message_) throw failure_ ? *failure_ : this->failed(this->connection_->get_ec());
        }
        // The next one comes only after this one is answered.
        this->look_at(sequence);
    }

private:
    template <class Change>
    void tell(const Change& change) {
        const std::lock_guard lock(mutex_);
        change();
        told_.notify_one();
    }

    void run() try {
        this->context_.run();
    } catch (const Failure& failure) {
        tell([&] { failure_ = failure, this->is_over_ = true; });
    }

    std::mutex mutex_;
    std::condition_variable told_;
    // Why the library's thread has ended.
    std::optional<Failure> failure_;
};

End attach_threaded(const Half& half, const Subject& subject, Role role) {
    if (subject.parameters.at("answer") == "handler")
        return attach_channel<Threaded<Client>, WebSocket<Server>>(half, subject, role);
    return attach_channel<Threaded<Client>, Threaded<Server>>(half, subject, role);
}

std::string version(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

std::vector<Mechanism> websocketpp_mechanisms() {
    namespace library = websocketpp;
    const auto open = [](const Subject&) { return halves(tcp_pair()); };
    return {{"websocket", 2, attach_channel<WebSocket<Client>, WebSocket<Server>>, open,
             {{"websocketpp", version(library::major_version, library::minor_version, library::patch_version)},
              {"asio", version(ASIO_VERSION / 100'000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100)}}},
            {"websocket-threaded", 1, attach_threaded, open}};
}
