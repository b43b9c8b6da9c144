package hopcost.worker;

import hopcost.worker.Links.Ends;
import hopcost.worker.Loops.Channel;
import java.nio.ByteBuffer;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A channel between two threads over which the message itself stays in place: one buffer goes to
 * and fro, and the end that has it writes and reads it.
 */
final class HandOver implements Channel {
    /** One direction. */
    private interface Way {
        void give(ByteBuffer message) throws InterruptedException;

        ByteBuffer take() throws InterruptedException;

        /** Called by the thread that takes, at the beginning of every phase. */
        default void enter() {}
    }

    private final Messages messages;
    private final Way outgoing;
    private final Way incoming;
    private ByteBuffer held;

    /** {@code held} is the buffer of the end that begins, null at the other. */
    private HandOver(Messages messages, ByteBuffer held, Way outgoing, Way incoming) {
        this.messages = messages;
        this.held = held;
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

    private static Ends<Channel> between(Messages messages, Way requests, Way replies) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(messages.payload());
        return new Ends<>(
                new HandOver(messages, buffer, requests, replies),
                new HandOver(messages.forAnotherEnd(), null, replies, requests));
    }

    @Override
    public void enter() {
        incoming.enter();
    }

    @Override
    public void send(long sequence) throws InterruptedException {
        ByteBuffer message = held;
        message.clear().put(messages.message(sequence)).flip();
        outgoing.give(message);
    }

    @Override
    public void receive(long sequence) throws InterruptedException, WorkerFailure {
        ByteBuffer message = incoming.take();
        held = message;
        if (!messages.matches(message, sequence)) {
            throw WorkerFailure.corrupted(sequence);
        }
    }

    /** {@code synchronous-queue}, {@code virtual-threads}. */
    static Ends<Channel> synchronousQueues(Messages messages) {
        return between(messages, new Synchronous(new SynchronousQueue<>()), new Synchronous(new SynchronousQueue<>()));
    }

    private record Synchronous(SynchronousQueue<ByteBuffer> queue) implements Way {
        @Override
        public void give(ByteBuffer message) throws InterruptedException {
            queue.put(message);
        }

        @Override
        public ByteBuffer take() throws InterruptedException {
            return queue.take();
        }
    }

    /** {@code linked-transfer-queue}. */
    static Ends<Channel> transferQueues(Messages messages) {
        return between(messages, new Transfer(new LinkedTransferQueue<>()), new Transfer(new LinkedTransferQueue<>()));
    }

    private record Transfer(LinkedTransferQueue<ByteBuffer> queue) implements Way {
        @Override
        public void give(ByteBuffer message) throws InterruptedException {
            queue.transfer(message);
        }

        @Override
        public ByteBuffer take() throws InterruptedException {
            return queue.take();
        }
    }

    /** {@code park}: LockSupport.park and unpark, with a volatile slot as the predicate. */
    static Ends<Channel> park(Messages messages) {
        return between(messages, new Park(), new Park());
    }

    private static final class Park implements Way {
        /** References in 128 bytes or more: two cache lines, because some processors fetch them in pairs. */
        private static final int APART = 32;

        private volatile Thread taker;

        /**
         * The slot is the element in the middle. Elements lie side by side and take 4 or 8 bytes, so that
         * the slot is apart from all that is before and behind; of fields the JVM chooses the order.
         */
        private final AtomicReferenceArray<ByteBuffer> slot = new AtomicReferenceArray<>(2 * APART + 1);

        @Override
        public void enter() {
            taker = Thread.currentThread();
        }

        @Override
        public void give(ByteBuffer message) {
            slot.set(APART, message);
            // Where the other end has not entered yet there is nobody to wake, and it looks into the
            // slot before it parks.
            LockSupport.unpark(taker);
        }

        @Override
        public ByteBuffer take() {
            ByteBuffer message = slot.get(APART);
            // park may return for no reason, hence the loop.
            while (message == null) {
                LockSupport.park(this);
                message = slot.get(APART);
            }
            slot.set(APART, null);
            return message;
        }
    }

    /**
     * {@code condvar}: a ReentrantLock, a Condition per direction, and a predicate: lock, set, signal,
     * unlock; lock, await while it is clear, clear it, unlock.
     */
    static Ends<Channel> condvar(Messages messages) {
        ReentrantLock lock = new ReentrantLock();
        return between(messages, new Condvar(lock), new Condvar(lock));
    }

    private static final class Condvar implements Way {
        private final ReentrantLock lock;
        private final Condition condition;

        /** The predicate; the lock guards it. */
        private ByteBuffer handedOver;

        Condvar(ReentrantLock lock) {
            this.lock = lock;
            condition = lock.newCondition();
        }

        @Override
        public void give(ByteBuffer message) {
            lock.lock();
            try {
                handedOver = message;
                condition.signal();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public ByteBuffer take() throws InterruptedException {
            lock.lock();
            try {
                while (handedOver == null) {
                    condition.await();
                }
                ByteBuffer message = handedOver;
                handedOver = null;
                return message;
            } finally {
                lock.unlock();
            }
        }
    }
}
