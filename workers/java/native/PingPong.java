import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Round trips over a Unix stream socket between two processes, and nothing else: what anybody would
 * write to find out. Prints the p50 of the last round in nanoseconds.
 *
 *     java -cp target/native PingPong COUNT PAYLOAD
 *
 * <p>CALLEE_CPU in the environment is the CPU of the other process.
 */
public final class PingPong {
    private static final int ROUNDS = 10;

    private final SocketChannel socket;
    private final ByteBuffer[] messages;
    private final ByteBuffer received;

    /** As many different messages as in PROTOCOL.md, the same in both processes. */
    private PingPong(SocketChannel socket, int payload) {
        this.socket = socket;
        int contents = 256;
        while (contents > 4 && contents * payload > 16 * 1024) contents /= 2;
        messages = new ByteBuffer[contents];
        Random random = new Random(1);
        byte[] bytes = new byte[payload];
        for (int number = 0; number < contents; number++) {
            random.nextBytes(bytes);
            messages[number] = ByteBuffer.allocateDirect(payload).put(bytes);
        }
        received = ByteBuffer.allocateDirect(payload);
    }

    private void send(long number) throws Exception {
        ByteBuffer message = messages[(int) number & messages.length - 1].clear();
        while (message.hasRemaining()) socket.write(message);
    }

    private boolean receive(long number) throws Exception {
        received.clear();
        while (received.hasRemaining()) if (socket.read(received) < 0) return false;
        ByteBuffer message = messages[(int) number & messages.length - 1].clear();
        if (received.flip().mismatch(message) >= 0) throw new AssertionError("corrupted");
        return true;
    }

    public static void main(String[] arguments) throws Exception {
        int payload = Integer.parseInt(arguments[1]);
        if (arguments.length == 3) {
            callee(Path.of(arguments[2]), payload);
        } else {
            caller(Integer.parseInt(arguments[0]), payload);
        }
    }

    private static void caller(int count, int payload) throws Exception {
        Path path = Files.createTempDirectory("pingpong-").resolve("socket");
        var server = ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(path));
        String java = ProcessHandle.current().info().command().orElse("java");
        String cpu = System.getenv("CALLEE_CPU");
        List<String> command = new ArrayList<>(cpu == null ? List.of() : List.of("taskset", "-c", cpu));
        command.addAll(List.of(java, "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp",
                System.getProperty("java.class.path"), "PingPong", "0", "" + payload, path.toString()));
        Process callee = new ProcessBuilder(command).inheritIO().start();
        PingPong end = new PingPong(server.accept(), payload);
        Files.delete(path);
        Files.delete(path.getParent());
        long[] samples = new long[count];
        long number = 1;
        for (int round = 0; round < ROUNDS; round++) {
            long before = System.nanoTime();
            for (int i = 0; i < count; i++, number += 2) {
                end.send(number);
                if (!end.receive(number + 1)) throw new AssertionError("gone");
                long now = System.nanoTime();
                samples[i] = now - before;
                before = now;
            }
        }
        end.socket.close();
        callee.waitFor();
        Arrays.sort(samples);
        System.out.println(samples[count / 2]);
    }

    private static void callee(Path path, int payload) throws Exception {
        PingPong end = new PingPong(SocketChannel.open(UnixDomainSocketAddress.of(path)), payload);
        for (long number = 1; end.receive(number); number += 2) end.send(number + 1);
    }
}
