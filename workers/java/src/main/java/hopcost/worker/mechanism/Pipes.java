package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * {@code pipe}: two pipes, one per direction. An inherited descriptor is opened anew by its name
 * under /proc/self/fd, which for a pipe gives the same pipe (proc(5)).
 */
final class Pipes implements ChannelMechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("pipe", "pipe", "two pipes, one per direction: FileChannel over inherited descriptors, between threads java.nio.channels.Pipe", "process", "thread")
                .payload(1, PAYLOAD_MAX, 64)
                .carriedBy("descriptors")
                .crosses("the message's bytes, through a kernel buffer of 64 KiB per direction")
                .copies("the kernel, twice a message: from a direct ByteBuffer into the pipe's pages, from there into another one; Java adds none")
                .wakes("the kernel wakes the sleeping reader from within write(2)")
                .betweenStamps("FileChannel.write (its lock, the note of the thread that may have to be interrupted, JNI, write(2)), FileChannel.read, the comparison; the same on the other side")
                .limits("1 byte to 64 KiB")
                .systemCalls(4, 4.5)
                .sources("pipe(7)", "proc(5)", "https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/nio/channels/FileChannel.html");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws IOException {
        Contents contents = new Contents(subject.payload());
        Pipe requests = Pipe.open();
        Pipe replies = Pipe.open();
        return new Ends<>(
                new ByteStream(replies.source(), requests.sink(), contents),
                new ByteStream(requests.source(), replies.sink(), contents.forAnotherEnd()));
    }

    @Override
    public Opening<Channel> open(Case subject, Role role, LinkHalf link) throws IOException {
        if (!(link instanceof LinkHalf.Descriptors given) || given.numbers().size() != 2) {
            throw new WorkerFailure("a pipe needs two descriptors, the incoming and the outgoing one");
        }
        return new Opening.Open<>(new ByteStream(
                reopened(given.numbers().get(0), StandardOpenOption.READ),
                reopened(given.numbers().get(1), StandardOpenOption.WRITE),
                new Contents(subject.payload())));
    }

    private static FileChannel reopened(int descriptor, OpenOption direction) throws IOException {
        try {
            return FileChannel.open(Path.of("/proc/self/fd/" + descriptor), direction);
        } catch (IOException error) {
            throw new WorkerFailure("descriptor " + descriptor + " cannot be opened: " + error, error);
        }
    }
}
