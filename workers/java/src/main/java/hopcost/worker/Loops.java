package hopcost.worker;

import hopcost.worker.Task.Role;
import java.util.Arrays;

/** The timed loops of a channel and of a call. */
final class Loops {
    private static final int STAMP_PAIRS = 10_000;

    /** Rounds before the one that counts, so that the loop is compiled by then. */
    private static final int WARM_UP_ROUNDS = 20;

    /** Where the last result goes: the compiler may not leave out what leads to it. */
    private static volatile long result;

    private Loops() {}

    /** Plays an end of a phase of round trips: one outstanding, closed loop. */
    static Outcome play(Channel channel, Role role, Order order) throws Exception {
        channel.enter();
        boolean isLoad = order.times() != null;
        return switch (role) {
            case CALLER -> isLoad ? send(channel, order) : ask(channel, order, new Stamper(order));
            case CALLEE -> isLoad ? take(channel, order) : answer(channel, order, order.count());
        };
    }

    /** The exchanges ahead of a phase; the number of the message that is the first to count. */
    private static long leadIn(Channel channel, Order order) throws Exception {
        long sequence = order.first();
        for (long lead = 0; lead < Order.LEAD_IN; lead++, sequence += 2) {
            channel.send(sequence);
            channel.receive(sequence + 1);
        }
        return sequence;
    }

    /** The sender of a load: each message at its time, whatever the other end does. */
    private static Outcome send(Channel channel, Order order) throws Exception {
        long[] times = order.times();
        long[] stamps = new long[times.length];
        long sequence = order.isAlone() ? 0 : leadIn(channel, order);
        long overruns = 0;
        long first = System.nanoTime();
        long now = first;
        for (int at = 0; at < times.length; at++) {
            long due = first + times[at];
            now = System.nanoTime();
            long late = now > due ? 1 : 0;
            while (now < due) {
                now = System.nanoTime();
            }
            stamps[at] = now | late << 63;
            overruns += late;
            if (!order.isAlone()) {
                channel.send(sequence);
                sequence += 2;
            }
        }
        return new Outcome(Role.CALLER, order.count(), order.kept(stamps), 0, now - first, first, overruns);
    }

    /** The receiver of a load stamps each message when it has come. */
    private static Outcome take(Channel channel, Order order) throws Exception {
        if (order.isAlone()) {
            return Outcome.unstamped(Role.CALLEE, order.count());
        }
        answer(channel, order, 0);
        long[] stamps = new long[Math.toIntExact(order.count())];
        long sequence = order.first() + 2 * Order.LEAD_IN;
        for (int at = 0; at < stamps.length; at++, sequence += 2) {
            channel.receive(sequence);
            stamps[at] = System.nanoTime();
        }
        long elapsed = stamps[stamps.length - 1] - stamps[0];
        return new Outcome(Role.CALLEE, order.count(), order.kept(stamps), 0, elapsed, stamps[0], 0);
    }

    private static Outcome ask(Channel channel, Order order, Stamper stamper) throws Exception {
        long sequence = leadIn(channel, order);
        boolean more = stamper.begin();
        while (more) {
            channel.send(sequence);
            channel.receive(sequence + 1);
            sequence += 2;
            more = stamper.more();
        }
        return stamper.outcome(order.count());
    }

    private static Outcome answer(Channel channel, Order order, long count) throws Exception {
        long sequence = order.first();
        long exchanges = count + Order.LEAD_IN;
        for (long done = 0; done < exchanges; done++, sequence += 2) {
            channel.receive(sequence);
            channel.send(sequence + 1);
        }
        return Outcome.unstamped(Role.CALLEE, order.count());
    }

    /** Plays a phase of calls, in batches. */
    static Outcome play(Call call, Order order) throws Exception {
        Stamper stamper = new Stamper(order);
        long x = 1;
        for (long taken = 0; taken < stamper.batches(); taken++) {
            long length = order.hasTwoLengths() && taken % 2 == 1 ? 2 * order.batch() : order.batch();
            long start = System.nanoTime();
            x = batch(call, x, length);
            stamper.note(System.nanoTime() - start);
        }
        result = x;
        return stamper.outcome(order.count());
    }

    private static long batch(Call call, long first, long length) throws Exception {
        long x = first;
        for (long done = 0; done < length; done++) {
            x = call.call(x);
        }
        return x;
    }

