package hopcost.worker.mechanism;

import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.Command.SeatOrder;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.CallSeat;
import hopcost.worker.seat.Seat;
import hopcost.worker.workload.Call;
import java.util.List;

/** A mechanism of one thread. */
interface CallMechanism extends Mechanism {
    Call open(Case subject) throws Exception;

    @Override
    default List<Seat> attach(Case subject, List<SeatOrder> orders) throws Exception {
        if (orders.size() != 1 || orders.get(0).role() != Role.CALLER) {
            throw new WorkerFailure("a call has one end, the caller");
        }
        return List.of(new CallSeat(open(subject)));
    }
}
