package hopcost.worker.protocol;

import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What hopcost says to a worker (workers/PROTOCOL.md). */
public sealed interface Command {
    record Describe() implements Command {}

    /** {@code samples} is the number of the samples' descriptor, -1 where there is none. */
    record Attach(Case subject, List<SeatOrder> seats, int samples) implements Command {}

    record Meet() implements Command {}

    record Clock(int cpu) implements Command {}

    /** {@code keepSamples} is true of the phase `measure` alone. */
    record Run(boolean keepSamples, long count, Stamp stamp) implements Command {}

    record Stop() implements Command {}

    /** One end to play. */
    record SeatOrder(Role role, LinkHalf link) {}

    static Command parse(String line) throws WorkerFailure {
        try {
            JSONObject command = new JSONObject(line);
            String name = command.getString("do");
            return switch (name) {
                case "describe" -> new Describe();
                case "attach" -> attach(command);
                case "meet" -> new Meet();
                case "clock" -> new Clock(command.optInt("cpu"));
                case "run" -> run(command);
                case "stop" -> new Stop();
                default -> throw new WorkerFailure("this worker does not know how to `" + name + "`");
            };
        } catch (JSONException error) {
            throw new WorkerFailure("not a command of the protocol: " + error.getMessage(), error);
        }
    }

    private static Attach attach(JSONObject command) throws WorkerFailure {
        List<SeatOrder> seats = new ArrayList<>();
        JSONArray given = command.getJSONArray("seats");
        for (int at = 0; at < given.length(); at++) {
            JSONObject seat = given.getJSONObject(at);
            Role role = Role.parse(seat.getString("role"));
            seats.add(new SeatOrder(role, LinkHalf.parse(seat.optJSONObject("link"))));
        }
        return new Attach(
                Case.parse(command.getString("case")),
                List.copyOf(seats),
                command.optInt("samples_fd", -1));
    }

    private static Run run(JSONObject command) throws WorkerFailure {
        String phase = command.getString("phase");
        boolean keepSamples = switch (phase) {
            case "measure" -> true;
            case "pilot", "warm-up", "count" -> false;
            default -> throw new WorkerFailure("there is no phase `" + phase + "`");
        };
        long count = command.getLong("count");
        if (count < 0) {
            throw new WorkerFailure(count + " operations cannot be done");
        }
        return new Run(keepSamples, count, Stamp.parse(command.getJSONObject("stamp")));
    }
}
