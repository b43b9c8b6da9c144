//! Loads, conformance: every mechanism that takes them does so across each boundary and under
//! each wait, each message arrives in order, and each makes the system calls of half a round trip.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hopcost_model::case::{Arrivals, Boundary, Case, Placement, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Mechanism, Senders};
use hopcost_model::raw::RawTrial;
use hopcost_probe::clock::rough_ticks;

use crate::conformance::{every, miscounted};
use crate::faults::{children_of, signal, until};
use crate::known_answers::point;
use crate::support::trace::{Window, of_trial};
use crate::support::wait::InTime;
use crate::support::{Home, alone, cross, mechanism, none_wrong, roundtrip, trial};
use crate::wake::half;

/// Messages of a trial.
pub const MESSAGES: u64 = 60;
/// Messages of a traced trial.
const TRACED: u64 = 300;

fn load(
    facts: &Mechanism,
    boundary: Boundary,
    place: Placement,
    wait: WaitKind,
    rate: u32,
) -> Case {
    Case {
        workload: Workload::Load,
        rate: Some(rate.into()),
        ..roundtrip(facts, boundary, place, wait)
    }
}

/// Every mechanism that takes loads, across each of its boundaries and under each of its waits.
fn every_load(rate: u32) -> Vec<(&'static Mechanism, Case)> {
    let place = cross().expect("these tests need two CPUs");
    let cases = every(Workload::Load).into_iter().flat_map(|(facts, of)| {
        let of = of.into_iter();
        of.map(move |(boundary, wait)| (facts, load(facts, boundary, place, wait, rate)))
    });
    cases.collect()
}

/// What is wrong with a trial of so many senders.
pub fn wrong(row: &RawTrial, senders: u64) -> Option<String> {
    if row.ends.len() as u64 != senders + 1 {
        return Some(format!("{} ends", row.ends.len()));
    }
    for end in &row.ends {
        let count = if end.role == Role::Caller { MESSAGES / senders } else { MESSAGES };
        if (end.count, end.samples, end.lost) != (count, count, 0) || end.first_tick == 0 {
            return Some(format!("{end:?}"));
        }
    }
    let load = row.load.as_ref()?;
    let own_lags = load.own_lags.as_deref().unwrap_or_default();
    let kept = (row.samples.len(), load.lags.len(), load.gaps.len().min(own_lags.len()));
    if (load.offered, load.delivered) != (MESSAGES, MESSAGES) || kept != (60, 60, 60) {
        return Some(format!("{kept:?} of {load:?}"));
    }
    let intended: u64 = load.gaps.iter().sum();
    let less = |all: &[u64], part: &[u64]| all.iter().zip(part).any(|(all, part)| all < part);
    let earlier = less(&row.samples, &load.lags) || less(&load.lags, own_lags);
    (intended != load.intended_ticks || earlier || row.gates.len() != 2)
        .then(|| format!("{intended} of {load:?}"))
}

#[test]
fn every_mechanism_takes_a_load_across_every_boundary() {
    let home = Home::alone();
    none_wrong(every_load(20_000), |_, case| match trial(&home, case, MESSAGES) {
        Err(error) => Some(error),
        Ok(row) => wrong(&row, 1).map(|what| format!("{case}: {what}")),
    });
}

#[test]
fn a_rate_below_one_a_second_is_kept() {
    let home = Home::alone();
    let mut case = every_load(1).remove(0).1;
    (case.rate, case.arrivals) = ("2.5".parse().ok(), Arrivals::Constant);
    let row = trial(&home, &case, 5).unwrap_or_else(|error| panic!("{error}"));
    let load = row.load.as_ref().expect("a load");
    let apart = rough_ticks(400_000_000) as f64;
    let off = |ticks: &u64| (*ticks as f64 / apart - 1.0).abs();
    assert!(load.gaps.len() == 5 && load.gaps.iter().all(|gap| off(gap) < 0.02), "{load:?}");
    assert!(row.wall_ns > 1_600_000_000, "{} ns", row.wall_ns);
}

#[test]
fn several_senders_share_a_link_exactly_once_and_in_order() {
    let home = Home::alone();
    let mut cases = every_load(20_000);
    // The receiver finds out itself what is missing, comes twice or overtakes.
    cases.iter_mut().for_each(|(_, case)| (case.senders, case.payload_bytes) = (4, Some(64)));
    let several = |facts: &Mechanism| matches!(facts.senders, Senders::Several { .. });
    let shared: BTreeSet<_> =
        cases.iter().filter(|(facts, _)| several(facts)).map(|(facts, _)| &facts.name).collect();
    assert_eq!(shared.len(), 9, "mechanisms whose link several senders may share: {shared:?}");
    none_wrong(cases, |facts, case| match (&facts.senders, trial(&home, case, MESSAGES)) {
        (Senders::Several { .. }, Ok(row)) => wrong(&row, 4).map(|what| format!("{case}: {what}")),
        (Senders::Several { .. }, Err(error)) => Some(error),
        (Senders::One(why), Err(error)) if error.contains(why) => None,
        (Senders::One(_), outcome) => Some(format!("{case}: {outcome:?}")),
    });
}

