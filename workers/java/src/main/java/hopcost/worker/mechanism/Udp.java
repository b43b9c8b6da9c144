package hopcost.worker.mechanism;

import hopcost.worker.link.DatagramSockets;
import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.io.IOException;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/** {@code udp}: two connected DatagramChannels over the loopback interface. */
final class Udp implements ChannelMechanism {
    /** The most that one datagram holds. */
    static final int PAYLOAD_MAX = 65_507;

    /** Messages of the past in a row after which there is something wrong. */
    private static final int STALE_MAX = 10_000;

    /** One end. */
    static final class End implements Channel {
        private final DatagramChannel socket;
        private final Role role;
        private final Contents contents;
        private final ByteBuffer received;

        End(DatagramChannel socket, Role role, Contents contents) {
            this.socket = socket;
            this.role = role;
            this.contents = contents;
            // One byte more, so that a longer datagram is not taken for a message.
            received = ByteBuffer.allocateDirect(contents.payload() + 1);
        }

        @Override
        public void send(long sequence) throws IOException {
            try {
                socket.write(contents.message(sequence));
            } catch (PortUnreachableException gone) {
                throw WorkerFailure.peerGone();
            }
        }

        @Override
        public void receive(long sequence) throws IOException {
            next();
            if (!contents.matches(received, sequence)) {
                despiteOldOnes(sequence);
            }
        }

        private void next() throws IOException {
            try {
                socket.read(received.clear());
                received.flip();
            } catch (PortUnreachableException gone) {
                throw WorkerFailure.peerGone();
            }
        }

        /** What has been answered already is answered again, an answer that comes again skipped. */
        private void despiteOldOnes(long sequence) throws IOException {
            for (int old = 0; old < STALE_MAX && contents.matches(received, sequence - 2); old++) {
                if (role == Role.CALLEE) {
                    send(sequence - 1);
                }
                next();
                if (contents.matches(received, sequence)) {
                    return;
                }
            }
            throw HandOver.corrupted(sequence);
        }
    }

    @Override
    public Facts facts() {
        return Facts.roundtrip("udp", "inet socket", "two connected UDP sockets over loopback (127.0.0.1): a blocking DatagramChannel", "process", "thread")
                .payload(1, PAYLOAD_MAX, 64)
                .carriedBy("address")
                .crosses("one datagram a message, through the loopback device")
                .copies("the kernel, twice a message: from a direct ByteBuffer into a socket buffer, from there into another one; Java adds none")
                .wakes("the kernel: the softirq that the send raises delivers the datagram and wakes the sleeping receiver")
                .betweenStamps("DatagramChannel.write (its lock, JNI, sendto(2) with the whole way through the network stack), DatagramChannel.read (recvfrom(2)), the comparison; the same on the other side")
                .limits("1 to 65,507 bytes: a DatagramChannel that is connected does not send empty datagrams by write; a caller waits for its reply without a time-out, so a lost datagram ends the trial at its deadline; a callee answers again what comes a second time")
                .systemCalls(4, 4.5)
                .sources("udp(7)", "send(2)", "recv(2)", "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/nio/channels/DatagramChannel.html");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws Exception {
        Contents contents = new Contents(subject.payload());
        Ends<DatagramChannel> sockets = DatagramSockets.pair();
        return new Ends<>(
                new End(sockets.caller(), Role.CALLER, contents),
                new End(sockets.callee(), Role.CALLEE, contents.forAnotherEnd()));
    }

    @Override
    public Opening<Channel> open(Case subject, Role role, LinkHalf link) throws Exception {
        Contents contents = new Contents(subject.payload());
        return DatagramSockets.udp(link).then(socket -> new End(socket, role, contents));
    }
}
