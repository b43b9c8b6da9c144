package hopcost.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import hopcost.worker.Links.Ends;
import hopcost.worker.Loops.Call;
import hopcost.worker.Loops.Channel;
import hopcost.worker.Loops.Order;
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
 * What `hopcost worker check` cannot see: batches of two lengths, and a lost datagram.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerTest {
    @Test
    void callsOfTwoLengthsAreStampedInTurn() throws Exception {
        List<Long> done = new ArrayList<>();
        Call call = x -> {
            done.add(x);
            return x + 1;
        };
        assertEquals(8, Loops.play(call, order(240, 20, true)).samples().length);
        assertEquals(LongStream.rangeClosed(1, 240).boxed().toList(), done);
        assertEquals(12, Loops.play(call, order(240, 20, false)).samples().length);
    }

    private static Order order(long count, long batch, boolean hasTwoLengths) {
        return new Order(true, count, batch, hasTwoLengths, 1, null, false);
    }

    @Test
    void aDatagramThatComesASecondTimeIsAnsweredAgain() throws Exception {
        Ends<DatagramChannel> ends = Links.udpPair();
        Messages messages = new Messages(64);
        for (long number : new long[] {1, 1, 3, 3, 5}) {
            ends.caller().write(messages.message(number));
        }
        Channel callee = new Sockets.Datagrams(ends.callee(), Role.CALLEE, messages.forAnotherEnd());
        Loops.play(callee, Role.CALLEE, order(1, 1, false));
        ByteBuffer answer = ByteBuffer.allocateDirect(65);
        for (long number : new long[] {2, 2, 4, 4, 6}) {
            ends.caller().read(answer.clear());
            assertTrue(messages.matches(answer.flip(), number), "answer " + number);
        }
    }
}
