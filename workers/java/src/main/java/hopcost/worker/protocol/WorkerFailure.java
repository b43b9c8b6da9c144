package hopcost.worker.protocol;

import java.io.IOException;

/** Why the worker cannot go on, in one line. */
public final class WorkerFailure extends IOException {
    private static final long serialVersionUID = 1;

    /** Whether all that is known is that the other end is gone. */
    private final boolean partnerGone;

    public WorkerFailure(String reason) {
        this(reason, null);
    }

    public WorkerFailure(String reason, Throwable cause) {
        this(reason, cause, false);
    }

    private WorkerFailure(String reason, Throwable cause, boolean partnerGone) {
        super(reason, cause);
        this.partnerGone = partnerGone;
    }

    /** Whether an error says no more than that the other end is gone. */
    public static boolean isPartnerGone(Throwable error) {
        return error instanceof WorkerFailure failure && failure.partnerGone;
    }

    /** The failure of an end whose partner has closed the link or died. */
    public static WorkerFailure peerGone() {
        return new WorkerFailure("the other end is gone", null, true);
    }

    /** The failure of an end that cannot reach its partner any more. */
    public static WorkerFailure linkLost(Throwable error) {
        String reason = "the link to the other end is lost: " + error.getMessage();
        return new WorkerFailure(reason, error, true);
    }

    /** What an error says in one line, whatever it is. */
    public static String reason(Throwable error) {
        String message = error.getMessage();
        boolean speaksForItself = error instanceof WorkerFailure && message != null;
        String reason = speaksForItself ? message : String.valueOf(error);
        return reason.replaceAll("\\s+", " ").strip();
    }
}
