package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Player;
import hopcost.worker.seat.Threads;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;

/** {@code virtual-threads}: two virtual threads and two SynchronousQueues between them. */
final class VirtualThreads implements ChannelMechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("virtual-threads", "java", "two virtual threads and a SynchronousQueue per direction", "thread")
                .unavailable(Threads.virtualUnavailable())
                .payload(0, PAYLOAD_MAX, 64)
                .crosses("the reference to a direct ByteBuffer; its bytes stay in place")
                .copies("nobody copies the message; a virtual thread that parks has its stack frames copied to the heap, and back when it goes on")
                .wakes("the JVM: unpark puts the virtual thread into the queue of the scheduler's pool, where a carrier thread takes it, which is woken by a futex wake if it sleeps")
                .betweenStamps("write the message, put, park and leave the carrier thread, go on on a carrier thread, take; the same on the other side")
                .limits("Java 21 or later; an end is no thread of the kernel, so none is pinned: the carrier threads (as many as the JVM sees processors) run where the process may; the main thread sleeps; a node is garbage of every hand-over")
                .sources("https://openjdk.org/jeps/444", "https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/concurrent/SynchronousQueue.html");
    }

    @Override
    public Ends<Channel> pair(Case subject) throws WorkerFailure {
        return SynchronousQueues.between(new Contents(subject.payload()));
    }

    @Override
    public Player player(int place) throws WorkerFailure {
        return new Player.VirtualThread();
    }
}
