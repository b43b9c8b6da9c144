package hopcost.worker;

import hopcost.worker.Task.Role;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.json.JSONObject;

/** Sockets that are connected by address, and pairs of them. */
final class Links {
    /** More than any token has, so that a longer datagram is not taken for it. */
    private static final int TOKEN_BYTES_MAX = 4096;

    private Links() {}

    /**
     * An end of a link to be opened; where it offers an address, that waits for the one who knows the
     * token.
     */
    record Link<T>(String offers, Callable<T> opening) {
        /** A link that is open. */
        static <T> Link<T> open(T end) {
            return new Link<>(null, () -> end);
        }

        /** Makes something of the connected end. */
        interface Step<T, R> {
            R apply(T end) throws Exception;
        }

        /** The same link with something made of its end, as soon as it is connected. */
        <R> Link<R> then(Step<T, R> step) {
            return new Link<>(offers, () -> step.apply(opening.call()));
        }
    }

    /** Both ends of a link that the worker has made itself. */
    record Ends<T>(T caller, T callee) {
        T of(Role role) {
            return role == Role.CALLER ? caller : callee;
        }
    }

    /** This end of a TCP connection. */
    static Link<SocketChannel> tcp(JSONObject half) throws IOException {
        if (!half.has("offer")) {
            JSONObject connect = half.getJSONObject("connect");
            SocketAddress address = loopback(connect.getString("address"));
            return new Link<>(null, () -> connected(SocketChannel.open(), address, token(connect)));
        }
        ServerSocketChannel listener = ServerSocketChannel.open().bind(anyPort());
        ByteBuffer token = token(half.getJSONObject("offer"));
        return new Link<>(spelled(listener.getLocalAddress()), () -> accepted(listener, token));
    }

    /** This end of a connection of Unix stream sockets. */
    static Link<SocketChannel> unix(JSONObject half) throws IOException {
        if (!half.has("offer")) {
            JSONObject connect = half.getJSONObject("connect");
            SocketAddress address = UnixDomainSocketAddress.of(connect.getString("address"));
            SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
            return new Link<>(null, () -> connected(socket, address, token(connect)));
        }
        JSONObject offer = half.getJSONObject("offer");
        Path path = Path.of(offer.getString("directory"), "java-" + ProcessHandle.current().pid());
        ServerSocketChannel listener = unixListener(path);
        return new Link<>(path.toString(), () -> {
            try {
                return accepted(listener, token(offer));
            } finally {
                Files.deleteIfExists(path);
            }
        });
    }

    /** This end of a pair of connected UDP sockets. */
    static Link<DatagramChannel> udp(JSONObject half) throws IOException {
        DatagramChannel socket = boundDatagrams();
        if (!half.has("offer")) {
            JSONObject connect = half.getJSONObject("connect");
            return new Link<>(null, () -> {
                socket.connect(loopback(connect.getString("address"))).write(token(connect));
                return socket;
            });
        }
        ByteBuffer token = token(half.getJSONObject("offer"));
        return new Link<>(spelled(socket.getLocalAddress()), () -> {
            ByteBuffer received = ByteBuffer.allocate(TOKEN_BYTES_MAX);
            SocketAddress sender = socket.receive(received);
            expect(token, received.flip());
            return socket.connect(sender);
        });
    }

    /** Both ends of a TCP connection. */
    static Ends<SocketChannel> tcpPair() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(anyPort())) {
            SocketChannel caller = SocketChannel.open(listener.getLocalAddress());
            while (true) {
                SocketChannel callee = listener.accept();
                // Any process of this machine could have connected first.
                if (callee.getRemoteAddress().equals(caller.getLocalAddress())) {
                    return new Ends<>(caller, callee);
                }
                callee.close();
            }
        }
    }

    /** Both ends of a connection of Unix stream sockets. */
    static Ends<SocketChannel> unixPair() throws IOException {
        // A directory that nobody else can enter: nobody else can connect.
        Path directory = Files.createTempDirectory("hopcost-java-");
        Path path = directory.resolve("socket");
        try (ServerSocketChannel listener = unixListener(path)) {
            // The connection is complete before it is accepted, so one thread can do both.
            SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(path));
            return new Ends<>(caller, listener.accept());
        } finally {
            Files.deleteIfExists(path);
            Files.delete(directory);
        }
    }

    /** Two UDP sockets connected to each other. */
    static Ends<DatagramChannel> udpPair() throws IOException {
        DatagramChannel caller = boundDatagrams();
        DatagramChannel callee = boundDatagrams();
        caller.connect(callee.getLocalAddress());
        callee.connect(caller.getLocalAddress());
        return new Ends<>(caller, callee);
    }

    private static DatagramChannel boundDatagrams() throws IOException {
        return DatagramChannel.open(StandardProtocolFamily.INET).bind(anyPort());
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static ServerSocketChannel unixListener(Path path) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
    }

    private static String spelled(SocketAddress bound) {
        return "127.0.0.1:" + ((InetSocketAddress) bound).getPort();
    }

    /** The address that `127.0.0.1:4711` spells. */
    private static InetSocketAddress loopback(String address) {
        int colon = address.lastIndexOf(':');
        int port = Integer.parseInt(address.substring(colon + 1));
        return new InetSocketAddress(address.substring(0, colon), port);
    }

    /** What the one who connects sends first, so that nobody else is taken for him. */
    private static ByteBuffer token(JSONObject half) {
        return ByteBuffer.wrap(half.getString("token").getBytes(StandardCharsets.UTF_8));
    }

    private static SocketChannel connected(SocketChannel socket, SocketAddress address, ByteBuffer token)
            throws IOException {
        socket.connect(address);
        while (token.hasRemaining()) {
            socket.write(token);
        }
        return socket;
    }

    /** Reads as many bytes as the token has and none beyond them. */
    private static SocketChannel accepted(ServerSocketChannel listener, ByteBuffer token) throws IOException {
        try (listener) {
            SocketChannel socket = listener.accept();
            ByteBuffer received = ByteBuffer.allocate(token.remaining());
            while (received.hasRemaining()) {
                if (socket.read(received) < 0) {
                    throw new WorkerFailure("the one who connected left before it had sent the token");
                }
            }
            expect(token, received.flip());
            return socket;
        }
    }

    private static void expect(ByteBuffer token, ByteBuffer received) throws WorkerFailure {
        if (!received.equals(token)) {
            throw new WorkerFailure("the one who connected does not know the token");
        }
    }
}
