package hopcost.worker.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.Stamp;
import hopcost.worker.protocol.WorkerFailure;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkloadTest {
    @Test
    void contentsAreThoseOfTheProtocol() throws Exception {
        for (int payload : new int[] {0, 1, 7, 8, 9, 63, 64, 65, 200, 5000}) {
            Contents contents = new Contents(payload);
            for (long sequence : new long[] {0, 1, 255, 256, 1_000_003}) {
                ByteBuffer message = contents.message(sequence);
                assertEquals(payload, message.remaining());
                long first = (sequence % Contents.count(payload)) * 0x9E3779B97F4A7C15L;
                for (int at = 0; at < payload; at++) {
                    long word = first + at / 8;
                    assertEquals((byte) (word >>> at % 8 * 8), message.get(at), "byte " + at);
                }
            }
        }
    }

    @Test
    void contentsComeAgainSoonerTheLongerTheyAre() throws Exception {
        // So many of them are 16 KiB at most, where that is not fewer than four.
        Map<Integer, Integer> known = Map.of(
                0, 256, 1, 256, 64, 256, 65, 128, 100, 128, 1024, 16, 1025, 8, 2049, 4, 4096, 4, 65_536, 4);
        for (Map.Entry<Integer, Integer> each : known.entrySet()) {
            int payload = each.getKey();
            int count = each.getValue();
            assertEquals(count, Contents.count(payload), payload + " bytes");
            Contents contents = new Contents(payload);
            ByteBuffer seventh = ByteBuffer.allocateDirect(payload).put(contents.message(7)).flip();
            assertTrue(contents.matches(seventh, 7 + count));
            assertEquals(payload == 0, contents.matches(seventh, 7 + count / 2));
        }
    }

    @Test
    void anyFlippedBitAndAnyOtherLengthIsSeen() throws Exception {
        Contents contents = new Contents(65);
        ByteBuffer received = ByteBuffer.allocateDirect(65).put(contents.message(7)).flip();
        assertTrue(contents.matches(received, 7));
        assertTrue(contents.matches(received, 7 + Contents.count(65)));
        assertFalse(contents.matches(received, 8));
        for (int bit = 0; bit < 65 * 8; bit++) {
            flip(received, bit);
            assertFalse(contents.matches(received, 7), "bit " + bit);
            flip(received, bit);
        }
        assertFalse(contents.matches(received.limit(64), 7));
    }

    private static void flip(ByteBuffer buffer, int bit) {
        buffer.put(bit / 8, (byte) (buffer.get(bit / 8) ^ 1 << bit % 8));
    }

    @Test
    void messagesThatDoNotFitInMemoryAreRefused() {
        assertThrows(WorkerFailure.class, () -> new Contents(Contents.PAYLOAD_MAX + 1));
    }

    /** Notes what goes over it, and that the numbers fit. */
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
        Order order = new Order(true, 10, new Stamp.Each(), 5);
        Noting caller = new Noting();
        Outcome outcome = Roundtrip.play(caller, Role.CALLER, order);
        assertEquals(LongStream.range(0, 12).mapToObj(i -> 5 + 2 * i).toList(), caller.sent);
        assertEquals(LongStream.range(0, 12).mapToObj(i -> 6 + 2 * i).toList(), caller.received);
        checkSums(outcome, 10, 10);
        assertEquals(29, order.next());

        Noting callee = new Noting();
        assertEquals(10, Roundtrip.play(callee, Role.CALLEE, order).count());
        assertEquals(caller.sent, callee.received);
        assertEquals(caller.received, callee.sent);
    }

    @Test
    void batchesAreOneSampleEach() throws Exception {
        Order order = new Order(true, 90, new Stamp.Batch(30), 1);
        Noting caller = new Noting();
        checkSums(Roundtrip.play(caller, Role.CALLER, order), 90, 3);
        assertEquals(92, caller.sent.size());
    }

    @Test
    void nothingIsDoneBeyondTheLeadInWhereNothingIsAsked() throws Exception {
        Order order = new Order(true, 0, new Stamp.Each(), 1);
        Noting caller = new Noting();
        checkSums(Roundtrip.play(caller, Role.CALLER, order), 0, 0);
        assertEquals(2, caller.sent.size());
    }

    @Test
    void otherPhasesLeaveNoSamplesButTheirTime() throws Exception {
        Order order = new Order(false, 1000, new Stamp.Each(), 1);
        Outcome outcome = Roundtrip.play(new Noting(), Role.CALLER, order);
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
        checkSums(Calls.play(call, new Order(true, 240, new Stamp.TwoLengths(20), 1)), 240, 8);
        assertEquals(LongStream.rangeClosed(1, 240).boxed().toList(), done);
        checkSums(Calls.play(call, new Order(true, 240, new Stamp.Batch(20), 1)), 240, 12);
        checkSums(Calls.play(call, new Order(true, 24, new Stamp.Each(), 1)), 24, 24);
    }

    private static void checkSums(Outcome outcome, long count, int samples) {
        assertEquals(count, outcome.count());
        assertEquals(samples, outcome.samples().length);
        assertEquals(LongStream.of(outcome.samples()).sum(), outcome.elapsedTicks());
        assertEquals(LongStream.of(outcome.samples()).max().orElse(0), outcome.maxTicks());
    }

    @Test
    void tooManySamplesAreRefused() {
        Order order = new Order(true, Long.MAX_VALUE, new Stamp.Each(), 1);
        assertThrows(WorkerFailure.class, () -> new Stamper(order));
    }
}
