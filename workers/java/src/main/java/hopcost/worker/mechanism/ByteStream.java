package hopcost.worker.mechanism;

import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** Messages over blocking byte streams: as many bytes in as out, no framing. */
final class ByteStream implements Channel {
    private final ReadableByteChannel incoming;
    private final WritableByteChannel outgoing;
    private final Contents contents;
    private final ByteBuffer received;

    ByteStream(ReadableByteChannel incoming, WritableByteChannel outgoing, Contents contents) {
        this.incoming = incoming;
        this.outgoing = outgoing;
        this.contents = contents;
        received = ByteBuffer.allocateDirect(contents.payload());
    }

    @Override
    public void send(long sequence) throws WorkerFailure {
        ByteBuffer message = contents.message(sequence);
        try {
            while (message.hasRemaining()) {
                outgoing.write(message);
            }
        } catch (IOException error) {
            throw WorkerFailure.linkLost(error);
        }
    }

    @Override
    public void receive(long sequence) throws WorkerFailure {
        ByteBuffer message = received.clear();
        try {
            while (message.hasRemaining()) {
                if (incoming.read(message) < 0) {
                    throw WorkerFailure.peerGone();
                }
            }
        } catch (WorkerFailure gone) {
            throw gone;
        } catch (IOException error) {
            throw WorkerFailure.linkLost(error);
        }
        if (!contents.matches(message.flip(), sequence)) {
            throw HandOver.corrupted(sequence);
        }
    }
}
