package hopcost.worker;

import hopcost.worker.Loops.Order;
import hopcost.worker.Loops.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.json.JSONArray;
import org.json.JSONObject;
import org.json.JSONStringer;
import org.json.JSONWriter;

/** Turns commands into replies. */
final class Worker {
    private static final int SAMPLE_BUFFER_BYTES = 64 * 1024;

    private List<Seat> seats = List.of();
    /** Where samples go; null where {@code attach} named nothing. */
    private FileChannel samples;
    private boolean isLoad;
    /** Where the sender of a load finds its times. */
    private FileChannel schedule;
    private long nextMessage = 1;

    /** The reply to a command, one line of JSON. */
    JSONWriter obey(JSONObject command) throws Exception {
        String name = command.getString("do");
        JSONWriter reply = switch (name) {
            case "describe" -> describe();
            case "attach" -> attach(command);
            case "meet" -> meet();
            case "clock" -> clock(command);
            case "run" -> run(command);
            case "stop" -> reply("stopped");
            default -> throw new WorkerFailure("this worker does not know how to `" + name + "`");
        };
        return reply.endObject();
    }

    private static JSONWriter reply(String is) {
        return new JSONStringer().object().key("is").value(is);
    }

    private static JSONWriter describe() throws IOException {
        // What the worker is built from, as Maven put it into its jar.
        Properties versions = new Properties();
        try (InputStream resource = Worker.class.getResourceAsStream("versions.properties")) {
            versions.load(resource);
        }
        List<Map<String, Object>> mechanisms = new ArrayList<>();
        for (Mechanism mechanism : Mechanism.ALL) {
            Map<String, Object> described = new HashMap<>();
            described.put("name", mechanism.name());
            described.put("revision", mechanism.revision());
            mechanism.unavailable().ifPresent(reason -> described.put("unavailable", reason));
            mechanisms.add(described);
        }
        return reply("described")
                .key("protocol").value(3)
                .key("runtime").value("java")
                .key("version").value(versions.getProperty("worker"))
                .key("libraries").value(Map.of(
                        "java", property("java.version"),
                        "jvm", property("java.vm.name") + " " + property("java.vm.version"),
                        "netty", versions.getProperty("netty"),
                        "org.json", versions.getProperty("json")))
                .key("remarks").value(remarks())
                .key("warm_up").value("until-steady")
                .key("mechanisms").value(mechanisms);
    }

