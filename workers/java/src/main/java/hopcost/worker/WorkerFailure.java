package hopcost.worker;

import java.io.IOException;

/** Why the worker cannot go on, in one line. */
final class WorkerFailure extends IOException {
    private static final long serialVersionUID = 1;

    /** Whether all that is known is that the other end is gone. */
    private final boolean isPartnerGone;

    WorkerFailure(String reason) {
        this(reason, null);
    }

    WorkerFailure(String reason, Throwable cause) {
        this(reason, cause, false);
    }

    private WorkerFailure(String reason, Throwable cause, boolean isPartnerGone) {
        super(reason, cause);
        this.isPartnerGone = isPartnerGone;
    }

    /** Whether an error says no more than that the other end is gone. */
    static boolean isPartnerGone(Throwable error) {
        return error instanceof WorkerFailure failure && failure.isPartnerGone;
    }

    /** The failure of an end whose partner has closed the link or died. */
    static WorkerFailure peerGone() {
        return new WorkerFailure("the other end is gone", null, true);
    }

    /** The failure of an end that cannot reach its partner any more. */
    static WorkerFailure linkLost(Throwable error) {
        String reason = "the link to the other end is lost: " + error.getMessage();
        return new WorkerFailure(reason, error, true);
    }

    static WorkerFailure corrupted(long sequence) {
        String number = Long.toUnsignedString(sequence);
        return new WorkerFailure("message " + number + " did not arrive as it was sent");
    }

    /** What an error says in one line, whatever it is. */
    static String reason(Throwable error) {
        String message = error.getMessage();
        boolean speaksForItself = error instanceof WorkerFailure && message != null;
        String reason = speaksForItself ? message : String.valueOf(error);
        return reason.replaceAll("\\s+", " ").strip();
    }
}
