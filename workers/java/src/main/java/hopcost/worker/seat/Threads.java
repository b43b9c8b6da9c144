package hopcost.worker.seat;

import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/** The threads of this JVM. */
public final class Threads {
    /** The release of Java that has virtual threads. */
    private static final int VIRTUAL_SINCE = 21;

    private Threads() {}

    /** The kernel's id of the calling thread. */
    public static long tid() throws IOException {
        // The link reads PID/task/TID.
        Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
        return Long.parseLong(self.getFileName().toString());
    }

    /** Platform threads that do not keep the process alive. */
    public static ThreadFactory platform(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Why there are no virtual threads here; empty where there are. */
    public static Optional<String> virtualUnavailable() {
        if (Runtime.version().feature() >= VIRTUAL_SINCE) {
            return Optional.empty();
        }
        String here = System.getProperty("java.version");
        return Optional.of("needs Java " + VIRTUAL_SINCE + " or later; this is " + here);
    }

    /** {@code Thread.startVirtualThread}, which this worker, compiled for Java 17, cannot name. */
    public static MethodHandle startVirtualThread() throws WorkerFailure {
        Optional<String> reason = virtualUnavailable();
        if (reason.isPresent()) {
            throw new WorkerFailure(reason.get());
        }
        try {
            return MethodHandles.lookup().findStatic(
                    Thread.class,
                    "startVirtualThread",
                    MethodType.methodType(Thread.class, Runnable.class));
        } catch (ReflectiveOperationException error) {
            throw new WorkerFailure("this JVM has no Thread.startVirtualThread", error);
        }
    }
}
