package hopcost.worker;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/** The threads of this JVM. */
final class Threads {
    /** The release of Java that has virtual threads. */
    private static final int VIRTUAL_SINCE = 21;

    private Threads() {}

    /** The kernel's id of the calling thread. */
    static long tid() throws IOException {
        // The link reads PID/task/TID.
        Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
        return Long.parseLong(self.getFileName().toString());
    }

    /** Platform threads that do not keep the process alive. */
    static ThreadFactory platform(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Why there are no virtual threads here; empty where there are. */
    static Optional<String> virtualUnavailable() {
        if (Runtime.version().feature() >= VIRTUAL_SINCE) {
            return Optional.empty();
        }
        String here = System.getProperty("java.version");
        return Optional.of("needs Java " + VIRTUAL_SINCE + " or later; this is " + here);
    }

    /**
     * {@code Thread.startVirtualThread}, which this worker, compiled for Java 17, cannot name. In a
     * holder, because only a constant handle is compiled into the call that it stands for.
     */
    private static final class Holder {
        static final MethodHandle START_VIRTUAL = startVirtual();

        private static MethodHandle startVirtual() {
            MethodType type = MethodType.methodType(Thread.class, Runnable.class);
            try {
                return MethodHandles.lookup().findStatic(Thread.class, "startVirtualThread", type);
            } catch (ReflectiveOperationException error) {
                throw new ExceptionInInitializerError(error);
            }
        }
    }

    static Thread startVirtual(Runnable task) {
        try {
            return (Thread) Holder.START_VIRTUAL.invokeExact(task);
        } catch (RuntimeException | Error error) {
            throw error;
        } catch (Throwable error) {
            throw new IllegalStateException("starting a virtual thread: " + error, error);
        }
    }
}
