package hopcost.worker.seat;

import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Outcome;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/** Who plays an end, phase by phase. */
public sealed interface Player {
    long tid() throws Exception;

    void start(Callable<Outcome> phase) throws Exception;

    Outcome finish() throws Exception;

    /** The thread that reads the commands: it is a seat's as long as a phase lasts. */
    final class MainThread implements Player {
        private Callable<Outcome> phase;

        @Override
        public long tid() throws Exception {
            return Threads.tid();
        }

        @Override
        public void start(Callable<Outcome> phase) {
            this.phase = phase;
        }

        @Override
        public Outcome finish() throws Exception {
            return phase.call();
        }
    }

    /** A thread of its own, the same one for all phases. */
    final class OwnThread implements Player {
        private final ExecutorService executor =
                Executors.newSingleThreadExecutor(Threads.platform("seat"));
        private Future<Outcome> playing;

        @Override
        public long tid() throws Exception {
            return executor.submit(Threads::tid).get();
        }

        @Override
        public void start(Callable<Outcome> phase) {
            playing = executor.submit(ending(phase));
        }

        @Override
        public Outcome finish() throws Exception {
            return resultOf(playing);
        }
    }

    /** A virtual thread, a new one for each phase. */
    final class VirtualThread implements Player {
        private final MethodHandle startVirtualThread;
        private FutureTask<Outcome> playing;

        public VirtualThread() throws WorkerFailure {
            startVirtualThread = Threads.startVirtualThread();
        }

        @Override
        public long tid() {
            return 0;
        }

        @Override
        public void start(Callable<Outcome> phase) throws Exception {
            playing = new FutureTask<>(ending(phase));
            try {
                Thread started = (Thread) startVirtualThread.invokeExact((Runnable) playing);
                started.setName("seat");
            } catch (Exception | Error error) {
                throw error;
            } catch (Throwable error) {
                throw new WorkerFailure("starting a virtual thread: " + error, error);
            }
        }

        @Override
        public Outcome finish() throws Exception {
            return resultOf(playing);
        }
    }

    /** A failure ends the worker at once: the other end may be waiting for this one for ever. */
    private static Callable<Outcome> ending(Callable<Outcome> phase) {
        return () -> {
            try {
                return phase.call();
            } catch (Throwable error) {
                throw LastWords.fail(error);
            }
        };
    }

    private static Outcome resultOf(Future<Outcome> playing) throws Exception {
        try {
            return playing.get();
        } catch (ExecutionException error) {
            throw LastWords.fail(error.getCause());
        }
    }
}
