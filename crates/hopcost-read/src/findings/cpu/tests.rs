use hopcost_model::case::Role;
use hopcost_model::finding::{Code, Severity};
use hopcost_model::raw::{CpuAccounting, CpuUse};
use hopcost_model::results::Results;

use crate::testing::{Builder, TrialBuilder, read, read_changed as run, severity, thread};

const ONE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
const TWO: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block";
const FREE: &str = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block";
const SPIN: &str = "roundtrip/flag?payload=0&boundary=process&place=same-llc&wait=spin";

#[test]
fn nothing_fires_on_a_plain_case() {
    for id in [ONE, TWO, FREE, SPIN] {
        assert_eq!(run(id, |_, _| ()).findings, [], "{id}");
    }
}

#[test]
fn preempted_on_one_cpu() {
    // Half of the wall time each, minus what something else took.
    let foreign = |share: f64| {
        move |_: u32, t: &mut TrialBuilder| {
            let own = (t.raw.wall_ns as f64 * (1.0 - share)) as u64;
            t.raw.cpu_ns = own;
            t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = own / 2);
            t.raw.ends.iter_mut().for_each(|end| end.run_delay_ns = Some(t.raw.wall_ns - own));
        }
    };
    let shaped = |round: u32, t: &mut TrialBuilder| {
        foreign(0.99)(round, t);
        t.raw.ends.iter_mut().for_each(|end| end.run_delay_ns = Some(t.raw.wall_ns / 200));
    };
    assert_eq!(severity(&run(ONE, shaped), Code::Preempted), None, "both wait for a device");
    assert_eq!(severity(&run(ONE, foreign(0.01)), Code::Preempted), None);
    assert_eq!(severity(&run(ONE, foreign(0.04)), Code::Preempted), Some(Severity::Suspect));
    let once = run(ONE, |round, t| foreign(if round == 2 { 0.3 } else { 0.0 })(round, t));
    assert_eq!(severity(&once, Code::Preempted), Some(Severity::Note));
    assert!(once.findings[0].evidence.contains("1 of 8 trials"));
    let engine = "roundtrip/sleep:1ms?payload=0&boundary=process&place=same-cpu&wait=block";
    assert_eq!(severity(&run(engine, foreign(0.9)), Code::Preempted), None, "an engine idles");
}

#[test]
fn what_the_hypervisor_took_was_not_foreign_and_a_trial_knows_it_better_than_its_run() {
    let suspect = Some(Severity::Suspect);
    for (of_run_ns, of_trial_ns, expected) in [
        (0, None, suspect),
        (40_000_000, None, None),
        (0, Some(40_000_000), None),
        (40_000_000, Some(0), suspect),
    ] {
        let make = |_: u32, t: &mut TrialBuilder| {
            t.each(&[3000; 1000]);
            t.raw.cpu_ns = t.raw.wall_ns * 96 / 100;
            t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = t.raw.cpu_ns / 2);
            t.raw.ends[1].run_delay_ns = Some(t.raw.wall_ns);
            t.raw.watched_ns = 1_000_000_000;
            t.raw.cpu_uses = vec![CpuUse { steal_ns: of_trial_ns, ..Default::default() }];
        };
        let mut raw = Builder::new().case(ONE, 8, make).build();
        let steal_ns = of_run_ns;
        raw.accounting = vec![CpuAccounting { round: 0, cpu: 0, wall_ns: 1_000_000_000, steal_ns }];
        let found = severity(&read(&raw), Code::Preempted);
        assert_eq!(found, expected, "{of_run_ns} {of_trial_ns:?}");
    }
}

#[test]
fn what_a_quota_withheld_was_not_foreign() {
    let throttled = |id: &str, share: f64| {
        let withheld = run(id, move |_, t| {
            let wall = t.raw.wall_ns as f64;
            t.raw.cpu_ns = (wall * 0.5) as u64;
            t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = t.raw.cpu_ns / 2);
            t.raw.ends[1].run_delay_ns = Some(t.raw.cpu_ns);
            let ns = (wall * share) as u64;
            t.raw.throttling = Some(hopcost_model::raw::Throttling { times: 1, ns });
        });
        severity(&withheld, Code::Preempted)
    };
    for id in [ONE, SPIN] {
        assert_eq!(throttled(id, 0.5), None, "{id}");
        assert_eq!(throttled(id, 0.4), Some(Severity::Suspect), "{id}");
    }
}

