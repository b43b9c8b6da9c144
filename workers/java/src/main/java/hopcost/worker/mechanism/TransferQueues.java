package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.ByteBuffer;
import java.util.concurrent.LinkedTransferQueue;

/** {@code linked-transfer-queue}: two LinkedTransferQueues, one per direction. */
final class TransferQueues implements ChannelMechanism {
    private static final class End extends HandOver {
        private final LinkedTransferQueue<ByteBuffer> outgoing;
        private final LinkedTransferQueue<ByteBuffer> incoming;

        End(Contents contents, ByteBuffer held, LinkedTransferQueue<ByteBuffer> outgoing, LinkedTransferQueue<ByteBuffer> incoming) {
            super(contents, held);
            this.outgoing = outgoing;
            this.incoming = incoming;
        }

        @Override
        void give(ByteBuffer message) throws InterruptedException {
            outgoing.transfer(message);
        }

        @Override
        ByteBuffer take() throws InterruptedException {
            return incoming.take();
        }
    }

    @Override
    public Facts facts() {
        return Facts.roundtrip("linked-transfer-queue", "java", "java.util.concurrent.LinkedTransferQueue, one per direction: transfer and take", "thread")
                .payload(0, PAYLOAD_MAX, 64)
                .crosses("the reference to a direct ByteBuffer, in a node of a linked list; its bytes stay in place")
                .copies("nobody copies the message; each end writes its reply over the request in the same buffer")
                .wakes("whoever comes second unparks the one who waits, by a futex wake if it sleeps; in Java 17 the one who waits first gives up its CPU once (sched_yield(2)), so that on one CPU two ends hand it to each other and nobody sleeps; later releases spin shortly instead where the JVM sees more than one processor")
                .betweenStamps("write the message, transfer (and wait for the taker, if it is not there yet), take; the same on the other side")
                .limits("two threads of one process; a node is garbage of every hand-over")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/LinkedTransferQueue.html", "futex(2)", "sched_yield(2)");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws WorkerFailure {
        Contents contents = new Contents(subject.payload());
        LinkedTransferQueue<ByteBuffer> requests = new LinkedTransferQueue<>();
        LinkedTransferQueue<ByteBuffer> replies = new LinkedTransferQueue<>();
        return new Ends<>(
                new End(contents, HandOver.buffer(contents), requests, replies),
                new End(contents.forAnotherEnd(), null, replies, requests));
    }
}
