package hopcost.worker;

import hopcost.worker.mechanism.Mechanism;
import hopcost.worker.protocol.Case;
import hopcost.worker.protocol.Command;
import hopcost.worker.protocol.Stamp;
import hopcost.worker.protocol.WorkerFailure;
import hopcost.worker.seat.Seat;
import hopcost.worker.workload.Order;
import hopcost.worker.workload.Outcome;
import hopcost.worker.workload.Samples;
import hopcost.worker.workload.StampCost;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONStringer;
import org.json.JSONWriter;

/** Turns commands into replies. */
final class Worker {
    private List<Seat> seats;
    private Case subject;
    private Samples samples;
    private long nextMessage = 1;

    /** The reply to a command, one line of JSON. */
    String obey(Command command) throws Exception {
        JSONWriter reply = new JSONStringer().object();
        if (command instanceof Command.Describe) {
            Describe.write(reply);
        } else if (command instanceof Command.Attach attach) {
            attach(attach, reply);
        } else if (command instanceof Command.Meet) {
            for (Seat seat : attached()) {
                seat.meet();
            }
            reply.key("is").value("met");
        } else if (command instanceof Command.Clock clock) {
            calibrate(clock.cpu(), reply);
        } else if (command instanceof Command.Run run) {
            run(run, reply);
        } else {
            reply.key("is").value("stopped");
        }
        return reply.endObject().toString();
    }

    private List<Seat> attached() throws WorkerFailure {
        if (seats == null) {
            throw new WorkerFailure("nothing is attached");
        }
        return seats;
    }

    private void attach(Command.Attach attach, JSONWriter reply) throws Exception {
        if (seats != null) {
            throw new WorkerFailure("already attached");
        }
        subject = attach.subject();
        samples = Samples.of(attach.samples());
        seats = Mechanism.named(subject.mechanism()).attach(subject, attach.seats());
        reply.key("is").value("attached");
        reply.key("pid").value(ProcessHandle.current().pid());
        reply.key("seats").array();
        for (Seat seat : seats) {
            reply.object();
            reply.key("role").value(seat.role().word());
            reply.key("tid").value(seat.tid());
            if (seat.offers().isPresent()) {
                reply.key("offers").value(seat.offers().get());
            }
            reply.endObject();
        }
        reply.endArray();
    }

    private static void calibrate(int cpu, JSONWriter reply) {
        StampCost cost = StampCost.measure();
        reply.key("is").value("clock");
        reply.key("cpu").value(cpu);
        reply.key("runtime").value("java");
        reply.key("source").value("CLOCK_MONOTONIC");
        reply.key("ticks_per_second").value(1_000_000_000L);
        reply.key("stamp_min_ns").value(cost.minNs());
        reply.key("stamp_p50_ns").value(cost.p50Ns());
        reply.key("stamp_p99_ns").value(cost.p99Ns());
    }

    private void run(Command.Run run, JSONWriter reply) throws Exception {
        boolean roundtrip = subject != null && subject.workload().equals("roundtrip");
        if (roundtrip && run.stamp() instanceof Stamp.TwoLengths) {
            throw new WorkerFailure("two lengths are for calls");
        }
        Order order = new Order(run.keepSamples(), run.count(), run.stamp(), nextMessage);
        for (Seat seat : attached()) {
            seat.start(order);
        }
        List<Outcome> outcomes = new ArrayList<>();
        for (Seat seat : seats) {
            outcomes.add(seat.finish(order));
        }
        nextMessage = order.next();
        for (Outcome outcome : outcomes) {
            samples.write(outcome.samples());
        }
        reply.key("is").value("ran");
        reply.key("ends").array();
        for (Outcome outcome : outcomes) {
            reply.object();
            reply.key("role").value(outcome.role().word());
            reply.key("count").value(outcome.count());
            reply.key("samples").value(outcome.samples().length);
            reply.key("max_ticks").value(outcome.maxTicks());
            reply.key("elapsed_ticks").value(outcome.elapsedTicks());
            reply.endObject();
        }
        reply.endArray();
    }
}
