package hopcost.worker;

import hopcost.worker.Loops.Channel;
import hopcost.worker.NettyLink.Frames;
import hopcost.worker.Task.Role;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.channels.SocketChannel;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * {@code websocket-handoff}: Netty with its event loop as an I/O thread: the application sends
 * from a thread of its own, and what arrives waits for it in a queue.
 */
final class WebSocketHandoff implements Channel {
    private final NettyLink netty = new NettyLink();
    private final Frames frames;
    private final Inbox inbox = new Inbox();
    private io.netty.channel.Channel channel;

    WebSocketHandoff(SocketChannel socket, Role role, Messages messages) throws Exception {
        frames = new Frames(messages);
        netty.begin(socket, role, messages.payload(), inbox);
    }

    @Override
    public void await() throws Exception {
        channel = netty.await();
    }

    @Override
    public void send(long sequence) {
        channel.writeAndFlush(frames.of(sequence), channel.voidPromise());
    }

    @Override
    public void receive(long sequence) throws Exception {
        Object received;
        do {
            received = inbox.queue.take();
            if (received instanceof Throwable error) {
                throw NettyLink.failure(error);
            }
        } while (!frames.isWhole(received, sequence));
    }

    /** What the event loop leaves for the application. */
    private static final class Inbox extends ChannelInboundHandlerAdapter {
        final LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();

        @Override
        public void channelRead(ChannelHandlerContext context, Object received) {
            queue.add(received);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            queue.add(WorkerFailure.peerGone());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
            queue.add(error);
        }
    }
}
