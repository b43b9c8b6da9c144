package hopcost.worker.protocol;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Lines in and out, none of them longer than the protocol allows. */
public final class Lines {
    /** The longest line either side accepts, in bytes. */
    public static final int LINE_MAX = 256 * 1024;

    private final InputStream input;
    private final OutputStream output;
    private final byte[] buffer = new byte[8192];
    private int start;
    private int end;

    public Lines(InputStream input, OutputStream output) {
        this.input = input;
        this.output = output;
    }

    /** The next line without its end, or null where the input has ended. */
    public String next() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            if (start == end) {
                start = 0;
                end = Math.max(0, input.read(buffer));
                if (end == 0) {
                    return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
                }
            }
            int from = start;
            while (start < end && buffer[start] != '\n') {
                start++;
            }
            line.write(buffer, from, start - from);
            if (line.size() > LINE_MAX) {
                throw new WorkerFailure("a command of more than " + LINE_MAX + " bytes");
            }
            if (start < end) {
                start++;
                return line.toString(StandardCharsets.UTF_8);
            }
        }
    }

    /** Writes a line as a whole. */
    public void write(String line) throws IOException {
        output.write((line + "\n").getBytes(StandardCharsets.UTF_8));
        output.flush();
    }
}
