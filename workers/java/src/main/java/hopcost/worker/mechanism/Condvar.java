package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@code condvar}: hand-off by a ReentrantLock, a Condition per direction, and a predicate: lock,
 * set, signal, unlock; lock, await while it is clear, clear it, unlock.
 */
final class Condvar implements ChannelMechanism {
    /** One direction; the lock guards what is handed over. */
    private static final class Way {
        final Condition condition;
        ByteBuffer handedOver;

        Way(ReentrantLock lock) {
            condition = lock.newCondition();
        }
    }

    private static final class End extends HandOver {
        private final ReentrantLock lock;
        private final Way outgoing;
        private final Way incoming;

        End(Contents contents, ByteBuffer held, ReentrantLock lock, Way outgoing, Way incoming) {
            super(contents, held);
            this.lock = lock;
            this.outgoing = outgoing;
            this.incoming = incoming;
        }

        @Override
        void give(ByteBuffer message) {
            lock.lock();
            try {
                outgoing.handedOver = message;
                outgoing.condition.signal();
            } finally {
                lock.unlock();
            }
        }

        @Override
        ByteBuffer take() throws InterruptedException {
            lock.lock();
            try {
                while (incoming.handedOver == null) {
                    incoming.condition.await();
                }
                ByteBuffer message = incoming.handedOver;
                incoming.handedOver = null;
                return message;
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public Facts facts() {
        return Facts.roundtrip("condvar", "notifier", "a ReentrantLock and a Condition per direction between two threads", "thread")
                .payload(0, PAYLOAD_MAX, 0)
                .crosses("the reference to a direct ByteBuffer, which is the predicate; its bytes stay in place")
                .copies("nobody copies the message; each end writes its reply over the request in the same buffer")
                .wakes("the notifying end: signal only moves the waiter into the lock's queue, unlock unparks it by a futex wake, with the lock free")
                .betweenStamps("write the message, lock, set, signal, unlock; lock, await, clear, unlock; the same on the other side")
                .limits("threads of one process; a node of the condition's queue is garbage of every wait; unlike with pthreads, the woken end does not find the lock held")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/locks/Condition.html", "futex(2)");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws WorkerFailure {
        Contents contents = new Contents(subject.payload());
        ReentrantLock lock = new ReentrantLock();
        Way requests = new Way(lock);
        Way replies = new Way(lock);
        return new Ends<>(
                new End(contents, HandOver.buffer(contents), lock, requests, replies),
                new End(contents.forAnotherEnd(), null, lock, replies, requests));
    }
}
