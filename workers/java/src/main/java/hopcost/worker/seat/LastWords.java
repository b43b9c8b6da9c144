package hopcost.worker.seat;

import hopcost.worker.protocol.WorkerFailure;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.json.JSONStringer;
import org.json.JSONWriter;

/** How a worker that cannot go on leaves, whichever of its threads it is that cannot. */
public final class LastWords {
    private LastWords() {}

    /**
     * Says why, and ends the process without waiting for anybody; the first thread that comes
     * speaks. Never returns: the type is for callers that have to throw.
     */
    public static synchronized Error fail(Throwable error) {
        JSONWriter failed = new JSONStringer()
                .object()
                .key("is").value("failed")
                .key("reason").value(WorkerFailure.reason(error));
        if (WorkerFailure.isPartnerGone(error)) {
            failed.key("cause").value("partner-gone");
        }
        String line = failed.endObject().toString();
        try (FileOutputStream output = new FileOutputStream(FileDescriptor.out)) {
            output.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException nobodyListens) {
            // Then the exit status has to do.
        }
        Runtime.getRuntime().halt(1);
        return new Error("unreachable");
    }
}
