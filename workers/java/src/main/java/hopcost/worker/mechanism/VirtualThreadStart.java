package hopcost.worker.mechanism;

import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Threads;
import hopcost.worker.workload.Call;
import java.lang.invoke.MethodHandle;

/** {@code virtual-thread-start}: start a virtual thread that does nothing, and join it. */
final class VirtualThreadStart implements CallMechanism {
    private static final class Task implements Runnable {
        long x;

        @Override
        public void run() {
            x++;
        }
    }

    /** In a holder, because only a constant handle is compiled into the call that it stands for. */
    private static final class Holder {
        static final MethodHandle START = start();

        private static MethodHandle start() {
            try {
                return Threads.startVirtualThread();
            } catch (WorkerFailure error) {
                throw new ExceptionInInitializerError(error);
            }
        }
    }

    @Override
    public Facts facts() {
        return Facts.call("virtual-thread-start", "java", "start a virtual thread that does nothing, and join it from a platform thread")
                .unavailable(Threads.virtualUnavailable())
                .crosses("one number, from the starter to the virtual thread and back")
                .copies("nobody")
                .wakes("the starter puts the virtual thread into the scheduler's pool and wakes a carrier thread of it if one sleeps; the virtual thread unparks the starter, which is a platform thread, by a futex wake")
                .betweenStamps("batches of the virtual thread's allocation, Thread.startVirtualThread, its whole life on a carrier thread, join")
                .limits("Java 21 or later; the carrier threads (as many as the JVM sees processors) are threads besides the seat's, and CPU time is used there; the virtual thread is garbage of every operation")
                .sources("https://openjdk.org/jeps/444");
    }

    @Override
    public Call open(Case subject) throws WorkerFailure {
        var missing = Threads.virtualUnavailable();
        if (missing.isPresent()) {
            throw new WorkerFailure(missing.get());
        }
        Task task = new Task();
        return x -> {
            task.x = x;
            start(task).join();
            return task.x;
        };
    }

    private static Thread start(Runnable task) throws Exception {
        try {
            return (Thread) Holder.START.invokeExact(task);
        } catch (Exception | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new WorkerFailure("starting a virtual thread: " + error, error);
        }
    }
}
