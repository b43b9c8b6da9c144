package hopcost.worker.workload;

import hopcost.worker.protocol.Stamp;

/** One operation in one thread, in batches. */
public final class Calls {
    /** Where the last result goes: the compiler may not leave out what leads to it. */
    private static volatile long result;

    private Calls() {}

    /** Plays a phase. */
    public static Outcome play(Call call, Order order) throws Exception {
        Stamper stamper = new Stamper(order);
        long n = order.stamp().batch();
        boolean twoLengths = order.stamp() instanceof Stamp.TwoLengths;
        long x = 1;
        long count = 0;
        for (long taken = 0; taken < stamper.batches(); taken++) {
            long length = twoLengths && taken % 2 == 1 ? 2 * n : n;
            long start = System.nanoTime();
            x = batch(call, x, length);
            stamper.note(System.nanoTime() - start);
            count += length;
        }
        result = x;
        return stamper.outcome(count);
    }

    private static long batch(Call call, long first, long length) throws Exception {
        long x = first;
        for (long done = 0; done < length; done++) {
            x = call.call(x);
        }
        return x;
    }
}
