package hopcost.worker.workload;

import java.util.Arrays;

/** What a stamp costs: the difference of two taken one right after the other. */
public record StampCost(long minNs, long p50Ns, long p99Ns) {
    private static final int PAIRS = 10_000;

    /** Rounds before the one that counts, so that the loop is compiled by then. */
    private static final int WARM_UP_ROUNDS = 20;

    /** Measures it in the calling thread. */
    public static StampCost measure() {
        long[] costs = new long[PAIRS];
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            take(costs);
        }
        Arrays.sort(costs);
        return new StampCost(costs[0], rank(costs, 50), rank(costs, 99));
    }

    private static void take(long[] costs) {
        for (int at = 0; at < costs.length; at++) {
            long before = System.nanoTime();
            costs[at] = System.nanoTime() - before;
        }
    }

    private static long rank(long[] sorted, int percent) {
        int rank = (sorted.length * percent + 99) / 100;
        return sorted[rank - 1];
    }
}
