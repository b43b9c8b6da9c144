package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.ByteBuffer;
import java.util.concurrent.SynchronousQueue;

/** {@code synchronous-queue}: two SynchronousQueues, one per direction. */
final class SynchronousQueues implements ChannelMechanism {
    private static final class End extends HandOver {
        private final SynchronousQueue<ByteBuffer> outgoing;
        private final SynchronousQueue<ByteBuffer> incoming;

        End(Contents contents, ByteBuffer held, SynchronousQueue<ByteBuffer> outgoing, SynchronousQueue<ByteBuffer> incoming) {
            super(contents, held);
            this.outgoing = outgoing;
            this.incoming = incoming;
        }

        @Override
        void give(ByteBuffer message) throws InterruptedException {
            outgoing.put(message);
        }

        @Override
        ByteBuffer take() throws InterruptedException {
            return incoming.take();
        }
    }

    @Override
    public Facts facts() {
        return Facts.roundtrip("synchronous-queue", "java", "java.util.concurrent.SynchronousQueue, one per direction: put and take", "thread")
                .payload(0, PAYLOAD_MAX, 64)
                .crosses("the reference to a direct ByteBuffer; its bytes stay in place")
                .copies("nobody copies the message; each end writes its reply over the request in the same buffer")
                .wakes("whoever comes second unparks the one who waits, by a futex wake if it sleeps; in Java 17 the one who waits first gives up its CPU once (sched_yield(2)), so that on one CPU two ends hand it to each other and nobody sleeps; later releases spin shortly instead where the JVM sees more than one processor")
                .betweenStamps("write the message, put (and wait for the taker, if it is not there yet), take; the same on the other side")
                .limits("two threads of one process; the default, unfair queue; a node is garbage of every hand-over")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/SynchronousQueue.html", "futex(2)", "sched_yield(2)");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws WorkerFailure {
        return between(new Contents(subject.payload()));
    }

    /** Two ends, whoever plays them. */
    static Ends<Channel> between(Contents contents) {
        SynchronousQueue<ByteBuffer> requests = new SynchronousQueue<>();
        SynchronousQueue<ByteBuffer> replies = new SynchronousQueue<>();
        return new Ends<>(
                new End(contents, HandOver.buffer(contents), requests, replies),
                new End(contents.forAnotherEnd(), null, replies, requests));
    }
}
