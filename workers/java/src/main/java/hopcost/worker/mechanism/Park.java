package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/** {@code park}: LockSupport.park and unpark, with a volatile slot as the predicate. */
final class Park implements ChannelMechanism {
    /** Where one end finds what the other has for it. */
    private static final class Side {
        /** References in 128 bytes or more: two cache lines, because some processors fetch them in pairs. */
        private static final int APART = 32;

        volatile Thread owner;

        /**
         * The slot is the element in the middle. Elements lie side by side and take 4 or 8 bytes, so that
         * the slot is apart from all that is before and behind; of fields the JVM chooses the order.
         */
        private final AtomicReferenceArray<ByteBuffer> slot = new AtomicReferenceArray<>(2 * APART + 1);

        void put(ByteBuffer message) {
            slot.set(APART, message);
        }

        ByteBuffer look() {
            return slot.get(APART);
        }
    }

    private static final class End extends HandOver {
        private final Side own;
        private final Side peer;

        End(Contents contents, ByteBuffer held, Side own, Side peer) {
            super(contents, held);
            this.own = own;
            this.peer = peer;
        }

        @Override
        public void enter() {
            own.owner = Thread.currentThread();
        }

        @Override
        void give(ByteBuffer message) {
            peer.put(message);
            // Where the other end has not entered yet there is nobody to wake, and it looks into the
            // slot before it parks.
            LockSupport.unpark(peer.owner);
        }

        @Override
        ByteBuffer take() {
            ByteBuffer message = own.look();
            // park may return for no reason, hence the loop.
            while (message == null) {
                LockSupport.park(this);
                message = own.look();
            }
            own.put(null);
            return message;
        }
    }

    @Override
    public Facts facts() {
        return Facts.roundtrip("park", "notifier", "java.util.concurrent.locks.LockSupport, park and unpark, with a volatile slot between two threads", "thread")
                .payload(0, PAYLOAD_MAX, 0)
                .crosses("the reference to a direct ByteBuffer in one slot per direction; its bytes stay in place")
                .copies("nobody copies the message; each end writes its reply over the request in the same buffer")
                .wakes("the notifying thread, by a futex wake inside unpark")
                .betweenStamps("write the message, set the slot, unpark, look into the own slot, park, be woken; the same on the other side")
                .limits("threads of one process; a permit that is left over lets the next park return at once, and the slot is looked at again")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/locks/LockSupport.html", "futex(2)");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws WorkerFailure {
        Contents contents = new Contents(subject.payload());
        Side caller = new Side();
        Side callee = new Side();
        return new Ends<>(
                new End(contents, HandOver.buffer(contents), caller, callee),
                new End(contents.forAnotherEnd(), null, callee, caller));
    }
}
