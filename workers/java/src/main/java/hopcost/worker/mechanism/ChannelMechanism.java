package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.Command.SeatOrder;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.ChannelSeat;
import hopcost.worker.seat.Player;
import hopcost.worker.seat.Seat;
import hopcost.worker.workload.Channel;
import java.util.ArrayList;
import java.util.List;

/** A mechanism of two ends that each send and wait in a thread of their own. */
interface ChannelMechanism extends Mechanism {
    /** Both ends of a link within this process. */
    Ends<Channel> pair(Case subject) throws Exception;

    /** One end of a link whose other end is elsewhere. */
    default Opening<Channel> open(Case subject, Role role, LinkHalf link) throws Exception {
        throw new WorkerFailure("`" + subject.mechanism() + "` stays within one process");
    }

    /** Who plays the seat that was asked for at this place. */
    default Player player(int place) throws WorkerFailure {
        return place == 0 ? new Player.MainThread() : new Player.OwnThread();
    }

    @Override
    default List<Seat> attach(Case subject, List<SeatOrder> orders) throws Exception {
        Attaching.checkRoles(orders);
        boolean own = orders.get(0).link() instanceof LinkHalf.Own;
        Attaching.checkOwn(own, orders);
        Ends<Channel> pair = own ? pair(subject) : null;
        List<Seat> seats = new ArrayList<>();
        for (SeatOrder order : orders) {
            Opening<Channel> opening = own
                    ? new Opening.Open<>(pair.of(order.role()))
                    : open(subject, order.role(), order.link());
            seats.add(new ChannelSeat(order.role(), player(seats.size()), opening));
        }
        return seats;
    }
}
