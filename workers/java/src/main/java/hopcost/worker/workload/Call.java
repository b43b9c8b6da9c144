package hopcost.worker.workload;

/** One operation in one thread. */
@FunctionalInterface
public interface Call {
    /**
     * Does it. What it returns depends on {@code x}, so that each operation depends on the one
     * before.
     */
    long call(long x) throws Exception;
}
