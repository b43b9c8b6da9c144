package hopcost.worker;

import hopcost.worker.Links.Link;
import hopcost.worker.Loops.Call;
import hopcost.worker.Loops.Channel;
import hopcost.worker.Loops.Order;
import hopcost.worker.Loops.Outcome;
import hopcost.worker.Task.Role;
import java.util.concurrent.FutureTask;

/** An end of the trial and the thread that plays it. */
interface Seat {
    Role role();

    /** The kernel's id of the thread that plays, 0 where none belongs to this end alone. */
    long tid() throws Exception;

    /** The address that this end has bound and where somebody is still to be met; null without. */
    default String offers() {
        return null;
    }

    /** Takes the end of the link and begins a handshake, where there is one. */
    default void open() throws Exception {}

    /** Waits for the end of the handshake. */
    default void await() throws Exception {}

    /** Starts a phase, unless it is the calling thread that plays. */
    void start(Order order) throws Exception;

    /** Plays a phase, or waits until it has been played. */
    Outcome finish() throws Exception;

    /** The one end of a call: the calling thread. */
    final class OfCall implements Seat {
        private final Call call;
        private Order order;

        OfCall(Call call) {
            this.call = call;
        }

        @Override
        public Role role() {
            return Role.CALLER;
        }

        @Override
        public long tid() throws Exception {
            return Threads.tid();
        }

        @Override
        public void start(Order order) {
            this.order = order;
        }

        @Override
        public Outcome finish() throws Exception {
            return Loops.play(call, order);
        }
    }

    /** An end of a round trip whose channel is used by the thread that calls it. */
    final class OfChannel implements Seat {
        private final Role role;
        private final Player player;
        private final Link<Channel> link;
        private Channel channel;
        private FutureTask<Outcome> playing;

        OfChannel(Role role, Player player, Link<Channel> link) {
            this.role = role;
            this.player = player;
            this.link = link;
        }

        @Override
        public Role role() {
            return role;
        }

        @Override
        public long tid() throws Exception {
            return player.tid().call();
        }

        @Override
        public String offers() {
            return link.offers();
        }

        @Override
        public void open() throws Exception {
            channel = link.opening().call();
        }

        @Override
        public void await() throws Exception {
            channel.await();
        }

        @Override
        public void start(Order order) {
            playing = new FutureTask<>(() -> {
                try {
                    return Loops.play(channel, role, order);
                } catch (Throwable error) {
                    // At once: the other end may be waiting for this one for ever.
                    throw Main.fail(error);
                }
            });
            if (player.executor() != null) {
                player.executor().execute(playing);
            }
        }

        @Override
        public Outcome finish() throws Exception {
            if (player.executor() == null) {
                playing.run();
            }
            return playing.get();
        }
    }
}
