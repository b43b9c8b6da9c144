package hopcost.worker.protocol;

import java.io.IOException;

/** Why the worker cannot go on, in one line. */
public final class WorkerFailure extends IOException {
    private static final long serialVersionUID = 1;

    public WorkerFailure(String reason) {
        super(reason);
    }

    public WorkerFailure(String reason, Throwable cause) {
        super(reason, cause);
    }

    /** The failure of an end whose partner has closed the link or died. */
    public static WorkerFailure peerGone() {
        return new WorkerFailure("the other end is gone");
    }

    /** The failure of an end that cannot reach its partner any more. */
    public static WorkerFailure linkLost(Throwable error) {
        return new WorkerFailure("the link to the other end is lost: " + error.getMessage(), error);
    }

    /** What an error says in one line, whatever it is. */
    public static String reason(Throwable error) {
        String message = error.getMessage();
        boolean speaksForItself = error instanceof WorkerFailure && message != null;
        String reason = speaksForItself ? message : String.valueOf(error);
        return reason.replaceAll("\\s+", " ").strip();
    }
}
