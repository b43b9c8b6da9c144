package hopcost.worker.mechanism;

import hopcost.worker.protocol.Case;
import hopcost.worker.workload.Call;

/** {@code thread-start}: start a thread that does nothing, and join it. */
final class ThreadStart implements CallMechanism {
    /** What the thread is given, and what it gives back. */
    private static final class Task implements Runnable {
        long x;

        @Override
        public void run() {
            x++;
        }
    }

    @Override
    public Facts facts() {
        return Facts.call("thread-start", "call", "start a java.lang.Thread that does nothing, and join it")
                .crosses("one number, from the starter to the thread and back")
                .copies("nobody")
                .wakes("in start the new thread first says that it is there and then waits until the starter lets it run; in join the starter sleeps until the thread notifies it at its end: three futex wakes at most, besides the scheduler's own work")
                .betweenStamps("batches of the Thread's allocation, start, the thread's whole life, join")
                .limits("a platform thread with the default stack, not from a pool; the Thread object is garbage of every operation; the new thread may run where its starter may, so on the same CPU if that is pinned")
                .sources("https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/lang/Thread.html", "clone(2)", "futex(2)");
    }

    @Override
    public Call open(Case subject) {
        Task task = new Task();
        return x -> {
            task.x = x;
            Thread thread = new Thread(task);
            thread.start();
            thread.join();
            return task.x;
        };
    }
}
