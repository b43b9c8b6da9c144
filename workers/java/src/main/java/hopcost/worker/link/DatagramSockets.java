package hopcost.worker.link;

import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/** Connected UDP sockets over loopback. */
public final class DatagramSockets {
    /** More than any token has, so that a longer datagram is not taken for it. */
    private static final int TOKEN_BYTES = 4096;

    private DatagramSockets() {}

    /** This end of a pair of connected sockets. */
    public static Opening<DatagramChannel> udp(LinkHalf link) throws IOException {
        if (link instanceof LinkHalf.Offer offer) {
            DatagramChannel channel = bound();
            InetSocketAddress bound = (InetSocketAddress) channel.getLocalAddress();
            Token token = Token.of(offer.token());
            return new Opening.Offered<>("127.0.0.1:" + bound.getPort(), () -> {
                ByteBuffer received = ByteBuffer.allocate(TOKEN_BYTES);
                SocketAddress sender = channel.receive(received);
                token.expect(received.flip());
                return channel.connect(sender);
            });
        }
        if (link instanceof LinkHalf.Connect connect) {
            DatagramChannel channel = bound().connect(StreamSockets.loopback(connect.address()));
            Token token = Token.of(connect.token());
            try {
                token.sendOver(channel);
            } catch (IOException error) {
                String reason = "sending the token to " + connect.address() + ": " + error.getMessage();
                throw new WorkerFailure(reason, error);
            }
            return new Opening.Open<>(channel);
        }
        throw StreamSockets.notByAddress();
    }

    /** Two sockets connected to each other. */
    public static Ends<DatagramChannel> pair() throws IOException {
        DatagramChannel caller = bound();
        DatagramChannel callee = bound();
        caller.connect(callee.getLocalAddress());
        callee.connect(caller.getLocalAddress());
        return new Ends<>(caller, callee);
    }

    private static DatagramChannel bound() throws IOException {
        return DatagramChannel.open(StandardProtocolFamily.INET).bind(StreamSockets.anyPort());
    }
}
