package hopcost.worker;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.json.JSONObject;
import org.json.JSONStringer;
import org.json.JSONWriter;

/** hopcost's worker for Java: speaks the protocol of workers/PROTOCOL.md. */
public final class Main {
    private Main() {}

    /** Obeys until the input ends or hopcost says stop. */
    public static void main(String[] arguments) {
        // Nobody but the protocol may write to standard output.
        System.setOut(System.err);
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> fail(error));
        try {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            Worker worker = new Worker();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JSONObject command = new JSONObject(line);
                say(worker.obey(command));
                if (command.getString("do").equals("stop")) {
                    break;
                }
            }
        } catch (Throwable error) {
            throw fail(error);
        }
        // At once, whatever threads there are.
        Runtime.getRuntime().halt(0);
    }

    /**
     * Says why the worker cannot go on, whichever of its threads it is that cannot, and ends the
     * process without waiting for anybody; the first thread that comes speaks. Never returns: the
     * type is for callers that have to throw.
     */
    static synchronized Error fail(Throwable error) {
        JSONWriter failed = new JSONStringer()
                .object()
                .key("is").value("failed")
                .key("reason").value(WorkerFailure.reason(error));
        if (WorkerFailure.isPartnerGone(error)) {
            failed.key("cause").value("partner-gone");
        }
        try {
            say(failed.endObject());
        } catch (IOException nobodyListens) {
            // Then the exit status has to do.
        }
        Runtime.getRuntime().halt(1);
        return new Error("unreachable");
    }

    private static synchronized void say(JSONWriter reply) throws IOException {
        byte[] line = (reply + "\n").getBytes(StandardCharsets.UTF_8);
        new FileOutputStream(FileDescriptor.out).write(line);
    }
}
