package hopcost.worker.mechanism;

import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.LastWords;
import hopcost.worker.workload.Contents;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import hopcost.worker.workload.Stamper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.CompletableFuture;

/**
 * The round trip as Netty wants it: every message that arrives is answered by the handler that it
 * is given to, in the thread of the event loop. The same exchanges as in {@code Roundtrip}, turned
 * inside out.
 */
final class WebSocketLoop extends ChannelInboundHandlerAdapter {
    private final Role role;
    private final int payload;
    private final ByteBuf[] messages;
    private ChannelHandlerContext context;

    // Of the phase that is being played; touched by the event loop alone.
    private CompletableFuture<Outcome> outcome;
    private Order order;
    private Stamper stamper;
    private long left;
    private long expected;
    private int compared;

    WebSocketLoop(Role role, Contents contents) {
        this.role = role;
        payload = contents.payload();
        messages = NettyLink.lasting(contents);
    }

    /** Begins a phase; called in the event loop. */
    void begin(Order phase, Stamper itsStamper, CompletableFuture<Outcome> itsOutcome) {
        order = phase;
        stamper = itsStamper;
        outcome = itsOutcome;
        if (!context.channel().isActive()) {
            throw LastWords.fail(WorkerFailure.peerGone());
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
        ByteBuf message = messages[(int) sequence & messages.length - 1];
        expected = sequence + 1;
        context.writeAndFlush(new BinaryWebSocketFrame(message.duplicate()), context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object received) throws WorkerFailure {
        boolean whole;
        try {
            if (!(received instanceof BinaryWebSocketFrame)
                    && !(received instanceof ContinuationWebSocketFrame)) {
                throw NettyLink.unexpected(received);
            }
            whole = isWhole((WebSocketFrame) received);
        } finally {
            ReferenceCountUtil.release(received);
        }
        if (whole) {
            switch (role) {
                case CALLER -> answered();
                case CALLEE -> asked();
            }
        }
    }

    /** Compares what has come, and says whether the message is complete. */
    private boolean isWhole(WebSocketFrame frame) throws WorkerFailure {
        ByteBuf content = frame.content();
        ByteBuf message = messages[(int) expected & messages.length - 1];
        int length = content.readableBytes();
        boolean last = frame.isFinalFragment();
        boolean right = outcome != null
                && length <= payload - compared
                && ByteBufUtil.equals(content, content.readerIndex(), message, compared, length)
                && (!last || compared + length == payload);
        if (!right) {
            throw HandOver.corrupted(expected);
        }
        compared = last ? 0 : compared + length;
        return last;
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
            finish(stamper.outcome(order.exchanges() - Order.LEAD_IN));
        }
    }

    private void asked() {
        send(expected + 1);
        if (--left == 0) {
            finish(Outcome.unstamped(role, order.exchanges() - Order.LEAD_IN));
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
            throw LastWords.fail(WorkerFailure.peerGone());
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
        throw LastWords.fail(NettyLink.failure(error));
    }
}
