package hopcost.worker.mechanism;

import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.ByteBuffer;

/**
 * A channel between two threads over which the message itself stays in place: one buffer goes to
 * and fro, and whoever has it writes it and reads it.
 */
abstract class HandOver implements Channel {
    private final Contents contents;
    private ByteBuffer held;

    /** {@code held} is the buffer of the end that begins, null at the other. */
    HandOver(Contents contents, ByteBuffer held) {
        this.contents = contents;
        this.held = held;
    }

    static ByteBuffer buffer(Contents contents) {
        return ByteBuffer.allocateDirect(contents.payload());
    }

    abstract void give(ByteBuffer message) throws Exception;

    abstract ByteBuffer take() throws Exception;

    @Override
    public final void send(long sequence) throws Exception {
        ByteBuffer message = held;
        message.clear().put(contents.message(sequence)).flip();
        give(message);
    }

    @Override
    public final void receive(long sequence) throws Exception {
        ByteBuffer message = take();
        held = message;
        if (!contents.matches(message, sequence)) {
            throw corrupted(sequence);
        }
    }

    static WorkerFailure corrupted(long sequence) {
        String number = Long.toUnsignedString(sequence);
        return new WorkerFailure("message " + number + " did not arrive as it was sent");
    }
}
