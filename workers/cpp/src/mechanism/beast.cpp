// `websocket-beast`: Boost.Beast's stream over the adopted socket, with the
// synchronous calls: no event loop, no hidden thread.
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/version.hpp>

#include "failure.hpp"
#include "links.hpp"
#include "mechanism.hpp"
#include "messages.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;

class Beast {
public:
    Beast(const Half& half, const Subject& subject, Role role) : messages_(subject.payload) {
        const int socket = half.descriptors.at(0);
        set_nodelay(socket, true);
        stream_.next_layer().assign(asio::ip::tcp::v4(), socket);
        stream_.binary(true);
        stream_.auto_fragment(false);
        buffer_.reserve(messages_.payload() + read_at_least);
        error_code error;
        if (role == Role::caller)
            stream_.handshake("127.0.0.1", "/", error);
        else
            stream_.accept(error);
        if (error) throw failed("WebSocket handshake", error);
    }

    void send(std::uint64_t sequence) {
        error_code error;
        stream_.write(asio::buffer(messages_.at(sequence), messages_.payload()), error);
        if (error) throw failed("writing a WebSocket message", error);
    }

    void receive(std::uint64_t sequence) {
        buffer_.consume(buffer_.size());
        error_code error;
        stream_.read(buffer_, error);
        if (error) throw failed("reading a WebSocket message", error);
        if (!stream_.got_binary()) throw Failure("a WebSocket message is not binary");
        messages_.expect(sequence, buffer_.cdata().data(), buffer_.size());
    }

private:
    // What the library asks the buffer for beyond the message.
    static constexpr std::size_t read_at_least = 2048;

    static Failure failed(const char* doing, const error_code& error) {
        const bool closed = error == asio::error::eof || error == asio::error::connection_reset ||
                            error == asio::error::broken_pipe || error == websocket::error::closed ||
                            error == beast::http::error::end_of_stream;
        if (closed) return peer_closed();
        return Failure(std::string(doing) + ": " + error.message());
    }

    asio::io_context context_{1};
    websocket::stream<asio::ip::tcp::socket> stream_{context_};
    Messages messages_;
    beast::flat_buffer buffer_;
};

}  // namespace

Mechanism beast_mechanism() {
    const auto boost = std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) +
                       "." + std::to_string(BOOST_VERSION % 100);
    return {"websocket-beast", 2, attach_channel<Beast>, [](const Subject&) { return halves(tcp_pair()); },
            {{"boost", boost}, {"boost-beast", std::to_string(BOOST_BEAST_VERSION)}}};
}
