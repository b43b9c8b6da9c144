package hopcost.worker;

import hopcost.worker.Links.Ends;
import hopcost.worker.Links.Link;
import hopcost.worker.Loops.Order;
import hopcost.worker.Loops.Outcome;
import hopcost.worker.Loops.Stamper;
import hopcost.worker.NettyLink.Frames;
import hopcost.worker.Task.Role;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * {@code websocket}: the round trip as Netty wants it: every message that arrives is answered by the
 * handler that it is given to, in the thread of the event loop, which is the seat's. The same
 * exchanges as in {@code Loops}, turned inside out.
 */
final class WebSocketLoop extends ChannelInboundHandlerAdapter implements Seat {
    private final NettyLink netty = new NettyLink();
    private final Role role;
    private final Link<SocketChannel> link;
    private final int payload;
    private final Frames frames;
    private ChannelHandlerContext context;
    private CompletableFuture<Outcome> playing;

    // Of the phase that is being played; touched by the event loop alone.
    private CompletableFuture<Outcome> outcome;
    private Order order;
    private Stamper stamper;
    private long left;
    private long expected;

    private WebSocketLoop(Role role, Link<SocketChannel> link, Messages messages) {
        this.role = role;
        this.link = link;
        payload = messages.payload();
        frames = new Frames(messages);
    }

    static List<Seat> attach(Task task) throws Exception {
        Messages messages = new Messages(task.payload());
        Ends<SocketChannel> own = task.makesLink() ? Links.tcpPair() : null;
        List<Seat> seats = new ArrayList<>();
        for (Task.Asked asked : task.seats()) {
            Link<SocketChannel> link =
                    own == null ? Links.tcp(asked.link()) : Link.open(own.of(asked.role()));
            seats.add(new WebSocketLoop(asked.role(), link, messages.forAnotherEnd()));
        }
        return seats;
    }

    @Override
    public Role role() {
        return role;
    }

    @Override
    public long tid() throws Exception {
        return netty.tid();
    }

    @Override
    public String offers() {
        return link.offers();
    }

    @Override
    public void open() throws Exception {
        netty.begin(link.opening().call(), role, payload, this);
    }

    @Override
    public void await() throws Exception {
        netty.await();
    }

    @Override
    public void start(Order order) throws Exception {
        Stamper itsStamper = new Stamper(order);
        CompletableFuture<Outcome> itsOutcome = new CompletableFuture<>();
        playing = itsOutcome;
        netty.await().eventLoop().execute(() -> begin(order, itsStamper, itsOutcome));
    }

    @Override
    public Outcome finish() throws Exception {
        return playing.get();
    }

    /** Begins a phase; called in the event loop. */
    private void begin(Order phase, Stamper itsStamper, CompletableFuture<Outcome> itsOutcome) {
        order = phase;
        stamper = itsStamper;
        outcome = itsOutcome;
        if (!context.channel().isActive()) {
            throw Main.fail(WorkerFailure.peerGone());
        }
        // What has arrived meanwhile waits in the socket, the end of the connection too.
        context.channel().config().setAutoRead(true);
        switch (role) {
            case CALLER -> {
                left = Order.LEAD_IN;
                send(order.first());
            }
            case CALLEE -> {
                left = order.exchanges();
                expected = order.first();
            }
        }
    }

    private void send(long sequence) {
        expected = sequence + 1;
        context.writeAndFlush(frames.of(sequence), context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object received) throws WorkerFailure {
        if (outcome == null) {
            throw WorkerFailure.corrupted(expected);
        }
        if (frames.isWhole(received, expected)) {
            switch (role) {
                case CALLER -> answered();
                case CALLEE -> asked();
            }
        }
    }

    private void answered() {
        boolean more;
        if (left > 0) {
            left--;
            more = left > 0 || stamper.begin();
        } else {
            more = stamper.more();
        }
        if (more) {
            send(expected + 1);
        } else {
            finish(stamper.outcome(order.count()));
        }
    }

    private void asked() {
        send(expected + 1);
        if (--left == 0) {
            finish(Outcome.unstamped(role, order.count()));
        }
    }

    private void finish(Outcome seen) {
        context.channel().config().setAutoRead(false);
        CompletableFuture<Outcome> done = outcome;
        outcome = null;
        done.complete(seen);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object handshakeComplete) {
        context.channel().config().setAutoRead(false);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (outcome != null) {
            throw Main.fail(WorkerFailure.peerGone());
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
        throw Main.fail(NettyLink.failure(error));
    }
}