#[test]
fn a_message_makes_half_of_a_round_trips_system_calls() {
    let home = Home::alone();
    let mut cases = every_load(2_000);
    // Where looking again is no system call, and the messages far apart.
    cases.retain(|(_, case)| case.wait(Role::Callee) == WaitKind::Block);
    for (facts, case) in &mut cases {
        case.senders = match facts.senders {
            // Each of several repeats its end marker for as long as a tracer holds the receiver up.
            Senders::Several { .. } if facts.loses => 1,
            Senders::Several { .. } if case.boundary == Boundary::Process => 2,
            _ => 1,
        };
    }
    none_wrong(cases, |facts, case| {
        let stated = half(facts.wait(WaitKind::Block).expect("from the row").system_calls, true);
        let counts = of_trial(&home, &case.id(), TRACED, Window::Phase);
        // Of its counters; and a full ring is waited for by yielding (its row's limits), for as long as a
        // tracer holds its receiver up.
        let others = counts.of(libc::SYS_clock_gettime) + counts.of(libc::SYS_sched_yield);
        miscounted(case, TRACED, counts.total() - others, stated)
    });
}

/// A case over the known server, through plan, run, file and reader.
fn served(case: &str, messages: &str) -> serde_json::Value {
    let home = Home::new();
    let arguments =
        ["run", "--format", "json", "--seed", "1", case, "--rounds", "6", "--operations", messages];
    home.json(&arguments)
}

#[test]
fn a_stall_shows_in_every_message_that_was_due_in_it() {
    let _alone = alone();
    let case = "load/server:1us?rate=1000&arrivals=constant&stall=100ms&place=same-cpu";
    let result = served(case, "10000");
    // A tenth of the messages waits for what is left of 100 ms, which is uniform.
    let [mean_ns, p99_ns] = ["mean_ns", "p99_ns"].map(|estimate| point(&result, 0, estimate));
    assert!((mean_ns / 5e6 - 1.0).abs() < 0.02, "{mean_ns}");
    assert!((p99_ns / 90e6 - 1.0).abs() < 0.02, "{p99_ns}");
    assert_eq!(point(&result, 0, "p50_ns"), 1_000.0, "the others do not wait");
    assert_eq!(result["loads"][0]["lag_p99_ns"], 0.0, "the sender is never held up");
}

/// Voluntary switches of a process's first thread.
fn sleeps(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mut lines = status.lines().filter_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    lines.next().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// A message that was due x before the end of a stop of its receiver waits for x. So of messages at a
/// constant rate over a time D, of which the receiver was stopped for T, the quantile q is T - (1 - q) D.
#[test]
fn what_a_stopped_receiver_makes_wait_counts_in_full() {
    let home = Home::alone();
    // The longest stop has more than 2^32 ticks of a clock of 2 GHz.
    for (rate, messages, stop_ms) in
        [(200, 720, 3_000), (500, 1_000, 1_500), (1_000, 1_400, 1_000), (2_000, 1_500, 500)]
    {
        // Others may hold up an end that goes on.
        let mut off = (0..3).map(|_| off(&home, rate, messages, Duration::from_millis(stop_ms)));
        assert!(off.any(|off| off < 0.02), "{rate} a second");
    }
}

/// By which share a quantile is off, at most.
fn off(home: &Home, rate: u32, messages: u32, stop: Duration) -> f64 {
    let place = cross().expect("two CPUs");
    let case = load(mechanism("unix-stream"), Boundary::Process, place, WaitKind::Block, rate);
    let case = Case { arrivals: Arrivals::Constant, ..case };
    let child = home.start(&["trial", &case.id(), "--count", &messages.to_string()]);
    // The receiver sleeps before each message, and nobody else sleeps as often.
    let mut receiver = 0;
    until(Duration::from_secs(60), "messages of the measured phase", || {
        let found = children_of(child.id()).into_iter().find(|pid| sleeps(*pid) > 40);
        receiver = found.unwrap_or(0);
        receiver > 0
    });
    let begun = Instant::now();
    signal(receiver, libc::SIGSTOP);
    std::thread::sleep(stop);
    signal(receiver, libc::SIGCONT);
    let stopped_s = begun.elapsed().as_secs_f64();
    let row: RawTrial = serde_json::from_slice(&child.finish().stdout).expect("a trial");
    assert!(row.stopped && row.error.is_none(), "{:?}", row.error);
    let tick_s = 1.0 / rough_ticks(1_000_000_000) as f64;
    let mut samples = row.samples;
    samples.sort_unstable();
    // A busy machine lets it go on late.
    let longest_s = row.samples_max_ticks as f64 * tick_s;
    assert!(longest_s > 0.98 * stopped_s, "{longest_s} s of {stopped_s} s");
    let off = [0.5, 0.9, 0.99, 0.999].map(|q| {
        let beyond = ((1.0 - q) * f64::from(messages)).floor();
        let found_s = samples[messages as usize - 1 - beyond as usize] as f64 * tick_s;
        (found_s / (longest_s - beyond / f64::from(rate)) - 1.0).abs()
    });
    println!(
        "{rate} a second, stopped for {stopped_s:.3} s, {longest_s:.3} s at most: off by {off:.4?}"
    );
    off.into_iter().fold(0.0, f64::max)
}

#[test]
fn a_server_that_is_busy_half_of_the_time_responds_as_queueing_theory_says() {
    let _alone = alone();
    let of = |arrivals: &str| {
        let case = format!("load/server:50us?rate=10k&arrivals={arrivals}&place=same-cpu");
        point(&served(&case, "16000"), 0, "mean_ns")
    };
    // M/D/1: W = S + ρS / (2(1 − ρ)).
    let (service_ns, busy) = (50_000.0, 0.5);
    let expected_ns = service_ns + busy * service_ns / (2.0 * (1.0 - busy));
    // Several independent Poisson processes are one.
    let mean_ns = of("exponential&senders=4");
    assert!((mean_ns / expected_ns - 1.0).abs() < 0.05, "{mean_ns} instead of {expected_ns}");
    assert_eq!(of("constant"), service_ns, "D/D/1: nobody waits");
}
