package hopcost.worker.workload;

import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Where samples go: an inherited descriptor, taken once and kept open. */
public final class Samples {
    private static final int BUFFER_BYTES = 64 * 1024;

    private final FileChannel channel;

    private Samples(FileChannel channel) {
        this.channel = channel;
    }

    /** Opens the descriptor of this number; with a negative one, samples have nowhere to go. */
    public static Samples of(int descriptor) throws IOException {
        if (descriptor < 0) {
            return new Samples(null);
        }
        Path path = Path.of("/proc/self/fd/" + descriptor);
        try {
            // Appended, because a descriptor opened anew begins at the file's first byte.
            return new Samples(FileChannel.open(path, StandardOpenOption.APPEND));
        } catch (IOException error) {
            throw new WorkerFailure("samples_fd " + descriptor + " cannot be opened: " + error, error);
        }
    }

    /** Writes samples as little-endian words, all of them. */
    public void write(long[] samples) throws IOException {
        if (samples.length == 0) {
            return;
        }
        if (channel == null) {
            throw new WorkerFailure("there is no descriptor that would take samples");
        }
        ByteBuffer buffer =
                ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int at = 0;
        while (at < samples.length) {
            buffer.clear();
            while (at < samples.length && buffer.hasRemaining()) {
                buffer.putLong(samples[at++]);
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }
}
