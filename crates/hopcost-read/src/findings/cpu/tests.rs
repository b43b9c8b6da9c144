use crate::results::Results;
use hopcost_model::{Code, CpuUse, Role, Severity, Throttling};

use crate::testing::{
    Builder, PIPE as ONE, PIPE_TWO_CPUS as TWO, Row, TrialBuilder, expect, invalid, note, read,
    read_changed as run, severity, suspect, thread,
};

const FREE: &str = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block";
const SPIN: &str = "roundtrip/flag?payload=0&boundary=process&place=same-llc&wait=spin";
const ENGINE: &str = "roundtrip/sleep:1ms?payload=0&boundary=process&place=same-cpu&wait=block";

/// Both ends were ready, and did not run for this share of a trial.
fn foreign(t: &mut TrialBuilder, share: f64) {
    let (wall, own) = (t.raw.wall_ns, (t.raw.wall_ns as f64 * (1.0 - share)) as u64);
    t.raw.cpu_ns = own;
    for end in &mut t.raw.ends {
        (end.thread_cpu_ns, end.run_delay_ns) = (own / 2, Some(wall - own));
    }
}

/// The callee was ready and did not run for this share.
fn delayed(t: &mut TrialBuilder, share: f64) {
    t.raw.ends[1].run_delay_ns = Some((t.raw.wall_ns as f64 * share) as u64);
}

/// A quota withheld this share.
fn withheld(t: &mut TrialBuilder, share: f64) {
    let ns = (t.raw.wall_ns as f64 * share) as u64;
    t.raw.throttling = Some(Throttling { times: 1, ns });
}

/// The callee changed its CPU in one trial.
fn moved(round: u32, t: &mut TrialBuilder) {
    t.raw.ends[1].cpu_changes = u64::from(round == 3);
}

/// Both ends together switch so often a round trip.
fn switched(t: &mut TrialBuilder, per_operation: u64) {
    t.raw.ends.iter_mut().for_each(|end| (end.voluntary, end.involuntary) = (0, 0));
    t.raw.ends[0].voluntary = per_operation * 1000;
}

#[test]
fn each_finding_has_its_evidence() {
    use Code::{Migrated, NeverSlept, PinningFailed, Preempted, SpinnerSlept};
    let rows: [Row; 32] = [
        (Preempted, ONE, |_, t| foreign(t, 0.01), None),
        (Preempted, ONE, |_, t| foreign(t, 0.04), suspect("")),
        (
            Preempted,
            ONE,
            |round, t| foreign(t, if round == 2 { 0.3 } else { 0.0 }),
            note("1 of 8 trials"),
        ),
        (Preempted, ENGINE, |_, t| foreign(t, 0.9), None),
        // Both wait for a device.
        (
            Preempted,
            ONE,
            |_, t| {
                foreign(t, 0.99);
                t.raw.ends.iter_mut().for_each(|end| end.run_delay_ns = Some(t.raw.wall_ns / 200));
            },
            None,
        ),
        // What the hypervisor took, or a quota withheld, was not foreign.
        (
            Preempted,
            ONE,
            |_, t| {
                foreign(t, 0.04);
                t.raw.watched_ns = 1_000_000_000;
                t.raw.cpu_uses = vec![CpuUse { steal_ns: Some(40_000_000), ..CpuUse::default() }];
            },
            None,
        ),
        (Preempted, ONE, |_, t| (foreign(t, 0.5), withheld(t, 0.5)).1, None),
        (Preempted, ONE, |_, t| (foreign(t, 0.5), withheld(t, 0.4)).1, suspect("")),
        (Preempted, SPIN, |_, t| (foreign(t, 0.5), withheld(t, 0.5)).1, None),
        (Preempted, SPIN, |_, t| (foreign(t, 0.5), withheld(t, 0.4)).1, suspect("")),
        (Preempted, SPIN, |_, t| delayed(t, 0.01), None),
        (Preempted, SPIN, |_, t| delayed(t, 0.04), suspect("")),
        (Preempted, FREE, |_, t| delayed(t, 0.40), None),
        // A thousand wake-ups in 3 ms may take a microsecond each.
        (Preempted, TWO, |_, t| delayed(t, 0.30), None),
        (Preempted, TWO, |_, t| delayed(t, 0.50), suspect("")),
        // Threads of the mechanism itself.
        (
            Preempted,
            SPIN,
            |_, t| {
                delayed(t, 0.10);
                t.raw.cpu_ns += t.raw.wall_ns / 10;
            },
            None,
        ),
        (Migrated, TWO, moved, invalid("In 1 of 8")),
        (Migrated, FREE, moved, note("a free end")),
        (
            Migrated,
            TWO,
            |_, t| (t.raw.ends[1].cpu_before, t.raw.ends[1].cpu_after) = (5, 5),
            invalid("a pinned end"),
        ),
        (PinningFailed, ONE, |_, t| t.raw.ends[0].pinned = false, invalid("affinity mask")),
        (PinningFailed, FREE, |_, t| t.raw.ends[0].pinned = false, None),
        (PinningFailed, ONE, |_, t| t.raw.pin_errors.push("offline".into()), invalid("offline")),
        // The test facts say 4 switches a round trip on one CPU, 2 to 4 on two.
        (NeverSlept, ONE, |_, t| switched(t, 4), None),
        (NeverSlept, ONE, |_, t| switched(t, 3), suspect("at least 4")),
        (NeverSlept, TWO, |_, t| switched(t, 2), None),
        (NeverSlept, TWO, |_, t| switched(t, 1), suspect("at least 2")),
        (NeverSlept, FREE, |_, t| switched(t, 1), suspect("at least 2")),
        (NeverSlept, SPIN, |_, t| switched(t, 0), None),
        // Helper threads did half of the work, and nobody knows how often they switched.
        (
            NeverSlept,
            ONE,
            |_, t| {
                switched(t, 0);
                t.raw.cpu_ns = t.raw.ends.iter().map(|end| 2 * end.thread_cpu_ns).sum();
            },
            None,
        ),
        (SpinnerSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 5, None),
        (SpinnerSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 50, suspect("0.050")),
        (SpinnerSlept, TWO, |_, t| t.raw.ends[1].voluntary = 2000, None),
    ];
    for (code, id, change, expected) in rows {
        expect(&run(id, change), code, expected);
    }
    for id in [ONE, TWO, FREE, SPIN] {
        assert_eq!(run(id, |_, _| ()).findings, [], "{id}");
    }
}

