package hopcost.worker.mechanism;

import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.Command.SeatOrder;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Seat;
import hopcost.worker.workload.Contents;
import java.util.List;

/** A way to get something from one end to the other, or to do one thing at one end. */
public interface Mechanism {
    Facts facts();

    /** Takes the seats of a trial, in the order asked. */
    List<Seat> attach(Case subject, List<SeatOrder> orders) throws Exception;

    /** Most bytes of a message. */
    int PAYLOAD_MAX = Contents.PAYLOAD_MAX;

    /** Every name, in the order of `describe`. */
    List<String> NAMES = List.of(
            "mutex-uncontended",
            "thread-start",
            "virtual-thread-start",
            "udp-send",
            "synchronous-queue",
            "linked-transfer-queue",
            "park",
            "condvar",
            "virtual-threads",
            "pipe",
            "unix-stream",
            "tcp",
            "udp",
            "websocket",
            "websocket-handoff");

    /**
     * The mechanism of this name. Loads the classes of this one and of no other, so that in the timed
     * loops there is only one that the compiler has to reckon with.
     */
    static Mechanism named(String name) throws WorkerFailure {
        return switch (name) {
            case "mutex-uncontended" -> new MutexUncontended();
            case "thread-start" -> new ThreadStart();
            case "virtual-thread-start" -> new VirtualThreadStart();
            case "udp-send" -> new UdpSend();
            case "synchronous-queue" -> new SynchronousQueues();
            case "linked-transfer-queue" -> new TransferQueues();
            case "park" -> new Park();
            case "condvar" -> new Condvar();
            case "virtual-threads" -> new VirtualThreads();
            case "pipe" -> new Pipes();
            case "unix-stream" -> new UnixStream();
            case "tcp" -> new Tcp();
            case "udp" -> new Udp();
            case "websocket" -> new WebSocket();
            case "websocket-handoff" -> new WebSocketHandoff();
            default -> throw new WorkerFailure("this worker has no mechanism `" + name + "`");
        };
    }
}
