package hopcost.worker.mechanism;

import hopcost.worker.link.DatagramSockets;
import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.workload.Call;
import hopcost.worker.workload.Contents;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/**
 * {@code udp-send}: send a datagram to a socket that nobody reads and whose receive buffer is full
 * before the first operation, so that the kernel drops every one of them at the same place.
 */
final class UdpSend implements CallMechanism {
    /** Datagrams sent beforehand: far more than fit a receive buffer of the least size. */
    private static final int FILL = 256;

    @Override
    public Facts facts() {
        return Facts.call("udp-send", "call", "send a UDP datagram over loopback that nobody reads (DatagramChannel)")
                .payload(1, Udp.PAYLOAD_MAX, 64)
                .crosses("one datagram, through the loopback device up to the receiving socket, whose full buffer it does not enter")
                .copies("the kernel, once: from a direct ByteBuffer into a socket buffer, which it then frees")
                .wakes("nobody")
                .betweenStamps("batches of DatagramChannel.write on a connected channel: its lock, JNI, sendto(2) with the whole way to the drop")
                .limits("1 to 65,507 bytes: a DatagramChannel that is connected does not send empty datagrams by write; the receiver is a channel of the same process that is never read")
                .sources("udp(7)", "send(2)", "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/nio/channels/DatagramChannel.html");
    }

    @Override
    public Call open(Case subject) throws Exception {
        Ends<DatagramChannel> ends = DatagramSockets.pair();
        // The kernel raises this to its least.
        ends.callee().setOption(StandardSocketOptions.SO_RCVBUF, 1);
        Call send = new Sending(ends, new Contents(subject.payload()).message(1));
        for (int sent = 0; sent < FILL; sent++) {
            send.call(0);
        }
        return send;
    }

    /** Holds on to the receiver, so that its port stays bound. */
    record Sending(Ends<DatagramChannel> ends, ByteBuffer message) implements Call {
        @Override
        public long call(long x) throws Exception {
            return x + ends.caller().write(message.clear());
        }
    }
}
