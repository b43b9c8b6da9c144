package hopcost.worker.link;

import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** Connected stream sockets: of TCP over loopback, and of the Unix domain. */
public final class StreamSockets {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private StreamSockets() {}

    /** This end of a TCP connection. */
    public static Opening<SocketChannel> tcp(LinkHalf link) throws IOException {
        if (link instanceof LinkHalf.Offer offer) {
            ServerSocketChannel listener = ServerSocketChannel.open().bind(anyPort());
            InetSocketAddress bound = (InetSocketAddress) listener.getLocalAddress();
            Token token = Token.of(offer.token());
            return new Opening.Offered<>("127.0.0.1:" + bound.getPort(), () -> {
                try (listener) {
                    return accept(listener, token);
                }
            });
        }
        if (link instanceof LinkHalf.Connect connect) {
            InetSocketAddress address = loopback(connect.address());
            return new Opening.Open<>(connect(SocketChannel.open(), address, connect.token()));
        }
        throw notByAddress();
    }

    /** This end of a connection of Unix stream sockets. */
    public static Opening<SocketChannel> unix(LinkHalf link) throws IOException {
        if (link instanceof LinkHalf.Offer offer) {
            Path path = freshPath(Path.of(offer.directory()));
            ServerSocketChannel listener = unixListener(path);
            Token token = Token.of(offer.token());
            return new Opening.Offered<>(path.toString(), () -> {
                try (listener) {
                    return accept(listener, token);
                } finally {
                    Files.deleteIfExists(path);
                }
            });
        }
        if (link instanceof LinkHalf.Connect connect) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            SocketAddress address = UnixDomainSocketAddress.of(connect.address());
            return new Opening.Open<>(connect(channel, address, connect.token()));
        }
        throw notByAddress();
    }

    /** Both ends of a TCP connection. */
    public static Ends<SocketChannel> tcpPair() throws IOException {
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
    public static Ends<SocketChannel> unixPair() throws IOException {
        // A directory that nobody else can enter: nobody else can connect.
        Path directory = Files.createTempDirectory("hopcost-java-");
        Path path = freshPath(directory);
        try (ServerSocketChannel listener = unixListener(path)) {
            // The connection is complete before it is accepted, so one thread can do both.
            SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(path));
            return new Ends<>(caller, listener.accept());
        } finally {
            Files.deleteIfExists(path);
            Files.delete(directory);
        }
    }

    static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /** The address that `127.0.0.1:4711` spells. */
    static InetSocketAddress loopback(String address) throws WorkerFailure {
        int colon = address.lastIndexOf(':');
        try {
            int port = Integer.parseInt(address.substring(colon + 1));
            return new InetSocketAddress(address.substring(0, Math.max(0, colon)), port);
        } catch (IllegalArgumentException error) {
            throw new WorkerFailure("`" + address + "` is no address such as 127.0.0.1:4711", error);
        }
    }

    static WorkerFailure notByAddress() {
        return new WorkerFailure("Java cannot inherit a socket: it needs an address to offer or to connect to");
    }

    private static SocketChannel connect(SocketChannel channel, SocketAddress address, String token)
            throws IOException {
        try {
            channel.connect(address);
            Token.of(token).sendOver(channel);
            return channel;
        } catch (IOException error) {
            throw new WorkerFailure("connecting to " + address + ": " + error.getMessage(), error);
        }
    }

    private static SocketChannel accept(ServerSocketChannel listener, Token token) throws IOException {
        SocketChannel channel = listener.accept();
        token.expectFrom(channel);
        return channel;
    }

    private static ServerSocketChannel unixListener(Path path) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            return listener.bind(UnixDomainSocketAddress.of(path));
        } catch (IOException error) {
            throw new WorkerFailure("binding a socket to " + path + ": " + error.getMessage(), error);
        }
    }

    private static Path freshPath(Path directory) {
        long process = ProcessHandle.current().pid();
        return directory.resolve("java-" + process + "-" + NAMES.incrementAndGet());
    }
}
