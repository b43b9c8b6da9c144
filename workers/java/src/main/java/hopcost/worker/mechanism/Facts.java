package hopcost.worker.mechanism;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What `describe` says of a mechanism: the fields of workers/PROTOCOL.md, in their order. */
public final class Facts {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    private Facts(String name, String family, String about) {
        fields.put("name", name);
        fields.put("family", family);
        fields.put("about", about);
    }

    /** An operation of one thread. */
    static Facts call(String name, String family, String about) {
        return new Facts(name, family, about).with("workloads", List.of("call"));
    }

    /**
     * A round trip of two ends that sleep while they wait; of the second revision, since the number of
     * different messages depends on their length.
     */
    static Facts roundtrip(String name, String family, String about, String... boundaries) {
        return new Facts(name, family, about)
                .with("workloads", List.of("roundtrip"))
                .with("revision", 2)
                .with("boundaries", List.of(boundaries))
                .with("waits", List.of("block"));
    }

    Facts payload(int min, int max, int byDefault) {
        Map<String, Object> payload = new LinkedHashMap<>();
        payload.put("min", min);
        payload.put("max", max);
        payload.put("default", byDefault);
        return with("payload", payload);
    }

    /** The link comes from outside, and the other end may be of any runtime. */
    Facts carriedBy(String link) {
        return with("link", link).with("peers", "any");
    }

    Facts carrier(String carrier) {
        return with("carrier", carrier);
    }

    Facts onOff(String name, String byDefault, String about) {
        Map<String, Object> parameter = new LinkedHashMap<>();
        parameter.put("name", name);
        parameter.put("values", List.of("on", "off"));
        parameter.put("default", byDefault);
        parameter.put("about", about);
        return with("parameters", List.of(parameter));
    }

    Facts unavailable(Optional<String> reason) {
        reason.ifPresent(why -> with("unavailable", why));
        return this;
    }

    /** System calls of one round trip, both ends together. */
    Facts systemCalls(double min, double max) {
        Map<String, Object> range = new LinkedHashMap<>();
        range.put("min", min);
        range.put("max", max);
        return with("system_calls", range);
    }

    Facts crosses(String what) {
        return with("crosses", what);
    }

    Facts copies(String who) {
        return with("copies", who);
    }

    Facts wakes(String who) {
        return with("wakes", who);
    }

    Facts betweenStamps(String what) {
        return with("between_stamps", what);
    }

    Facts limits(String what) {
        return with("limits", what);
    }

    Facts sources(String... sources) {
        return with("sources", List.of(sources));
    }

    private Facts with(String field, Object value) {
        fields.put(field, value);
        return this;
    }

    /** The fields as they are described. */
    public Map<String, Object> fields() {
        return fields;
    }
}