    /** What stamps cost, in ascending order: the difference of two taken one right after the other. */
    static long[] stampCosts() {
        long[] costs = new long[STAMP_PAIRS];
        for (int round = 0; round <= WARM_UP_ROUNDS; round++) {
            takePairs(costs);
        }
        Arrays.sort(costs);
        return costs;
    }

    private static void takePairs(long[] costs) {
        for (int at = 0; at < costs.length; at++) {
            long before = System.nanoTime();
            costs[at] = System.nanoTime() - before;
        }
    }

    /** One operation in one thread. */
    @FunctionalInterface
    interface Call {
        /**
         * Does it. What it returns depends on {@code x}, so that each operation depends on the one
         * before.
         */
        long call(long x) throws Exception;
    }

    /** One end of a link over which numbered messages go, in the thread that calls. */
    interface Channel {
        /** Sends message {@code sequence}. */
        void send(long sequence) throws Exception;

        /** Waits for a message, and sees that it is message {@code sequence} and no other. */
        void receive(long sequence) throws Exception;

        /** Waits for the end of a handshake. */
        default void await() throws Exception {}

        /** Called by the thread that plays the end, at the beginning of every phase. */
        default void enter() {}
    }

    /**
     * One phase: {@code count} operations, whose messages are numbered from {@code first} on, with a
     * stamp after each {@code batch}, where every other one may be twice as long. Of a load
     * {@code times} says when to send each message, in nanoseconds from the first stamp, and is null
     * elsewhere; {@code isAlone} has the sender go through them without its channel.
     */
    record Order(
            boolean keepsSamples, long count, long batch, boolean hasTwoLengths, long first, long[] times,
            boolean isAlone) {
        /** Exchanges before the first stamp of a phase of round trips. */
        static final long LEAD_IN = 2;

        /** These stamps, if any are kept. */
        long[] kept(long[] stamps) {
            return keepsSamples ? stamps : Outcome.NO_SAMPLES;
        }

        /** Exchanges of a phase of round trips, the lead-in among them. */
        long exchanges() {
            return count + LEAD_IN;
        }

        /** The first message number of the phase after this one of round trips. */
        long next() {
            return first + 2 * exchanges();
        }
    }

    /**
     * What an end saw in a phase. {@code samples} are in time order, and none where they are not kept;
     * {@code firstTick} and {@code overruns} are a load's.
     */
    record Outcome(
            Role role, long count, long[] samples, long maxTicks, long elapsedTicks, long firstTick,
            long overruns) {
        static final long[] NO_SAMPLES = {};

        Outcome(Role role, long count, long[] samples, long maxTicks, long elapsedTicks) {
            this(role, count, samples, maxTicks, elapsedTicks, 0, 0);
        }

        /** Of an end that does not stamp. */
        static Outcome unstamped(Role role, long count) {
            return new Outcome(role, count, NO_SAMPLES, 0, 0);
        }
    }

    /** Makes samples of one phase out of stamps. The room for them is there beforehand. */
    static final class Stamper {
        private final long batch;
        private final long batches;
        private final long[] samples;
        private int kept;
        private long taken;
        private long leftInBatch;
        private long before;
        private long max;
        private long elapsed;

        Stamper(Order order) {
            batch = order.batch();
            // A batch of n is followed by one of 2n: two samples in 3n operations.
            batches = order.hasTwoLengths() ? order.count() / (3 * batch) * 2 : order.count() / batch;
            samples = order.keepsSamples() ? new long[Math.toIntExact(batches)] : Outcome.NO_SAMPLES;
        }

        /** Samples that the phase has. */
        long batches() {
            return batches;
        }

        /** Takes the first stamp, and says whether there is any operation to follow. */
        boolean begin() {
            leftInBatch = batch;
            before = System.nanoTime();
            return batches > 0;
        }

        /** To be called after each operation: says whether there is one more. */
        boolean more() {
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
        void note(long ticks) {
            if (kept < samples.length) {
                samples[kept++] = ticks;
            }
            taken++;
            max = Math.max(max, ticks);
            elapsed += ticks;
        }

        /** What the phase has come to for the end that stamps. */
        Outcome outcome(long count) {
            return new Outcome(Role.CALLER, count, samples, max, elapsed);
        }
    }
}
