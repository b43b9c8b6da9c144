import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Round trips of 64 bytes over a Unix stream socket between two processes, and nothing else: what
 * anybody would write to find out. Prints the p50 of the last round in nanoseconds.
 *
 *     java -cp target/native PingPong 20000
 */
public final class PingPong {
    private static final int BYTES = 64;
    private static final int ROUNDS = 10;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("callee")) {
            callee(Path.of(arguments[1]));
        } else {
            caller(Integer.parseInt(arguments[0]));
        }
    }

    private static void caller(int count) throws Exception {
        Path path = Files.createTempDirectory("pingpong-").resolve("socket");
        var server = ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        String java = ProcessHandle.current().info().command().orElse("java");
        Process callee = new ProcessBuilder(java, "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp",
                System.getProperty("java.class.path"), "PingPong", "callee", path.toString())
                .inheritIO().start();
        SocketChannel socket = server.accept();
        Files.delete(path);
        Files.delete(path.getParent());
        ByteBuffer request = ByteBuffer.allocateDirect(BYTES);
        ByteBuffer reply = ByteBuffer.allocateDirect(BYTES);
        long[] samples = new long[count];
        for (int round = 0; round < ROUNDS; round++) {
            long before = System.nanoTime();
            for (int i = 0; i < count; i++) {
                request.clear().putLong(0, i);
                while (request.hasRemaining()) socket.write(request);
                reply.clear();
                while (reply.hasRemaining()) if (socket.read(reply) < 0) throw new AssertionError("gone");
                if (request.flip().mismatch(reply.flip()) >= 0) throw new AssertionError("corrupted");
                long now = System.nanoTime();
                samples[i] = now - before;
                before = now;
            }
        }
        socket.close();
        callee.waitFor();
        Arrays.sort(samples);
        System.out.println(samples[count / 2]);
    }

    private static void callee(Path path) throws Exception {
        SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(path));
        ByteBuffer message = ByteBuffer.allocateDirect(BYTES);
        while (true) {
            message.clear();
            while (message.hasRemaining()) if (socket.read(message) < 0) return;
            message.flip();
            while (message.hasRemaining()) socket.write(message);
        }
    }
}
