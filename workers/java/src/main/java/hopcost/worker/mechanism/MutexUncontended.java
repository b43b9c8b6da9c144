package hopcost.worker.mechanism;

import hopcost.worker.protocol.Case;
import hopcost.worker.workload.Call;
import java.util.concurrent.locks.ReentrantLock;

/** {@code mutex-uncontended}: lock and unlock a ReentrantLock that nobody else wants. */
final class MutexUncontended implements CallMechanism {
    @Override
    public Facts facts() {
        return Facts.call("mutex-uncontended", "call", "lock and unlock a java.util.concurrent.locks.ReentrantLock that is free")
                .crosses("nothing")
                .copies("nobody")
                .wakes("nobody")
                .betweenStamps("batches of lock, an addition, unlock")
                .limits("a ReentrantLock and not `synchronized`, because the compiler may join the synchronized blocks of neighbouring operations into one (lock coarsening), and what a batch costs would no longer be a multiple of one; unfair, the default")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/util/concurrent/locks/ReentrantLock.html");
    }

    @Override
    public Call open(Case subject) {
        ReentrantLock lock = new ReentrantLock();
        return x -> {
            lock.lock();
            try {
                return x + 1;
            } finally {
                lock.unlock();
            }
        };
    }
}
