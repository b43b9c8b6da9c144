package hopcost.worker.seat;

import hopcost.worker.protocol.Role;
import hopcost.worker.workload.Call;
import hopcost.worker.workload.Calls;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import java.util.Optional;

/** The one end of a call: the calling thread. */
public record CallSeat(Call call) implements Seat {
    @Override
    public Role role() {
        return Role.CALLER;
    }

    @Override
    public long tid() throws Exception {
        return Threads.tid();
    }

    @Override
    public Optional<String> offers() {
        return Optional.empty();
    }

    @Override
    public void meet() {}

    @Override
    public void start(Order order) {}

    @Override
    public Outcome finish(Order order) throws Exception {
        return Calls.play(call, order);
    }
}
