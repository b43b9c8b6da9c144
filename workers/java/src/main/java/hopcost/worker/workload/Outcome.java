package hopcost.worker.workload;

import hopcost.worker.protocol.Role;

/**
 * What an end saw in a phase. {@code samples} are in time order, and none where they are not kept.
 */
public record Outcome(Role role, long count, long[] samples, long maxTicks, long elapsedTicks) {
    static final long[] NO_SAMPLES = {};

    /** Of an end that does not stamp. */
    public static Outcome unstamped(Role role, long count) {
        return new Outcome(role, count, NO_SAMPLES, 0, 0);
    }
}
