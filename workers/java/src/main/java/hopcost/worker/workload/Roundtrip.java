package hopcost.worker.workload;

import hopcost.worker.protocol.Role;

/** Strict request and reply, one outstanding, closed loop. */
public final class Roundtrip {
    private Roundtrip() {}

    /** Plays an end of a phase. */
    public static Outcome play(Channel channel, Role role, Order order) throws Exception {
        channel.enter();
        return switch (role) {
            case CALLER -> call(channel, order, new Stamper(order));
            case CALLEE -> answer(channel, order);
        };
    }

    private static Outcome call(Channel channel, Order order, Stamper stamper) throws Exception {
        long sequence = order.first();
        for (long lead = 0; lead < Order.LEAD_IN; lead++, sequence += 2) {
            channel.send(sequence);
            channel.receive(sequence + 1);
        }
        boolean more = stamper.begin();
        while (more) {
            channel.send(sequence);
            channel.receive(sequence + 1);
            sequence += 2;
            more = stamper.more();
        }
        return stamper.outcome(order.exchanges() - Order.LEAD_IN);
    }

    private static Outcome answer(Channel channel, Order order) throws Exception {
        long sequence = order.first();
        long exchanges = order.exchanges();
        for (long done = 0; done < exchanges; done++, sequence += 2) {
            channel.receive(sequence);
            channel.send(sequence + 1);
        }
        return Outcome.unstamped(Role.CALLEE, exchanges - Order.LEAD_IN);
    }
}
