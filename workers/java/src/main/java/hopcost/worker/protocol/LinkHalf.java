package hopcost.worker.protocol;

import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;

/** How an end reaches the other one. */
public sealed interface LinkHalf {
    /** The worker makes the link itself and plays both ends. */
    record Own() implements LinkHalf {}

    /** Inherited descriptors, by number. */
    record Descriptors(List<Integer> numbers) implements LinkHalf {}

    /** This end is to bind an address; the other one will know the token. */
    record Offer(String carrier, String directory, String token) implements LinkHalf {}

    /** This end is to connect, and to send the token first. */
    record Connect(String carrier, String address, String token) implements LinkHalf {}

    static LinkHalf parse(JSONObject link) throws WorkerFailure {
        if (link == null) {
            return new Own();
        }
        JSONObject offer = link.optJSONObject("offer");
        if (offer != null) {
            return new Offer(
                    offer.getString("carrier"), offer.optString("directory"), offer.getString("token"));
        }
        JSONObject connect = link.optJSONObject("connect");
        if (connect != null) {
            return new Connect(
                    connect.getString("carrier"),
                    connect.getString("address"),
                    connect.getString("token"));
        }
        JSONArray descriptors = link.optJSONArray("fds");
        if (descriptors == null) {
            throw new WorkerFailure("a link without descriptors, offer and address");
        }
        List<Integer> numbers = new ArrayList<>();
        for (int at = 0; at < descriptors.length(); at++) {
            numbers.add(descriptors.getInt(at));
        }
        return new Descriptors(List.copyOf(numbers));
    }
}
