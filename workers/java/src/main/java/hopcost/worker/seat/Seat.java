package hopcost.worker.seat;

import hopcost.worker.protocol.Role;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import java.util.Optional;

/** An end of the trial and the thread that plays it. */
public interface Seat {
    Role role();

    /** The kernel's id of the thread that plays, 0 where none belongs to this end alone. */
    long tid() throws Exception;

    /** The address that this end has bound and where somebody is still to be met. */
    Optional<String> offers();

    /** Takes the one who connects to that address; nothing where none was offered. */
    void meet() throws Exception;

    /** Starts a phase, unless it is the calling thread that plays. */
    void start(Order order) throws Exception;

    /** Plays a phase, or waits until it has been played. */
    Outcome finish(Order order) throws Exception;
}
