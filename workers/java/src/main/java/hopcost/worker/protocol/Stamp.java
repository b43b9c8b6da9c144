package hopcost.worker.protocol;

import org.json.JSONObject;

/** How operations are stamped. */
public sealed interface Stamp {
    /** One stamp an operation, the end of one being the start of the next. */
    record Each() implements Stamp {}

    /** Stamps around {@code n} operations. */
    record Batch(long n) implements Stamp {}

    /** Batches of {@code n} and {@code 2n} operations in turn. */
    record TwoLengths(long n) implements Stamp {}

    /** More operations than this in a batch are a mistake. */
    long BATCH_MAX = 1L << 40;

    /** Operations in the shorter batch. */
    default long batch() {
        if (this instanceof Batch batch) {
            return batch.n();
        }
        return this instanceof TwoLengths lengths ? lengths.n() : 1;
    }

    static Stamp parse(JSONObject stamp) throws WorkerFailure {
        String kind = stamp.getString("kind");
        if (kind.equals("each")) {
            return new Each();
        }
        long n = stamp.getLong("n");
        if (n < 1 || n > BATCH_MAX) {
            throw new WorkerFailure("a batch of " + n + " operations is none");
        }
        return switch (kind) {
            case "batch" -> new Batch(n);
            case "two-lengths" -> new TwoLengths(n);
            default -> throw new WorkerFailure("there is no stamp of the kind `" + kind + "`");
        };
    }
}
