package hopcost.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import hopcost.worker.Links.Ends;
import hopcost.worker.Loops.Call;
import hopcost.worker.Loops.Channel;
import hopcost.worker.Loops.Order;
import hopcost.worker.Loops.Outcome;
import hopcost.worker.Task.Role;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What `hopcost worker check` cannot see: the arithmetic of stamps and batches, and a lost datagram.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerTest {
    @Test
    void anyFlippedBitAndAnyOtherLengthIsSeen() {
        Messages messages = new Messages(65);
        ByteBuffer received = ByteBuffer.allocateDirect(65).put(messages.message(7)).flip();
        assertTrue(messages.matches(received, 7));
        assertTrue(messages.matches(received, 7 + Messages.count(65)));
        assertFalse(messages.matches(received, 8));
        for (int bit = 0; bit < 65 * 8; bit++) {
            flip(received, bit);
            assertFalse(messages.matches(received, 7), "bit " + bit);
            flip(received, bit);
        }
        assertFalse(messages.matches(received.limit(64), 7));
    }

    private static void flip(ByteBuffer buffer, int bit) {
        buffer.put(bit / 8, (byte) (buffer.get(bit / 8) ^ 1 << bit % 8));
    }

    /** Notes what goes over it. */
    private static final class Noting implements Channel {
        final List<Long> sent = new ArrayList<>();
        final List<Long> received = new ArrayList<>();

        @Override
        public void send(long sequence) {
            sent.add(sequence);
        }

        @Override
        public void receive(long sequence) {
            received.add(sequence);
        }
    }

    @Test
    void aPhaseHasTwoExchangesMoreThanItsCountAtBothEnds() throws Exception {
        Order order = new Order(true, 10, 1, false, 5);
        Noting caller = new Noting();
        Outcome outcome = Loops.play(caller, Role.CALLER, order);
        assertEquals(LongStream.range(0, 12).mapToObj(i -> 5 + 2 * i).toList(), caller.sent);
        assertEquals(LongStream.range(0, 12).mapToObj(i -> 6 + 2 * i).toList(), caller.received);
        checkSums(outcome, 10, 10);
        assertEquals(29, order.next());

        Noting callee = new Noting();
        assertEquals(10, Loops.play(callee, Role.CALLEE, order).count());
        assertEquals(caller.sent, callee.received);
        assertEquals(caller.received, callee.sent);
    }

    @Test
    void aLoadKeepsItsTimesAndAnswersTheLeadInAlone() throws Exception {
        long[] times = {1_000_000, 2_000_000, 0, 3_000_000};
        for (boolean isAlone : new boolean[] {false, true}) {
            Noting sender = new Noting();
            Outcome sent = Loops.play(sender, Role.CALLER, new Order(true, 4, 1, false, 1, times, isAlone));
            assertEquals(isAlone ? List.of() : List.of(1L, 3L, 5L, 7L, 9L, 11L), sender.sent);
            assertTrue(sent.samples()[2] < 0 && sent.overruns() > 0, "the third came late");
            for (int at = 0; at < times.length; at++) {
                assertTrue((sent.samples()[at] & Long.MAX_VALUE) >= sent.firstTick() + times[at]);
            }
        }
        Noting receiver = new Noting();
        Outcome taken = Loops.play(receiver, Role.CALLEE, new Order(true, 3, 1, false, 1, new long[0], false));
        assertEquals(List.of(1L, 3L, 5L, 7L, 9L), receiver.received);
        assertEquals(List.of(2L, 4L), receiver.sent);
        assertEquals(taken.firstTick(), taken.samples()[0]);
        assertEquals(taken.elapsedTicks(), taken.samples()[2] - taken.samples()[0]);
    }

    @Test
    void batchesAreOneSampleEachAndOtherPhasesLeaveOnlyTheirTime() throws Exception {
        Noting caller = new Noting();
        checkSums(Loops.play(caller, Role.CALLER, new Order(true, 90, 30, false, 1)), 90, 3);
        assertEquals(92, caller.sent.size());
        Outcome outcome = Loops.play(new Noting(), Role.CALLER, new Order(false, 1000, 1, false, 1));
        assertEquals(0, outcome.samples().length);
        assertTrue(outcome.elapsedTicks() > 0);
        assertTrue(outcome.maxTicks() > 0);
    }

    @Test
    void callsOfTwoLengthsAreStampedInTurn() throws Exception {
        List<Long> done = new ArrayList<>();
        Call call = x -> {
            done.add(x);
            return x + 1;
        };
        checkSums(Loops.play(call, new Order(true, 240, 20, true, 1)), 240, 8);
        assertEquals(LongStream.rangeClosed(1, 240).boxed().toList(), done);
        checkSums(Loops.play(call, new Order(true, 240, 20, false, 1)), 240, 12);
        checkSums(Loops.play(call, new Order(true, 24, 1, false, 1)), 24, 24);
    }

    private static void checkSums(Outcome outcome, long count, int samples) {
        assertEquals(count, outcome.count());
        assertEquals(samples, outcome.samples().length);
        assertEquals(LongStream.of(outcome.samples()).sum(), outcome.elapsedTicks());
        assertEquals(LongStream.of(outcome.samples()).max().orElse(0), outcome.maxTicks());
    }

    @Test
    void aDatagramThatComesASecondTimeIsAnsweredAgain() throws Exception {
        Ends<DatagramChannel> ends = Links.udpPair();
        Messages messages = new Messages(64);
        for (long number : new long[] {1, 1, 3, 3, 5}) {
            ends.caller().write(messages.message(number));
        }
        Channel callee = new Sockets.Datagrams(ends.callee(), Role.CALLEE, messages.forAnotherEnd());
        Loops.play(callee, Role.CALLEE, new Order(false, 1, 1, false, 1));
        ByteBuffer answer = ByteBuffer.allocateDirect(65);
        for (long number : new long[] {2, 2, 4, 4, 6}) {
            ends.caller().read(answer.clear());
            assertTrue(messages.matches(answer.flip(), number), "answer " + number);
        }
    }
}
