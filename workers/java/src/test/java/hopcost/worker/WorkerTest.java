package hopcost.worker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import hopcost.worker.protocol.Command;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Threads;
import hopcost.worker.workload.Contents;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The worker as hopcost talks to it, over every link that it takes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerTest {
    private static final String TOKEN = "0123456789abcdef";

    @TempDir
    Path directory;

    private static JSONObject ask(Worker worker, String line) throws Exception {
        return new JSONObject(worker.obey(Command.parse(line)));
    }

    /** Commands of one worker in a thread of their own. */
    private static CompletableFuture<JSONObject> asking(Worker worker, String line) {
        CompletableFuture<JSONObject> reply = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                reply.complete(ask(worker, line));
            } catch (Throwable error) {
                reply.completeExceptionally(error);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return reply;
    }

    private static String attach(String subject, int samples, String... seats) {
        return "{\"do\":\"attach\",\"case\":\"" + subject + "\",\"samples_fd\":" + samples
                + ",\"deadline_ms\":60000,\"seats\":[" + String.join(",", seats) + "]}";
    }

    private static String seat(String role, String link) {
        return "{\"role\":\"" + role + "\"" + (link.isEmpty() ? "" : ",\"link\":" + link) + "}";
    }

    private String offer(String carrier) {
        return "{\"offer\":{\"carrier\":\"" + carrier + "\",\"directory\":\"" + directory
                + "\",\"token\":\"" + TOKEN + "\"}}";
    }

    private static String connect(String carrier, String address) {
        return "{\"connect\":{\"carrier\":\"" + carrier + "\",\"address\":\"" + address
                + "\",\"token\":\"" + TOKEN + "\"}}";
    }

    private static String run(String phase, long count, String stamp) {
        return "{\"do\":\"run\",\"phase\":\"" + phase + "\",\"count\":" + count + ",\"stamp\":" + stamp + "}";
    }

    private static final String EACH = "{\"kind\":\"each\"}";

    /** Opens something, and says under which descriptor numbers. */
    private interface Opener<T> {
        T open() throws IOException;
    }

    private record Opened<T>(T what, List<Integer> descriptors) {}

    /** What the descriptors are open on whose link in /proc begins so, by number. */
    private static Map<Integer, String> descriptors(String target) throws IOException {
        Map<Integer, String> open = new TreeMap<>();
        try (var names = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path name : names) {
                try {
                    String link = Files.readSymbolicLink(name).toString();
                    if (link.startsWith(target)) {
                        open.put(Integer.parseInt(name.getFileName().toString()), link);
                    }
                } catch (NoSuchFileException closed) {
                    // A worker of an earlier test closes its sockets in a thread of its own.
                    continue;
                }
            }
        }
        return open;
    }

    private static synchronized <T> Opened<T> numbered(String target, Opener<T> opener) throws IOException {
        Map<Integer, String> before = descriptors(target);
        T what = opener.open();
        Map<Integer, String> after = descriptors(target);
        // By target as well as number: the number may have been another file's a moment ago.
        after.entrySet().removeAll(before.entrySet());
        return new Opened<>(what, List.copyOf(after.keySet()));
    }

    /** A file for samples, and its descriptor. */
    private Opened<FileChannel> samplesFile() throws IOException {
        Path path = Files.createTempFile(directory, "samples", "");
        // It has no name while it is used, as hopcost's has none.
        Opened<FileChannel> file = numbered(path.toString(),
                () -> FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
        Files.delete(path);
        return file;
    }

    private static long[] samplesIn(FileChannel file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) file.size()).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
            continue;
        }
        long[] samples = new long[bytes.flip().remaining() / Long.BYTES];
        bytes.asLongBuffer().get(samples);
        return samples;
    }

    private static void checkCaller(JSONObject end, long[] samples) {
        assertEquals("caller", end.getString("role"));
        assertEquals(samples.length, end.getLong("samples"));
        assertEquals(LongStream.of(samples).sum(), end.getLong("elapsed_ticks"));
        assertEquals(LongStream.of(samples).max().orElse(0), end.getLong("max_ticks"));
    }

    @ParameterizedTest
    @CsvSource({
        "synchronous-queue,64", "linked-transfer-queue,64", "park,0", "park,64", "condvar,0", "condvar,64",
        "virtual-threads,64", "pipe,1", "pipe,65536", "unix-stream,64", "tcp,64", "tcp,65536", "udp,64",
        "udp,65507", "websocket,0", "websocket,64", "websocket,65536", "websocket-handoff,64"})
    void bothEndsArePlayedByOneWorker(String mechanism, int payload) throws Exception {
        assumeTrue(!mechanism.startsWith("virtual") || Threads.virtualUnavailable().isEmpty(),
                "needs Java 21 or later");
        Opened<FileChannel> samples = samplesFile();
        Worker worker = new Worker();
        JSONObject attached = ask(worker, attach(
                "roundtrip/" + mechanism + "?payload=" + payload + "&boundary=thread",
                samples.descriptors().get(0), seat("caller", ""), seat("callee", "")));
        assertEquals("attached", attached.getString("is"));
        assertEquals(ProcessHandle.current().pid(), attached.getLong("pid"));
        Set<Long> threads = new HashSet<>();
        for (Object seat : attached.getJSONArray("seats")) {
            threads.add(((JSONObject) seat).getLong("tid"));
        }
        assertEquals(mechanism.startsWith("virtual") ? Set.of(0L) : threads, threads);
        assertEquals(mechanism.startsWith("virtual") ? 1 : 2, threads.size());

        ask(worker, run("pilot", 10, EACH));
        JSONArray ends = ask(worker, run("measure", 50, EACH)).getJSONArray("ends");
        long[] first = samplesIn(samples.what());
        assertEquals(50, first.length);
        checkCaller(ends.getJSONObject(0), first);
        assertEquals(50, ends.getJSONObject(1).getLong("count"));
        ask(worker, run("warm-up", 10, EACH));
        ends = ask(worker, run("measure", 40, "{\"kind\":\"batch\",\"n\":20}")).getJSONArray("ends");
        long[] all = samplesIn(samples.what());
        assertEquals(52, all.length);
        checkCaller(ends.getJSONObject(0), new long[] {all[50], all[51]});
        assertEquals("stopped", ask(worker, "{\"do\":\"stop\"}").getString("is"));
    }

    @ParameterizedTest
    @CsvSource({"tcp,tcp", "unix-stream,unix-stream", "udp,udp", "websocket,tcp", "websocket-handoff,tcp"})
    void twoWorkersFindEachOtherByAddressWhicheverOffers(String mechanism, String carrier) throws Exception {
        for (String offering : List.of("caller", "callee")) {
            String connecting = offering.equals("caller") ? "callee" : "caller";
            String subject = "roundtrip/" + mechanism + "?payload=64&boundary=process";
            Worker one = new Worker();
            Worker other = new Worker();
            JSONObject attached = ask(one, attach(subject, -1, seat(offering, offer(carrier))));
            String address = attached.getJSONArray("seats").getJSONObject(0).getString("offers");
            CompletableFuture<JSONObject> met = asking(one, "{\"do\":\"meet\"}");
            ask(other, attach(subject, -1, seat(connecting, connect(carrier, address))));
            assertEquals("met", met.get().getString("is"));
            assertEquals(0, directory.toFile().list().length, "a name is left");
            for (int phase = 0; phase < 3; phase++) {
                CompletableFuture<JSONObject> ran = asking(one, run("warm-up", 20, EACH));
                assertEquals("ran", ask(other, run("warm-up", 20, EACH)).getString("is"));
                assertEquals("ran", ran.get().getString("is"));
            }
        }
    }

    @Test
    void aPipeIsTakenByItsDescriptorsInBothRoles() throws Exception {
        Opened<Pipe> requests = numbered("pipe:", Pipe::open);
        Opened<Pipe> replies = numbered("pipe:", Pipe::open);
        String subject = "roundtrip/pipe?payload=100&boundary=process";
        Worker caller = new Worker();
        Worker callee = new Worker();
        // pipe(2) gives the reading end first.
        ask(caller, attach(subject, -1, seat("caller", "{\"fds\":[" + replies.descriptors().get(0) + "," + requests.descriptors().get(1) + "]}")));
        ask(callee, attach(subject, -1, seat("callee", "{\"fds\":[" + requests.descriptors().get(0) + "," + replies.descriptors().get(1) + "]}")));
        CompletableFuture<JSONObject> ran = asking(callee, run("warm-up", 20, EACH));
        assertEquals("ran", ask(caller, run("warm-up", 20, EACH)).getString("is"));
        assertEquals("ran", ran.get().getString("is"));
    }

    /** A worker's end of a link and the test's own. */
    private record Met(Worker worker, ByteChannel peer) {
        void send(ByteBuffer message) throws IOException {
            peer.write(message);
        }

        ByteBuffer receive(int bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(bytes);
            while (buffer.hasRemaining() && peer.read(buffer) > 0) {
                continue;
            }
            return buffer.flip();
        }
    }

    private Met meet(String carrier, String role, String token) throws Exception {
        Worker worker = new Worker();
        String subject = "roundtrip/" + carrier + "?payload=64&boundary=process";
        JSONObject attached = ask(worker, attach(subject, -1, seat(role, offer(carrier))));
        String address = attached.getJSONArray("seats").getJSONObject(0).getString("offers");
        CompletableFuture<JSONObject> met = asking(worker, "{\"do\":\"meet\"}");
        ByteChannel peer;
        if (carrier.equals("unix-stream")) {
            peer = SocketChannel.open(UnixDomainSocketAddress.of(address));
        } else {
            int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
            SocketAddress there = new InetSocketAddress("127.0.0.1", port);
            peer = carrier.equals("udp") ? DatagramChannel.open().connect(there) : SocketChannel.open(there);
        }
        peer.write(ByteBuffer.wrap(token.getBytes(StandardCharsets.US_ASCII)));
        try {
            assertEquals("met", met.get().getString("is"));
        } catch (java.util.concurrent.ExecutionException error) {
            throw (Exception) error.getCause();
        }
        return new Met(worker, peer);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "unix-stream", "udp"})
    void whoDoesNotKnowTheTokenIsNotLetIn(String carrier) {
        String wrong = TOKEN.substring(1) + "x";
        WorkerFailure failure = assertThrows(WorkerFailure.class, () -> meet(carrier, "callee", wrong));
        assertTrue(failure.getMessage().contains("token"), failure.getMessage());
        assertEquals(0, directory.toFile().list().length, "a name is left");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "unix-stream", "udp"})
    void aCorruptedMessageAndADeadPeerEndTheTrial(String carrier) throws Exception {
        Contents contents = new Contents(64);
        Met met = meet(carrier, "callee", TOKEN);
        CompletableFuture<JSONObject> ran = asking(met.worker(), run("pilot", 5, EACH));
        met.send(contents.message(1));
        assertEquals(contents.message(2), met.receive(64));
        ByteBuffer corrupted = ByteBuffer.allocate(64).put(contents.message(3)).flip();
        corrupted.put(63, (byte) (corrupted.get(63) ^ 1));
        met.send(corrupted);
        assertFails(ran, "message 3");

        Met another = meet(carrier, "caller", TOKEN);
        ran = asking(another.worker(), run("pilot", 5, EACH));
        another.receive(64);
        another.send(contents.message(2));
        another.receive(64);
        another.peer().close();
        if (!carrier.equals("udp")) {
            assertFails(ran, "the other end");
        }
    }

    private static void assertFails(CompletableFuture<JSONObject> reply, String hint) {
        var error = assertThrows(java.util.concurrent.ExecutionException.class, reply::get);
        assertTrue(error.getCause() instanceof WorkerFailure, error.toString());
        assertTrue(error.getMessage().contains(hint), error.getMessage());
    }

    @Test
    void aDatagramThatComesASecondTimeIsAnsweredAgain() throws Exception {
        Contents contents = new Contents(64);
        Met met = meet("udp", "callee", TOKEN);
        CompletableFuture<JSONObject> ran = asking(met.worker(), run("pilot", 1, EACH));
        for (int number : new int[] {1, 1, 3, 3, 3, 5}) {
            met.send(contents.message(number));
            assertEquals(contents.message(number + 1), met.receive(64));
        }
        assertEquals(1, ran.get().getJSONArray("ends").getJSONObject(0).getLong("count"));
        ran = asking(met.worker(), run("pilot", 1, EACH));
        for (int number : new int[] {5, 7, 9, 11}) {
            met.send(contents.message(number));
            assertEquals(contents.message(number + 1), met.receive(64));
        }
        ran.get();
    }

    @ParameterizedTest
    @CsvSource({"mutex-uncontended,", "thread-start,", "udp-send,?payload=64", "virtual-thread-start,"})
    void callsLeaveTwoLengths(String mechanism, String keys) throws Exception {
        assumeTrue(!mechanism.startsWith("virtual") || Threads.virtualUnavailable().isEmpty(),
                "needs Java 21 or later");
        Opened<FileChannel> samples = samplesFile();
        Worker worker = new Worker();
        String subject = "call/" + mechanism + (keys == null ? "" : keys);
        ask(worker, attach(subject, samples.descriptors().get(0), seat("caller", "")));
        JSONObject end = ask(worker, run("measure", 60, "{\"kind\":\"two-lengths\",\"n\":5}"))
                .getJSONArray("ends").getJSONObject(0);
        assertEquals(60, end.getLong("count"));
        long[] taken = samplesIn(samples.what());
        assertEquals(8, taken.length);
        checkCaller(end, taken);
    }

    @Test
    void describeSaysEverythingThatIsRequired() throws Exception {
        JSONObject described = ask(new Worker(), "{\"do\":\"describe\"}");
        assertEquals(3, described.getInt("protocol"));
        assertEquals("java", described.getString("runtime"));
        assertEquals("until-steady", described.getString("warm_up"));
        assertFalse(described.getJSONObject("libraries").getString("netty").contains("$"));
        List<String> unavailable = new ArrayList<>();
        for (Object each : described.getJSONArray("mechanisms")) {
            JSONObject mechanism = (JSONObject) each;
            for (String field : List.of("name", "family", "about", "crosses", "copies", "wakes", "between_stamps", "limits")) {
                assertFalse(mechanism.getString(field).isBlank(), field);
            }
            boolean call = mechanism.getJSONArray("workloads").getString(0).equals("call");
            assertEquals(call, !mechanism.has("boundaries"), mechanism.getString("name"));
            if (mechanism.has("unavailable")) {
                unavailable.add(mechanism.getString("name"));
            }
        }
        List<String> virtual = Threads.virtualUnavailable().isEmpty()
                ? List.of() : List.of("virtual-thread-start", "virtual-threads");
        assertEquals(virtual, unavailable);
    }

    @Test
    void aStampCostsSomething() throws Exception {
        JSONObject clock = ask(new Worker(), "{\"do\":\"clock\",\"cpu\":1}");
        assertEquals(1, clock.getInt("cpu"));
        assertTrue(clock.getLong("stamp_p50_ns") > 0);
        assertTrue(clock.getLong("stamp_min_ns") <= clock.getLong("stamp_p50_ns"));
        assertTrue(clock.getLong("stamp_p50_ns") <= clock.getLong("stamp_p99_ns"));
    }

    /** What the program itself writes, and how it leaves. */
    private record Left(List<String> lines, int status) {}

    private static Left program(String input) throws Exception {
        Process process = new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp", System.getProperty("java.class.path"), "hopcost.worker.Main")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        process.getOutputStream().write(input.getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Left(output.lines().toList(), process.waitFor());
    }

    @Test
    void theProgramSaysWhyItCannotGoOnAndLeaves() throws Exception {
        Left left = program("{\"do\":\"fly\"}\n{\"do\":\"describe\"}\n");
        assertEquals(1, left.status());
        assertEquals(1, left.lines().size());
        assertEquals("failed", new JSONObject(left.lines().get(0)).getString("is"));
    }

    @Test
    void theProgramLeavesWhenToldToWhateverThreadsThereAre() throws Exception {
        Left left = program(
                attach("roundtrip/websocket-handoff?payload=64&boundary=thread", -1,
                        seat("caller", ""), seat("callee", "")) + "\n"
                + run("pilot", 10, EACH) + "\n{\"do\":\"stop\"}\n");
        assertEquals(0, left.status(), left.toString());
        assertArrayEquals(
                new String[] {"attached", "ran", "stopped"},
                left.lines().stream().map(line -> new JSONObject(line).getString("is")).toArray());
    }

    @Test
    void theProgramEndsWithItsInput() throws Exception {
        assertEquals(new Left(List.of(), 0), program(""));
    }
}
