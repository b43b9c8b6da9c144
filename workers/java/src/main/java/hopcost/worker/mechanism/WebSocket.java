package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.link.StreamSockets;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.Command.SeatOrder;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Seat;
import hopcost.worker.workload.Contents;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import hopcost.worker.workload.Stamper;
import io.netty.channel.Channel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** {@code websocket}: Netty, with the whole round trip in the thread of the event loop. */
final class WebSocket implements Mechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("websocket", "websocket", "WebSocket messages over loopback TCP (Netty, NIO), answered in the event loop's thread", "process", "thread")
                .payload(0, PAYLOAD_MAX, 64)
                .carriedBy("address")
                .crosses("one frame a message: a header of 2, 4 or 10 bytes, from the client 4 bytes of mask, the message; as TCP segments through the loopback device")
                .copies("the kernel in and out; the client masks into a new buffer, the server copies up to 1 KiB behind the header into a new buffer and gathers more than that; what is received is unmasked in place and compared there")
                .wakes("the kernel: the softirq that the write raises delivers the segment and wakes the event loop's thread, which sleeps in epoll_wait(2); that thread plays the end (its id is the seat's), and no other takes part: the main thread sleeps during a phase")
                .betweenStamps("frame, mask (client), write(2), epoll_wait(2), read(2), parse, unmask (server), compare, all inside Netty's pipeline; the same on the other side; the handshakes are over before")
                .limits("0 bytes to 64 KiB; no compression; each message leaves small objects and, of a client, a pooled buffer behind; Netty's leak detection looks at some buffers, as by default; the connection ends without a closing handshake")
                .sources("RFC 6455", "https://netty.io/4.2/api/", "epoll(7)");
    }

    @Override
    public List<Seat> attach(Case subject, List<SeatOrder> orders) throws Exception {
        Attaching.checkRoles(orders);
        boolean own = orders.get(0).link() instanceof LinkHalf.Own;
        Attaching.checkOwn(own, orders);
        Contents contents = new Contents(subject.payload());
        Ends<SocketChannel> pair = own ? StreamSockets.tcpPair() : null;
        List<LoopSeat> seats = new ArrayList<>();
        for (SeatOrder order : orders) {
            Opening<SocketChannel> opening = own
                    ? new Opening.Open<>(pair.of(order.role()))
                    : StreamSockets.tcp(order.link());
            seats.add(new LoopSeat(order.role(), opening, contents));
        }
        // Both handshakes are begun before either is waited for.
        for (LoopSeat seat : seats) {
            if (seat.offers().isEmpty()) {
                seat.begin();
            }
        }
        for (LoopSeat seat : seats) {
            if (seat.offers().isEmpty()) {
                seat.await();
            }
        }
        return List.copyOf(seats);
    }

    /** An end that an event loop plays. */
    private static final class LoopSeat implements Seat {
        private final NettyLink link = new NettyLink();
        private final Role role;
        private final Contents contents;
        private final WebSocketLoop handler;
        private Opening<SocketChannel> opening;
        private Channel channel;
        private CompletableFuture<Outcome> playing;

        LoopSeat(Role role, Opening<SocketChannel> opening, Contents contents) {
            this.role = role;
            this.opening = opening;
            this.contents = contents;
            handler = new WebSocketLoop(role, contents.forAnotherEnd());
        }

        void begin() throws Exception {
            link.begin(opening.meet(), role, contents.payload(), handler);
        }

        void await() throws Exception {
            channel = link.await();
        }

        @Override
        public Role role() {
            return role;
        }

        @Override
        public long tid() throws Exception {
            return link.tid();
        }

        @Override
        public Optional<String> offers() {
            return opening.offers();
        }

        @Override
        public void meet() throws Exception {
            if (channel == null) {
                opening = new Opening.Open<>(opening.meet());
                begin();
                await();
            }
        }

        @Override
        public void start(Order order) throws Exception {
            if (channel == null) {
                throw new WorkerFailure("nobody has been met yet");
            }
            Stamper stamper = new Stamper(order);
            playing = new CompletableFuture<>();
            CompletableFuture<Outcome> itsOutcome = playing;
            channel.eventLoop().execute(() -> handler.begin(order, stamper, itsOutcome));
        }

        @Override
        public Outcome finish(Order order) throws Exception {
            return playing.get();
        }
    }
}
