package hopcost.worker.seat;

import hopcost.worker.link.Opening;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import hopcost.worker.workload.Roundtrip;
import java.util.Optional;

/** An end of a round trip whose channel is used by the thread that calls it. */
public final class ChannelSeat implements Seat {
    private final Role role;
    private final Player player;
    private Opening<Channel> opening;

    public ChannelSeat(Role role, Player player, Opening<Channel> opening) {
        this.role = role;
        this.player = player;
        this.opening = opening;
    }

    @Override
    public Role role() {
        return role;
    }

    @Override
    public long tid() throws Exception {
        return player.tid();
    }

    @Override
    public Optional<String> offers() {
        return opening.offers();
    }

    @Override
    public void meet() throws Exception {
        opening = new Opening.Open<>(opening.meet());
    }

    @Override
    public void start(Order order) throws Exception {
        if (!(opening instanceof Opening.Open<Channel> open)) {
            throw new WorkerFailure("nobody has been met yet");
        }
        player.start(() -> Roundtrip.play(open.end(), role, order));
    }

    @Override
    public Outcome finish(Order order) throws Exception {
        return player.finish();
    }
}
