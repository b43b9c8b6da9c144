package hopcost.worker;

import hopcost.worker.protocol.Command;
import hopcost.worker.protocol.Lines;
import hopcost.worker.seat.LastWords;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;

/** hopcost's worker for Java: speaks the protocol of workers/PROTOCOL.md. */
public final class Main {
    private Main() {}

    /** Obeys until the input ends or the worker is told to stop. */
    public static void main(String[] arguments) {
        // Nobody but the protocol may write to standard output.
        System.setOut(System.err);
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> LastWords.fail(error));
        try {
            Lines lines = new Lines(
                    new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out));
            Worker worker = new Worker();
            for (String line = lines.next(); line != null; line = lines.next()) {
                if (line.isBlank()) {
                    continue;
                }
                Command command = Command.parse(line);
                lines.write(worker.obey(command));
                if (command instanceof Command.Stop) {
                    break;
                }
            }
        } catch (Throwable error) {
            throw LastWords.fail(error);
        }
        // At once, whatever threads there are.
        Runtime.getRuntime().halt(0);
    }
}
