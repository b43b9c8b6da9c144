package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.link.StreamSockets;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/** {@code tcp}: blocking SocketChannels over the loopback interface. */
final class Tcp implements ChannelMechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("tcp", "inet socket", "a TCP connection over loopback (127.0.0.1): a blocking SocketChannel", "process", "thread")
                .payload(1, PAYLOAD_MAX, 64)
                .onOff("nodelay", "on", "TCP_NODELAY at this end; off leaves Nagle's algorithm on")
                .carriedBy("address")
                .crosses("the message's bytes, as segments through the loopback device")
                .copies("the kernel, twice a message: from a direct ByteBuffer into a socket buffer, from there into another one; Java adds none")
                .wakes("the kernel: the softirq that the write raises delivers the segment and wakes the sleeping reader")
                .betweenStamps("SocketChannel.write (its lock, the note of the thread that may have to be woken, JNI, write(2) with the whole way through the network stack), SocketChannel.read, the comparison; the same on the other side; connecting is over before")
                .limits("1 byte to 64 KiB; firewall rules are part of the number")
                .systemCalls(4, 4.5)
                .sources("tcp(7)", "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/nio/channels/SocketChannel.html");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws Exception {
        Contents contents = new Contents(subject.payload());
        boolean nodelay = subject.isOn("nodelay", true);
        Ends<SocketChannel> sockets = StreamSockets.tcpPair();
        return new Ends<>(
                over(set(sockets.caller(), nodelay), contents),
                over(set(sockets.callee(), nodelay), contents.forAnotherEnd()));
    }

    @Override
    public Opening<Channel> open(Case subject, Role role, LinkHalf link) throws Exception {
        Contents contents = new Contents(subject.payload());
        boolean nodelay = subject.isOn("nodelay", true);
        return StreamSockets.tcp(link).then(socket -> over(set(socket, nodelay), contents));
    }

    /** Sets TCP_NODELAY, and sees that it is set. */
    static SocketChannel set(SocketChannel socket, boolean nodelay) throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, nodelay);
        if (socket.getOption(StandardSocketOptions.TCP_NODELAY) != nodelay) {
            throw new WorkerFailure("the kernel did not take the setting of TCP_NODELAY");
        }
        return socket;
    }

    private static Channel over(SocketChannel socket, Contents contents) {
        return new ByteStream(socket, socket, contents);
    }
}
