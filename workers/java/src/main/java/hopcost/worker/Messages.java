package hopcost.worker;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The different messages of a trial, made beforehand in memory outside the Java heap, from where channels
 * send without a copy of their own.
 */
final class Messages {
    private static final long FIRST_WORD = 0x9E3779B97F4A7C15L;

    private final int payload;
    private final ByteBuffer[] messages;

    Messages(int payload) {
        this.payload = payload;
        messages = new ByteBuffer[count(payload)];
        ByteBuffer all = ByteBuffer.allocateDirect(messages.length * payload);
        for (int number = 0; number < messages.length; number++) {
            messages[number] = all.slice(number * payload, payload);
            fill(messages[number].duplicate(), number);
        }
    }

    private Messages(Messages original) {
        payload = original.payload;
        messages = new ByteBuffer[original.messages.length];
        for (int number = 0; number < messages.length; number++) {
            messages[number] = original.messages[number].duplicate();
        }
    }

    /** After how many numbers messages of this length come again: a power of two. */
    static int count(int payload) {
        int count = 256;
        while (count > 4 && count * payload > 16 * 1024) {
            count /= 2;
        }
        return count;
    }

    /** The same bytes with positions of their own, for another thread. */
    Messages forAnotherEnd() {
        return new Messages(this);
    }

    int payload() {
        return payload;
    }

    /** How many different messages there are. */
    int count() {
        return messages.length;
    }

    /** Message {@code sequence}, from its first byte to its last. */
    ByteBuffer message(long sequence) {
        return messages[(int) sequence & messages.length - 1].clear();
    }

    /** Whether what is left in a buffer is message {@code sequence}, every byte. */
    boolean matches(ByteBuffer received, long sequence) {
        return received.mismatch(message(sequence)) < 0;
    }

    /** Writes message {@code number}: little-endian words, the last perhaps in part. */
    private static void fill(ByteBuffer buffer, long number) {
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
