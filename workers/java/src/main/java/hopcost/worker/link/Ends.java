package hopcost.worker.link;

import hopcost.worker.protocol.Role;

/** Both ends of a link that the worker has made itself. */
public record Ends<T>(T caller, T callee) {
    public T of(Role role) {
        return switch (role) {
            case CALLER -> caller;
            case CALLEE -> callee;
        };
    }
}
