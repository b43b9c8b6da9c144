package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.link.StreamSockets;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.channels.SocketChannel;

/** {@code unix-stream}: blocking SocketChannels of the Unix domain. */
final class UnixStream implements ChannelMechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("unix-stream", "unix socket", "a Unix stream socket: a blocking SocketChannel bound to a path, connected and accepted", "process", "thread")
                .payload(1, PAYLOAD_MAX, 64)
                .carriedBy("address")
                .crosses("the message's bytes, in socket buffers queued at the receiving socket")
                .copies("the kernel, twice a message: from a direct ByteBuffer into a socket buffer, from there into another one; Java adds none")
                .wakes("the kernel wakes the sleeping reader from within write(2)")
                .betweenStamps("SocketChannel.write (its lock, the note of the thread that may have to be woken, JNI, write(2)), SocketChannel.read, the comparison; the same on the other side; connecting and accepting are over before")
                .limits("1 byte to 64 KiB; a path of at most 107 bytes")
                .systemCalls(4, 4.5)
                .sources("unix(7)", "https://openjdk.org/jeps/380");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws Exception {
        Contents contents = new Contents(subject.payload());
        Ends<SocketChannel> sockets = StreamSockets.unixPair();
        return new Ends<>(
                over(sockets.caller(), contents), over(sockets.callee(), contents.forAnotherEnd()));
    }

    @Override
    public Opening<Channel> open(Case subject, Role role, LinkHalf link) throws Exception {
        Contents contents = new Contents(subject.payload());
        return StreamSockets.unix(link).then(socket -> over(socket, contents));
    }

    private static Channel over(SocketChannel socket, Contents contents) {
        return new ByteStream(socket, socket, contents);
    }
}