    private static List<String> remarks() {
        List<String> collectors = new ArrayList<>();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            collectors.add(bean.getName());
        }
        int processors = Runtime.getRuntime().availableProcessors();
        long heapMib = Runtime.getRuntime().maxMemory() >> 20;
        return List.of(
                "compiled while it runs, in tiers (" + property("java.vm.info") + "): the compiler's threads take CPU time until the loops are steady",
                "garbage collector: " + String.join(" and ", collectors) + ", heap of at most " + heapMib + " MiB",
                "the JVM sees " + processors + (processors == 1 ? " processor" : " processors"),
                "System.nanoTime is clock_gettime(CLOCK_MONOTONIC) by the vDSO",
                "messages are sent from and received into direct ByteBuffers");
    }

    private static String property(String name) {
        return System.getProperty(name);
    }

    private JSONWriter attach(JSONObject command) throws Exception {
        if (!seats.isEmpty()) {
            throw new WorkerFailure("already attached");
        }
        if (command.has("samples_fd")) {
            // Appended, because a descriptor opened anew begins at the file's first byte.
            Path path = Path.of("/proc/self/fd/" + command.getInt("samples_fd"));
            samples = FileChannel.open(path, StandardOpenOption.APPEND);
        }
        isLoad = command.getString("workload").equals("load");
        if (command.has("schedule_fd")) {
            Path path = Path.of("/proc/self/fd/" + command.getInt("schedule_fd"));
            schedule = FileChannel.open(path, StandardOpenOption.READ);
        }
        seats = Mechanism.named(command.getString("mechanism")).attach().attach(Task.of(command));
        List<Seat> connected = seats.stream().filter(seat -> seat.offers() == null).toList();
        connect(connected);
        JSONArray attached = new JSONArray();
        for (Seat seat : seats) {
            attached.put(new JSONObject()
                    .put("role", seat.role().word())
                    .put("tid", seat.tid())
                    .put("offers", seat.offers()));
        }
        return reply("attached")
                .key("pid").value(ProcessHandle.current().pid())
                .key("seats").value(attached);
    }

    private JSONWriter meet() throws Exception {
        connect(seats.stream().filter(seat -> seat.offers() != null).toList());
        return reply("met");
    }

    /** Begins every handshake before it waits for one. */
    private static void connect(List<Seat> seats) throws Exception {
        for (Seat seat : seats) {
            seat.open();
        }
        for (Seat seat : seats) {
            seat.await();
        }
    }

    private static JSONWriter clock(JSONObject command) {
        long[] costs = Loops.stampCosts();
        return reply("clock")
                .key("cpu").value(command.optInt("cpu"))
                .key("runtime").value("java")
                .key("source").value("CLOCK_MONOTONIC")
                .key("ticks_per_second").value(1_000_000_000L)
                .key("stamp_min_ns").value(costs[0])
                .key("stamp_p50_ns").value(costs[costs.length / 2])
                .key("stamp_p99_ns").value(costs[costs.length * 99 / 100]);
    }

    private JSONWriter run(JSONObject command) throws Exception {
        if (seats.isEmpty()) {
            throw new WorkerFailure("nothing is attached");
        }
        JSONObject stamp = command.getJSONObject("stamp");
        long count = command.getLong("count");
        boolean isAlone = isLoad && command.getString("phase").equals("pilot");
        Order order = new Order(
                isAlone || command.getString("phase").equals("measure"),
                count,
                stamp.optLong("n", 1),
                stamp.getString("kind").equals("two-lengths"),
                nextMessage,
                isLoad ? times(Math.toIntExact(count)) : null,
                isAlone);
        for (Seat seat : seats) {
            seat.start(order);
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Seat seat : seats) {
            outcomes.add(seat.finish());
        }
        nextMessage = isAlone ? nextMessage : order.next();
        JSONArray ends = new JSONArray();
        for (Outcome outcome : outcomes) {
            write(outcome.samples());
            ends.put(new JSONObject()
                    .put("role", outcome.role().word())
                    .put("count", outcome.count())
                    .put("samples", outcome.samples().length)
                    .put("max_ticks", outcome.maxTicks())
                    .put("elapsed_ticks", outcome.elapsedTicks())
                    .put("first_tick", outcome.firstTick())
                    .put("overruns", outcome.overruns()));
        }
        return reply("ran").key("ends").value(ends);
    }

    /** When to send each message of a load's phase; none at an end that sends none. */
    private long[] times(int count) throws IOException {
        if (schedule == null) {
            return Outcome.NO_SAMPLES;
        }
        ByteBuffer words = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (words.hasRemaining()) {
            if (schedule.read(words, words.position()) < 0) {
                throw new WorkerFailure("the schedule is too short");
            }
        }
        long[] times = new long[count];
        words.flip().asLongBuffer().get(times);
        return times;
    }

    /** Writes samples as little-endian words, all of them. */
    private void write(long[] taken) throws IOException {
        if (taken.length > 0 && samples == null) {
            throw new WorkerFailure("there is no descriptor that would take samples");
        }
        ByteBuffer buffer =
                ByteBuffer.allocateDirect(SAMPLE_BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < taken.length; ) {
            buffer.clear();
            while (at < taken.length && buffer.hasRemaining()) {
                buffer.putLong(taken[at++]);
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                samples.write(buffer);
            }
        }
    }
}
