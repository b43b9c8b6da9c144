package hopcost.worker.workload;

/** One end of a link over which numbered messages go, in the thread that calls. */
public interface Channel {
    /** Sends message {@code sequence}. */
    void send(long sequence) throws Exception;

    /** Waits for a message, and sees that it is message {@code sequence} and no other. */
    void receive(long sequence) throws Exception;

    /** Called by the thread that plays the end, at the beginning of every phase. */
    default void enter() {}
}
