package hopcost.worker;

import hopcost.worker.Task.Role;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** WebSocket by Netty over a socket that is connected already. */
final class NettyLink {
    private static final int HANDSHAKE_BYTES_MAX = 16 * 1024;

    /** A control frame's most; a frame of less must always fit. */
    private static final int FRAME_BYTES_MIN = 125;

    private final CompletableFuture<io.netty.channel.Channel> handshaken = new CompletableFuture<>();
    private final EventLoopGroup loop;

    /** An event loop of one thread, for one end. */
    NettyLink() {
        loop = new MultiThreadIoEventLoopGroup(
                1, Threads.platform("websocket"), NioIoHandler.newFactory());
    }

    /** The kernel's id of the event loop's thread. */
    long tid() throws Exception {
        return loop.submit(Threads::tid).get();
    }

    /**
     * Begins the handshake: the caller as client, the callee as server. The application gets the
     * frames that follow.
     */
    void begin(SocketChannel socket, Role role, int payload, ChannelHandler application) throws Exception {
        Sockets.setNodelay(socket, true);
        NioSocketChannel channel = new NioSocketChannel(null, socket);
        ChannelPipeline pipeline = channel.pipeline();
        int frameBytesMax = Math.max(payload, FRAME_BYTES_MIN);
        switch (role) {
            case CALLER -> pipeline.addLast(
                    new HttpClientCodec(),
                    new HttpObjectAggregator(HANDSHAKE_BYTES_MAX),
                    client(frameBytesMax));
            case CALLEE -> pipeline.addLast(
                    new HttpServerCodec(),
                    new HttpObjectAggregator(HANDSHAKE_BYTES_MAX),
                    server(frameBytesMax));
        }
        pipeline.addLast(new Handshake(), application);
        loop.register(channel).sync();
    }

    /** Waits until hands are shaken. */
    io.netty.channel.Channel await() throws Exception {
        try {
            return handshaken.get();
        } catch (ExecutionException error) {
            String reason = WorkerFailure.reason(error.getCause());
            throw new WorkerFailure("WebSocket handshake: " + reason, error);
        }
    }

    private static WebSocketClientProtocolHandler client(int frameBytesMax) {
        return new WebSocketClientProtocolHandler(WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri(URI.create("ws://127.0.0.1/"))
                .version(WebSocketVersion.V13)
                .allowExtensions(false)
                .performMasking(true)
                .maxFramePayloadLength(frameBytesMax)
                .build());
    }

    private static WebSocketServerProtocolHandler server(int frameBytesMax) {
        return new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                .websocketPath("/")
                .checkStartsWith(true)
                .decoderConfig(WebSocketDecoderConfig.newBuilder()
                        .allowExtensions(false)
                        .maxFramePayloadLength(frameBytesMax)
                        .build())
                .build());
    }

    /** Watches for the end of the handshake, and leaves. */
    private final class Handshake extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE
                    || event instanceof WebSocketServerProtocolHandler.HandshakeComplete) {
                context.fireUserEventTriggered(event);
                context.pipeline().remove(this);
                handshaken.complete(context.channel());
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            handshaken.completeExceptionally(WorkerFailure.peerGone());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
            handshaken.completeExceptionally(error);
        }
    }

    /** What Netty's error is for the end that gets it. */
    static WorkerFailure failure(Throwable error) {
        if (error instanceof WorkerFailure failure) {
            return failure;
        }
        return error instanceof IOException
                ? WorkerFailure.linkLost(error)
                : new WorkerFailure("WebSocket: " + WorkerFailure.reason(error), error);
    }

    /** The messages of an end as frames. */
    static final class Frames {
        private final int payload;
        private final ByteBuf[] messages;
        /** Bytes of the message that is arriving. */
        private int compared;

        /** Makes every message, to be sent more than once. */
        Frames(Messages contents) {
            payload = contents.payload();
            messages = new ByteBuf[contents.count()];
            for (int number = 0; number < messages.length; number++) {
                messages[number] = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(contents.message(number)));
            }
        }

        BinaryWebSocketFrame of(long sequence) {
            return new BinaryWebSocketFrame(message(sequence).duplicate());
        }

        private ByteBuf message(long sequence) {
            return messages[(int) sequence & messages.length - 1];
        }

        /** Compares what has come, and says whether the message is complete. */
        boolean isWhole(Object received, long sequence) throws WorkerFailure {
            try {
                if (!(received instanceof BinaryWebSocketFrame) && !(received instanceof ContinuationWebSocketFrame)) {
                    String kind = received.getClass().getSimpleName();
                    throw new WorkerFailure("something else than a binary message arrived: " + kind);
                }
                WebSocketFrame frame = (WebSocketFrame) received;
                ByteBuf content = frame.content();
                int length = content.readableBytes();
                boolean isLast = frame.isFinalFragment();
                boolean isRight = length <= payload - compared
                        && ByteBufUtil.equals(content, content.readerIndex(), message(sequence), compared, length)
                        && (!isLast || compared + length == payload);
                if (!isRight) {
                    throw WorkerFailure.corrupted(sequence);
                }
                compared = isLast ? 0 : compared + length;
                return isLast;
            } finally {
                ReferenceCountUtil.release(received);
            }
        }
    }
}
