package hopcost.worker.protocol;

/** Which end of a link. */
public enum Role {
    CALLER("caller"),
    CALLEE("callee");

    private final String word;

    Role(String word) {
        this.word = word;
    }

    /** The spelling in the protocol. */
    public String word() {
        return word;
    }

    static Role parse(String word) throws WorkerFailure {
        return switch (word) {
            case "caller" -> CALLER;
            case "callee" -> CALLEE;
            default -> throw new WorkerFailure("there is no role `" + word + "`");
        };
    }
}
