package hopcost.worker.link;

import java.util.Optional;

/** A link that is open, or that waits for the one who knows its address. */
public sealed interface Opening<T> {
    /** A link that is open. */
    record Open<T>(T end) implements Opening<T> {
        @Override
        public T meet() {
            return end;
        }
    }

    /** A link whose address is bound. */
    record Offered<T>(String address, Door<T> door) implements Opening<T> {
        @Override
        public T meet() throws Exception {
            return door.enter();
        }

        @Override
        public Optional<String> offers() {
            return Optional.of(address);
        }
    }

    /** Lets in the one who knows the token. */
    @FunctionalInterface
    interface Door<T> {
        T enter() throws Exception;
    }

    /** Makes something of the connected end. */
    @FunctionalInterface
    interface Step<T, R> {
        R apply(T end) throws Exception;
    }

    /** This end of the link, connected. */
    T meet() throws Exception;

    /** The address that is bound, until somebody has been met. */
    default Optional<String> offers() {
        return Optional.empty();
    }

    /** The same link with something made of its end, as soon as it is connected. */
    default <R> Opening<R> then(Step<T, R> step) throws Exception {
        if (this instanceof Offered<T> offered) {
            return new Offered<>(offered.address(), () -> step.apply(offered.door().enter()));
        }
        return new Open<>(step.apply(meet()));
    }
}
