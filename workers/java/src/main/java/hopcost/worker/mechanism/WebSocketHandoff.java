package hopcost.worker.mechanism;

import hopcost.worker.link.Ends;
import hopcost.worker.link.Opening;
import hopcost.worker.link.StreamSockets;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.LinkHalf;
import hopcost.worker.protocol.Role;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.workload.Channel;
import hopcost.worker.workload.Contents;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.nio.channels.SocketChannel;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * {@code websocket-handoff}: Netty with its event loop as an I/O thread: the application sends
 * from a thread of its own, and what arrives waits for it in a queue.
 */
final class WebSocketHandoff implements ChannelMechanism {
    @Override
    public Facts facts() {
        return Facts.roundtrip("websocket-handoff", "websocket", "as websocket, but used from a thread besides the event loop's: writeAndFlush there, a LinkedBlockingQueue back (the structure of hopcost's websocket-threaded)", "process", "thread")
                .payload(0, PAYLOAD_MAX, 64)
                .carriedBy("address")
                .carrier("websocket")
                .crosses("as websocket; besides, in each process a task from the application to the event loop and the received frame from there to the application")
                .copies("as websocket")
                .wakes("the application wakes the event loop by an eventfd, the kernel the other event loop, that one its application by a futex: three wake-ups a message, six a round trip; each end has one hidden thread, the event loop's")
                .betweenStamps("a task for the event loop, eventfd, epoll_wait(2), frame, write(2), epoll_wait(2), read(2), parse, the queue, the futex; the same on the other side; the handshakes are over before")
                .limits("as websocket; a task is garbage of every message")
                .sources("RFC 6455", "https://netty.io/4.2/api/", "eventfd(2)", "futex(2)");
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

    private static final class End implements Channel {
        private final Contents contents;
        private final ByteBuf[] messages;
        private final Inbox inbox;
        private final io.netty.channel.Channel channel;

        End(Contents contents, Inbox inbox, io.netty.channel.Channel channel) {
            this.contents = contents;
            this.inbox = inbox;
            this.channel = channel;
            messages = NettyLink.lasting(contents);
        }

        @Override
        public void send(long sequence) {
            ByteBuf message = messages[(int) sequence & messages.length - 1];
            channel.writeAndFlush(
                    new BinaryWebSocketFrame(message.duplicate()), channel.voidPromise());
        }

        @Override
        public void receive(long sequence) throws Exception {
            ByteBuf message = messages[(int) sequence & messages.length - 1];
            int compared = 0;
            for (boolean last = false; !last; ) {
                WebSocketFrame frame = next();
                ByteBuf content = frame.content();
                int length = content.readableBytes();
                last = frame.isFinalFragment();
                boolean right = length <= contents.payload() - compared
                        && ByteBufUtil.equals(content, content.readerIndex(), message, compared, length);
                compared += length;
                frame.release();
                if (!right || last && compared != contents.payload()) {
                    throw HandOver.corrupted(sequence);
                }
            }
        }

        private WebSocketFrame next() throws Exception {
            Object received = inbox.queue.take();
            if (received instanceof BinaryWebSocketFrame || received instanceof ContinuationWebSocketFrame) {
                return (WebSocketFrame) received;
            }
            if (received instanceof Throwable error) {
                throw NettyLink.failure(error);
            }
            throw NettyLink.unexpected(received);
        }
    }

    @Override
    public Ends<Channel> pair(Case subject) throws Exception {
        Contents contents = new Contents(subject.payload());
        Ends<SocketChannel> sockets = StreamSockets.tcpPair();
        NettyLink caller = new NettyLink();
        NettyLink callee = new NettyLink();
        Ends<Inbox> inboxes = new Ends<>(new Inbox(), new Inbox());
        caller.begin(sockets.caller(), Role.CALLER, contents.payload(), inboxes.caller());
        callee.begin(sockets.callee(), Role.CALLEE, contents.payload(), inboxes.callee());
        return new Ends<>(
                new End(contents, inboxes.caller(), caller.await()),
                new End(contents.forAnotherEnd(), inboxes.callee(), callee.await()));
    }

    @Override
    public Opening<Channel> open(Case subject, Role role, LinkHalf half) throws Exception {
        Contents contents = new Contents(subject.payload());
        return StreamSockets.tcp(half).then(socket -> {
            NettyLink link = new NettyLink();
            Inbox inbox = new Inbox();
            link.begin(socket, role, contents.payload(), inbox);
            return new End(contents, inbox, link.await());
        });
    }
}