#[test]
fn preempted_on_two_cpus() {
    let delayed = |id, share: f64| {
        run(id, move |_, t| {
            t.raw.ends[1].run_delay_ns = Some((t.raw.wall_ns as f64 * share) as u64);
        })
    };
    assert_eq!(severity(&delayed(SPIN, 0.01), Code::Preempted), None);
    assert_eq!(severity(&delayed(SPIN, 0.04), Code::Preempted), Some(Severity::Suspect));
    assert_eq!(severity(&delayed(FREE, 0.40), Code::Preempted), None, "not known");
    // A thousand wake-ups in 3 ms may take a microsecond each.
    assert_eq!(severity(&delayed(TWO, 0.30), Code::Preempted), None);
    assert_eq!(severity(&delayed(TWO, 0.50), Code::Preempted), Some(Severity::Suspect));
}

#[test]
fn threads_of_the_mechanism_itself_are_not_foreign() {
    let delayed = |helpers: f64| {
        run(SPIN, move |_, t| {
            let share = |of: f64| (t.raw.wall_ns as f64 * of) as u64;
            let (delay, more) = (share(0.10), share(helpers));
            t.raw.ends[1].run_delay_ns = Some(delay);
            t.raw.cpu_ns = t.raw.ends.iter().map(|end| end.thread_cpu_ns).sum::<u64>() + more;
        })
    };
    assert_eq!(severity(&delayed(0.00), Code::Preempted), Some(Severity::Suspect));
    assert_eq!(severity(&delayed(0.10), Code::Preempted), None);
}

#[test]
fn migrated() {
    let moved = |id| run(id, |round, t| t.raw.ends[1].cpu_changes = u64::from(round == 3));
    assert_eq!(severity(&moved(TWO), Code::Migrated), Some(Severity::Invalid));
    assert_eq!(severity(&moved(FREE), Code::Migrated), Some(Severity::Note));
    let elsewhere = run(TWO, |_, t| {
        t.raw.ends[1].cpu_before = 5;
        t.raw.ends[1].cpu_after = 5;
    });
    assert_eq!(severity(&elsewhere, Code::Migrated), Some(Severity::Invalid));
}

#[test]
fn pinning_failed() {
    let lost = |id| run(id, |_, t| t.raw.ends[0].pinned = false);
    assert_eq!(severity(&lost(ONE), Code::PinningFailed), Some(Severity::Invalid));
    assert_eq!(severity(&lost(FREE), Code::PinningFailed), None);
    let error = run(ONE, |_, t| t.raw.pin_errors.push("CPU 0 is offline".into()));
    assert!(error.findings[0].evidence.contains("offline"));
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
    let remarks = go(TWO, None).remarks.join(" ");
    assert!(remarks.contains("go multiplexes its ends over up to"), "{remarks}");
    assert!(!threads.remarks.join(" ").contains("no thread"));
}

#[test]
fn oversubscribed() {
    for (wait, place, expected) in [
        ("spin", "same-cpu", Some(Severity::Invalid)),
        ("block:spin", "same-cpu", Some(Severity::Invalid)),
        ("spin-then-block", "same-cpu", Some(Severity::Suspect)),
        ("yield", "same-cpu", Some(Severity::Note)),
        ("block", "same-cpu", None),
        ("spin", "same-llc", None),
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

#[test]
fn never_slept() {
    // The test facts say 4 switches a round trip on one CPU, 2 to 4 on two.
    let switched = |id, per_operation: u64| {
        run(id, move |_, t| {
            t.raw.ends.iter_mut().for_each(|end| end.involuntary = 0);
            t.raw.ends[0].voluntary = per_operation * 1000;
            t.raw.ends[1].voluntary = 0;
        })
    };
    for (id, count, fires) in
        [(ONE, 4, false), (ONE, 3, true), (TWO, 2, false), (TWO, 1, true), (FREE, 1, true)]
    {
        let severity = severity(&switched(id, count), Code::NeverSlept);
        assert_eq!(severity.is_some(), fires, "{id} {count}");
    }
    assert_eq!(severity(&switched(SPIN, 0), Code::NeverSlept), None);
    // An older file, of which the switches of helper threads are not known.
    let helped = run(ONE, |_, t| {
        t.raw.ends.iter_mut().for_each(|end| (end.voluntary, end.involuntary) = (0, 0));
        t.raw.cpu_ns = t.raw.ends.iter().map(|end| 2 * end.thread_cpu_ns).sum();
    });
    assert_eq!(severity(&helped, Code::NeverSlept), None);
}

#[test]
fn spinner_slept() {
    let slept = |id, times| run(id, move |_, t| t.raw.ends[1].voluntary = times);
    assert_eq!(severity(&slept(SPIN, 5), Code::SpinnerSlept), None);
    assert_eq!(severity(&slept(SPIN, 50), Code::SpinnerSlept), Some(Severity::Suspect));
    assert_eq!(severity(&slept(TWO, 2000), Code::SpinnerSlept), None);
}
