package hopcost.worker;

import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;

/** What of a case this worker plays, and at which ends. */
record Task(int payload, JSONObject parameters, List<Asked> seats) {
    /** An end to play; its link is null where the worker makes it and plays both ends. */
    record Asked(Role role, JSONObject link) {}

    static Task of(JSONObject attach) throws WorkerFailure {
        List<Asked> seats = new ArrayList<>();
        JSONArray asked = attach.getJSONArray("seats");
        for (int at = 0; at < asked.length(); at++) {
            JSONObject seat = asked.getJSONObject(at);
            seats.add(new Asked(Role.of(seat.getString("role")), seat.optJSONObject("link")));
        }
        if (seats.isEmpty()) {
            throw new WorkerFailure("there is no end to play");
        }
        return new Task(attach.getInt("payload"), attach.getJSONObject("parameters"), seats);
    }

    /** Whether this worker makes the link itself, between two of its threads. */
    boolean makesLink() {
        return seats.get(0).link() == null;
    }

    /** Which end of a link. */
    enum Role {
        CALLER("caller"),
        CALLEE("callee");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        /** The spelling in the protocol. */
        String word() {
            return word;
        }

        static Role of(String word) throws WorkerFailure {
            return switch (word) {
                case "caller" -> CALLER;
                case "callee" -> CALLEE;
                default -> throw new WorkerFailure("there is no role `" + word + "`");
            };
        }
    }
}
