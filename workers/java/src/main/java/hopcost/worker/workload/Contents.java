package hopcost.worker.workload;

import hopcost.worker.protocol.WorkerFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The 256 messages of a trial, made beforehand in memory outside the Java heap, from where channels
 * send without a copy of their own.
 */
public final class Contents {
    /** Message numbers after which contents come again. */
    public static final int MESSAGES = 256;

    /** Most bytes of a message: all of them are in memory at once. */
    public static final int PAYLOAD_MAX = 65_536;

    private static final long FIRST_WORD = 0x9E3779B97F4A7C15L;

    private final int payload;
    private final ByteBuffer[] messages = new ByteBuffer[MESSAGES];

    public Contents(int payload) throws WorkerFailure {
        if (payload > PAYLOAD_MAX) {
            throw new WorkerFailure("a message has at most " + PAYLOAD_MAX + " bytes here, not " + payload);
        }
        this.payload = payload;
        ByteBuffer all = ByteBuffer.allocateDirect(MESSAGES * payload);
        for (int number = 0; number < MESSAGES; number++) {
            messages[number] = all.slice(number * payload, payload);
            fill(messages[number].duplicate(), number);
        }
    }

    private Contents(Contents original) {
        payload = original.payload;
        for (int number = 0; number < MESSAGES; number++) {
            messages[number] = original.messages[number].duplicate();
        }
    }

    /** The same bytes with positions of their own, for another thread. */
    public Contents forAnotherEnd() {
        return new Contents(this);
    }

    public int payload() {
        return payload;
    }

    /** Message {@code sequence}, from its first byte to its last. */
    public ByteBuffer message(long sequence) {
        return messages[(int) sequence & MESSAGES - 1].clear();
    }

    /** Whether what is left in a buffer is message {@code sequence}, every byte. */
    public boolean matches(ByteBuffer received, long sequence) {
        return received.mismatch(message(sequence)) < 0;
    }

    /** Writes message {@code number}: little-endian words, the last perhaps in part. */
    static void fill(ByteBuffer buffer, long number) {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        long word = number * FIRST_WORD;
        while (buffer.remaining() >= Long.BYTES) {
            buffer.putLong(word++);
        }
        for (; buffer.hasRemaining(); word >>>= Byte.SIZE) {
            buffer.put((byte) word);
        }
    }
}
