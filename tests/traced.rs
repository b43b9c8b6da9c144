//! The traced phase: the kernel's events are those that a row states, on the clock of the stamps,
//! and a refusal says why.

use hopcost_model::case::{Boundary, Case, Placement, WaitKind};
use hopcost_model::raw::RawTrial;
use hopcost_model::trace::TraceThread::{Callee, Caller};
use hopcost_model::trace::{Trace, TraceEvent, TraceKind, TraceThread};
use hopcost_probe::trace::{BOUND_MAX_NS, refused};

use crate::support::{Home, cross, mechanism, roundtrip};

const N: u64 = 200;

/// A traced trial of a case; `None` where this machine lets nobody trace.
fn traced(home: &Home, case: &str) -> Option<Trace> {
    let cpu = hopcost_probe::sys::allowed_cpus().expect("an affinity mask")[0];
    if let Some(why) = refused(cpu) {
        eprintln!("NOT CHECKED: {why}");
        return None;
    }
    let count = N.to_string();
    let told = home.expect(&["trial", case, "--count", "10", "--trace", &count], 0);
    let trial: RawTrial = serde_json::from_str(&told).expect("a trial");
    let trace = trial.trace.expect("it was traced");
    assert_eq!((trace.operations, trace.lost), (N, 0));
    assert_eq!(trace.untraced_ns.len() as u64, N);
    assert!(trace.untraced_ns.iter().all(|ns| *ns > 0));
    assert!(trace.clock_bound_ns <= BOUND_MAX_NS);
    assert!(trace.events.is_sorted_by_key(|event| event.at_ns));
    assert_eq!(trace.events[0].at_ns, 0);
    assert!(trace.event_cost_ns.is_some_and(|ns| (1.0..1e6).contains(&ns)), "{:?}", trace.missing);
    Some(trace)
}

fn pipe(place: Placement) -> Case {
    roundtrip(mechanism("pipe"), Boundary::Process, place, WaitKind::Block)
}

/// Events of a thread.
fn of(trace: &Trace, thread: TraceThread, is: impl Fn(TraceKind) -> bool) -> u64 {
    let all = trace.events.iter();
    all.filter(|event| event.thread == thread && is(event.kind)).count() as u64
}

#[test]
fn a_round_trip_has_the_calls_wakings_and_switches_that_its_row_states() {
    let home = Home::alone();
    let case = pipe(Placement::SameCpu);
    let Some(trace) = traced(&home, &case.id()) else { return };
    let stated = mechanism("pipe").wait(WaitKind::Block).expect("it blocks");
    assert!(stated.system_calls.is_exact(), "the row says no number: {stated:?}");
    let calls = stated.system_calls.least;
    let begun = [Caller, Callee].map(|end| {
        let begun = of(&trace, end, |kind| matches!(kind, TraceKind::SyscallEnter(_)));
        let ended = of(&trace, end, |kind| matches!(kind, TraceKind::SyscallExit(_)));
        assert!(begun.abs_diff(ended) <= 1, "{end:?}: {begun} begun, {ended} ended");
        begun
    });
    let each = (calls / 2.0 * N as f64) as u64;
    assert_eq!(begun[0], each);
    // A call of the callee's may be cut off by the first stamp, and at the last it may be through.
    assert!((each - 1..each + 20).contains(&begun[1]), "{begun:?}");
    let woken = [(Caller, Callee), (Callee, Caller)].map(|(by, who)| {
        let woken = of(&trace, by, |kind| kind == TraceKind::Wakeup(who));
        assert_eq!(of(&trace, by, |kind| kind == TraceKind::Waking(who)), woken);
        woken
    });
    // Who is preempted by the end that it has woken finds its answer there, and does not sleep.
    assert!(woken.iter().all(|woken| (N / 10..=N).contains(woken)), "{woken:?}");
    // Whoever else wants the CPU comes in between.
    let to = |end| {
        let to_end = |e: &&TraceEvent| matches!(e.kind, TraceKind::Switch { to, .. } if to == end);
        trace.events.iter().filter(to_end).count() as f64
    };
    let both = (to(Caller) + to(Callee)) / N as f64;
    assert!(stated.switches_one_cpu.admits(both, 0.2), "{both} switches a round trip");
    let cpus: Vec<u32> = trace.events.iter().map(|event| event.cpu).collect();
    assert!(cpus.iter().all(|cpu| *cpu == cpus[0]), "only the CPU of the ends is traced");
}

#[test]
fn stamps_and_calls_of_an_end_alternate_as_they_do_in_its_loop() {
    let home = Home::alone();
    let Some(place) = cross() else { return eprintln!("NOT CHECKED: one CPU") };
    let Some(trace) = traced(&home, &pipe(place).id()) else { return };
    let word = |event: &TraceEvent| match event.kind {
        TraceKind::Stamp(number) => Some(char::from(b'0' + number)),
        TraceKind::SyscallEnter(_) => Some('('),
        TraceKind::SyscallExit(_) => Some(')'),
        _ => None,
    };
    let own = trace.events.iter().filter(|event| event.thread == Caller);
    let told: String = own.filter_map(word).collect();
    assert_eq!(told, "0()()1".repeat(N as usize));
    let cpus = |end| trace.events.iter().filter(move |e| e.thread == end).map(|e| e.cpu);
    assert!(cpus(Caller).all(|cpu| cpus(Callee).all(|other| other != cpu)));
}
