package hopcost.worker.mechanism;

import hopcost.worker.protocol.Command.SeatOrder;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import java.util.List;

/** What is wrong with the seats asked for. */
final class Attaching {
    private Attaching() {}

    static void checkRoles(List<SeatOrder> orders) throws WorkerFailure {
        boolean one = orders.size() == 1;
        boolean both = orders.size() == 2
                && orders.get(0).role() == Role.CALLER
                && orders.get(1).role() == Role.CALLEE;
        if (!one && !both) {
            throw new WorkerFailure("a round trip has one seat here, or both with the caller first");
        }
    }

    static void checkOwn(boolean own, List<SeatOrder> orders) throws WorkerFailure {
        for (SeatOrder order : orders) {
            if (order.link() instanceof LinkHalf.Own != own) {
                throw new WorkerFailure("either all seats come with a link or none");
            }
        }
        if (own && orders.size() != 2) {
            throw new WorkerFailure("one end without a link has nobody to talk to");
        }
    }
}
