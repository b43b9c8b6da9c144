package hopcost.worker;

import hopcost.worker.mechanism.Mechanism;
import hopcost.worker.protocol.WorkerFailure;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.json.JSONWriter;

/** What the worker says of itself. */
final class Describe {
    private static final int PROTOCOL = 3;

    private Describe() {}

    static void write(JSONWriter json) throws IOException {
        Properties versions = versions();
        json.key("is").value("described");
        json.key("protocol").value(PROTOCOL);
        json.key("runtime").value("java");
        json.key("version").value(versions.getProperty("worker"));
        json.key("libraries");
        writeValue(json, libraries(versions));
        json.key("remarks");
        writeValue(json, remarks());
        json.key("clock").object();
        json.key("source").value("CLOCK_MONOTONIC");
        json.key("ticks_per_second").value(1_000_000_000L);
        json.endObject();
        json.key("warm_up").value("until-steady");
        json.key("mechanisms").array();
        for (String name : Mechanism.NAMES) {
            writeValue(json, Mechanism.named(name).facts().fields());
        }
        json.endArray();
    }

    /** A value as JSON, its fields in their order (JSONObject has none). */
    private static void writeValue(JSONWriter json, Object value) {
        if (value instanceof Map<?, ?> fields) {
            json.object();
            fields.forEach((name, field) -> {
                json.key(name.toString());
                writeValue(json, field);
            });
            json.endObject();
        } else {
            json.value(value);
        }
    }

    /** Versions of what the worker is built from, as Maven put them into its jar. */
    private static Properties versions() throws IOException {
        Properties versions = new Properties();
        try (InputStream resource = Describe.class.getResourceAsStream("versions.properties")) {
            if (resource == null) {
                throw new WorkerFailure("the worker's jar lacks versions.properties");
            }
            versions.load(resource);
        }
        return versions;
    }

    private static Map<String, Object> libraries(Properties versions) {
        Map<String, Object> libraries = new LinkedHashMap<>();
        libraries.put("java", System.getProperty("java.version"));
        libraries.put("jvm", property("java.vm.name") + " " + property("java.vm.version"));
        libraries.put("netty", versions.getProperty("netty"));
        libraries.put("org.json", versions.getProperty("json"));
        return libraries;
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
}
