package hopcost.worker.link;

import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** What the one who connects sends first, so that nobody else is taken for him. */
record Token(byte[] bytes) {
    static Token of(String token) {
        return new Token(token.getBytes(StandardCharsets.UTF_8));
    }

    void sendOver(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    void sendOver(DatagramChannel channel) throws IOException {
        channel.write(ByteBuffer.wrap(bytes));
    }

    /** Reads as many bytes as the token has and none beyond them. */
    void expectFrom(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(bytes.length);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new WorkerFailure("the one who connected left before it had sent the token");
            }
        }
        expect(buffer.flip());
    }

    /** Sees that a buffer holds the token and nothing else. */
    void expect(ByteBuffer received) throws WorkerFailure {
        if (!received.equals(ByteBuffer.wrap(bytes))) {
            throw new WorkerFailure("the one who connected does not know the token");
        }
    }
}
