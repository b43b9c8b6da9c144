package hopcost.worker.protocol;

import java.util.HashMap;
import java.util.Map;

/** A case as it is spelled: {@code roundtrip/tcp?payload=64&boundary=thread&nodelay=on}. */
public record Case(String workload, String mechanism, Map<String, String> keys) {
    public static Case parse(String spelling) throws WorkerFailure {
        int slash = spelling.indexOf('/');
        int question = spelling.indexOf('?');
        int end = question < 0 ? spelling.length() : question;
        if (slash <= 0 || slash >= end - 1) {
            throw new WorkerFailure("`" + spelling + "` is no case");
        }
        Map<String, String> keys = new HashMap<>();
        if (question >= 0) {
            for (String pair : spelling.substring(question + 1).split("&")) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw new WorkerFailure("`" + pair + "` is no key=value in a case");
                }
                keys.put(pair.substring(0, equals), pair.substring(equals + 1));
            }
        }
        String workload = spelling.substring(0, slash);
        String mechanism = spelling.substring(slash + 1, end);
        return new Case(workload, mechanism, Map.copyOf(keys));
    }

    /** Bytes of a message; 0 where the case has none. */
    public int payload() throws WorkerFailure {
        String given = keys.getOrDefault("payload", "0");
        try {
            int payload = Integer.parseInt(given);
            if (payload >= 0) {
                return payload;
            }
        } catch (NumberFormatException notNumber) {
            // Said below.
        }
        throw new WorkerFailure("a payload of `" + given + "` bytes cannot be sent");
    }

    /** Whether a parameter that takes `on` and `off` is on. */
    public boolean isOn(String parameter, boolean otherwise) throws WorkerFailure {
        String given = keys.get(parameter);
        if (given == null) {
            return otherwise;
        }
        return switch (given) {
            case "on" -> true;
            case "off" -> false;
            default ->
                throw new WorkerFailure(parameter + " is `on` or `off`, not `" + given + "`");
        };
    }
}
