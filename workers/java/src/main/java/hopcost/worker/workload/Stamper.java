package hopcost.worker.workload;

import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.Stamp;
import hopcost.worker.protocol.WorkerFailure;

/** Makes samples of one phase out of stamps. The room for them is there beforehand. */
public final class Stamper {
    /** The most samples a phase may ask for: 512 MiB of them. */
    private static final long SAMPLES_MAX = 1L << 26;

    private final long batch;
    private final long batches;
    private final long[] samples;
    private int kept;
    private long taken;
    private long leftInBatch;
    private long before;
    private long max;
    private long elapsed;

    public Stamper(Order order) throws WorkerFailure {
        batch = order.stamp().batch();
        batches = samplesOf(order);
        if (order.keepSamples() && batches > SAMPLES_MAX) {
            throw new WorkerFailure(batches + " samples are more than a phase may have");
        }
        samples = order.keepSamples() ? new long[(int) batches] : Outcome.NO_SAMPLES;
    }

    private static long samplesOf(Order order) {
        // A batch of n is followed by one of 2n: two samples in 3n operations.
        return order.stamp() instanceof Stamp.TwoLengths lengths
                ? order.count() / (3 * lengths.n()) * 2
                : order.count() / order.stamp().batch();
    }

    /** Samples that the phase has. */
    public long batches() {
        return batches;
    }

    /** Takes the first stamp, and says whether there is any operation to follow. */
    public boolean begin() {
        leftInBatch = batch;
        before = System.nanoTime();
        return batches > 0;
    }

    /** To be called after each operation: says whether there is one more. */
    public boolean more() {
        if (--leftInBatch > 0) {
            return true;
        }
        long now = System.nanoTime();
        note(now - before);
        before = now;
        leftInBatch = batch;
        return taken < batches;
    }

    /** Notes the ticks of a batch that was stamped elsewhere. */
    public void note(long ticks) {
        if (kept < samples.length) {
            samples[kept++] = ticks;
        }
        taken++;
        max = Math.max(max, ticks);
        elapsed += ticks;
    }

    /** What the phase has come to for the end that stamps. */
    public Outcome outcome(long count) {
        return new Outcome(Role.CALLER, count, samples, max, elapsed);
    }
}
