package hopcost.worker;

import hopcost.worker.Links.Ends;
import hopcost.worker.Links.Link;
import hopcost.worker.Loops.Call;
import hopcost.worker.Loops.Channel;
import hopcost.worker.Task.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.json.JSONObject;

/**
 * A way to get something from one end to the other, or to do one thing at one end. Its facts
 * stand in worker.toml; the revision goes up by one whenever a change can move its numbers.
 */
record Mechanism(String name, int revision, Attach attach) {
    /** Takes the seats of a trial, in the order asked. */
    interface Attach {
        List<Seat> attach(Task task) throws Exception;
    }

    /**
     * In the order of the documentation. Channels are made in lambdas, which load no class before they
     * are called: in the timed loops there is only one channel that the compiler has to reckon with.
     */
    static final List<Mechanism> ALL = List.of(
            new Mechanism("mutex-uncontended", 1, call(Operations::mutex)),
            new Mechanism("thread-start", 1, call(Operations::threadStart)),
            new Mechanism("virtual-thread-start", 1, call(Operations::virtualThreadStart)),
            new Mechanism("udp-send", 1, call(Operations::udpSend)),
            new Mechanism("synchronous-queue", 2, threads(messages -> HandOver.synchronousQueues(messages))),
            new Mechanism("linked-transfer-queue", 2, threads(messages -> HandOver.transferQueues(messages))),
            new Mechanism("park", 2, threads(messages -> HandOver.park(messages))),
            new Mechanism("condvar", 2, threads(messages -> HandOver.condvar(messages))),
            new Mechanism("virtual-threads", 2, Mechanism::virtualThreads),
            new Mechanism("pipe", 2, over(Sockets::pipePair, Sockets::pipe, Sockets::stream)),
            new Mechanism("unix-stream", 2, over(Links::unixPair, Links::unix, Sockets::stream)),
            new Mechanism("tcp", 2, over(Links::tcpPair, Links::tcp, Sockets::stream)),
            new Mechanism("udp", 2, over(Links::udpPair, Links::udp, Sockets::datagrams)),
            new Mechanism("websocket", 3, task -> WebSocketLoop.attach(task)),
            new Mechanism("websocket-handoff", 3, over(Links::tcpPair, Links::tcp,
                    (socket, role, messages, parameters) -> new WebSocketHandoff(socket, role, messages))));

    static Mechanism named(String name) throws WorkerFailure {
        for (Mechanism mechanism : ALL) {
            if (mechanism.name.equals(name)) {
                return mechanism;
            }
        }
        throw new WorkerFailure("this worker has no mechanism `" + name + "`");
    }

    /** Why it cannot be used here; empty where it can. */
    Optional<String> unavailable() {
        return name.startsWith("virtual-") ? Threads.virtualUnavailable() : Optional.empty();
    }

    /** Opens the operation of a call. */
    private interface Operation {
        Call open(int payload) throws Exception;
    }

    private static Attach call(Operation operation) {
        return task -> List.of(new Seat.OfCall(operation.open(task.payload())));
    }

    /** Makes both ends of a link between threads. */
    private interface Pair {
        Ends<Channel> of(Messages messages);
    }

    private static Attach threads(Pair pair) {
        return task -> {
            Ends<Channel> ends = pair.of(new Messages(task.payload()));
            return List.of(
                    new Seat.OfChannel(Role.CALLER, Player.ofMainThread(), Link.open(ends.caller())),
                    new Seat.OfChannel(Role.CALLEE, Player.ofOwnThread(), Link.open(ends.callee())));
        };
    }

    private static List<Seat> virtualThreads(Task task) {
        Ends<Channel> ends = HandOver.synchronousQueues(new Messages(task.payload()));
        return List.of(
                new Seat.OfChannel(Role.CALLER, Player.ofVirtualThread(), Link.open(ends.caller())),
                new Seat.OfChannel(Role.CALLEE, Player.ofVirtualThread(), Link.open(ends.callee())));
    }

    /** Opens this end of a link whose other end is elsewhere. */
    private interface Half<T> {
        Link<T> open(JSONObject half) throws Exception;
    }

    /** Makes a channel of a connected end. */
    private interface End<T> {
        Channel over(T end, Role role, Messages messages, JSONObject parameters) throws Exception;
    }

    private static <T> Attach over(Callable<Ends<T>> pair, Half<T> half, End<T> end) {
        return task -> {
            Messages messages = new Messages(task.payload());
            Ends<T> own = task.makesLink() ? pair.call() : null;
            List<Seat> seats = new ArrayList<>();
            for (Task.Asked asked : task.seats()) {
                Role role = asked.role();
                Messages its = seats.isEmpty() ? messages : messages.forAnotherEnd();
                Link<T> link = own == null ? half.open(asked.link()) : Link.open(own.of(role));
                Player player = seats.isEmpty() ? Player.ofMainThread() : Player.ofOwnThread();
                Link<Channel> channel = link.then(connected -> end.over(connected, role, its, task.parameters()));
                seats.add(new Seat.OfChannel(role, player, channel));
            }
            return seats;
        };
    }
}
