package hopcost.worker.workload;

import hopcost.worker.protocol.Stamp;

/**
 * One phase: {@code count} operations, whose messages are numbered from {@code first} on.
 */
public record Order(boolean keepSamples, long count, Stamp stamp, long first) {
    /** Exchanges before the first stamp of a phase of round trips. */
    public static final long LEAD_IN = 2;

    /** Exchanges of a phase of round trips, the lead-in among them. */
    public long exchanges() {
        return count / stamp.batch() * stamp.batch() + LEAD_IN;
    }

    /** The first message number of the phase after this one of round trips. */
    public long next() {
        return first + 2 * exchanges();
    }
}