#[test]
fn ends_that_are_no_threads_are_not_judged_by_threads() {
    let go = |id: &str, seat: Option<Role>| {
        run(&format!("{id}&runtime=go"), move |_, t| {
            t.raw.threads = vec![thread("worker", seat, 900, 0), thread("worker", seat, 900, 0)];
            t.raw.threads[1].seat = seat.map(|_| Role::Callee);
            t.raw.threads[1].process = Role::Callee;
            t.raw.ends.iter_mut().for_each(|end| {
                (end.voluntary, end.involuntary) = (20, 0);
                (end.cpu_before, end.cpu_after, end.pinned) = (5, 5, false);
                end.run_delay_ns = Some(t.raw.wall_ns);
            });
        })
    };
    let codes = |results: &Results| -> Vec<(Code, Severity)> {
        results.findings.iter().map(|f| (f.code, f.severity)).collect()
    };
    let end = Some(Role::Caller);
    assert_eq!(codes(&go(ONE, None)), [], "one CPU is as asked");
    let two = [(Code::PinningFailed, Severity::Suspect)];
    assert_eq!(codes(&go(TWO, None)), two);
    assert_eq!(codes(&go(SPIN, None)), two);
    let threads = go(TWO, end);
    for code in [Code::Migrated, Code::PinningFailed, Code::Preempted, Code::NeverSlept] {
        assert!(severity(&threads, code).is_some(), "{code}");
    }
    assert!(severity(&go(SPIN, end), Code::SpinnerSlept).is_some());
}

#[test]
fn oversubscribed() {
    for (wait, place, expected) in [
        ("spin", "same-cpu", Some(Severity::Invalid)),
        ("block:spin", "same-cpu", Some(Severity::Invalid)),
        ("spin-then-block", "same-cpu", Some(Severity::Suspect)),
        ("yield", "same-cpu", Some(Severity::Note)),
        ("spin", "free", None),
    ] {
        let id = format!("roundtrip/pipe?payload=64&boundary=process&place={place}&wait={wait}");
        assert_eq!(severity(&run(&id, |_, _| ()), Code::Oversubscribed), expected, "{id}");
    }
    let id = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=spin";
    let mut raw = Builder::new().case(id, 8, |_, t| t.each(&[3000; 100])).build();
    raw.plan.cpus = vec![0];
    assert_eq!(severity(&read(&raw), Code::Oversubscribed), Some(Severity::Invalid));
}
