package hopcost.worker;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Who plays an end: what executes its phases, null for the thread that reads the commands. */
record Player(Executor executor, Callable<Long> tid) {
    static Player ofMainThread() {
        return new Player(null, Threads::tid);
    }

    /** A thread of its own, the same one for all phases. */
    static Player ofOwnThread() {
        ExecutorService executor = Executors.newSingleThreadExecutor(Threads.platform("seat"));
        return new Player(executor, () -> executor.submit(Threads::tid).get());
    }

    /** A virtual thread, a new one for each phase. */
    static Player ofVirtualThread() {
        return new Player(Threads::startVirtual, () -> 0L);
    }
}
