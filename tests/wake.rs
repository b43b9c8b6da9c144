//! Wake-ups, conformance: every mechanism that has them runs across each boundary, under each
//! wait and in each placement, with stamps of both ends; and each wake-up makes the system
//! calls of half a round trip, beside the sender's sleep.

use hopcost_model::case::{Boundary, Case, IdleKnob, Placement, WaitKind, Workload};
use hopcost_model::mechanism::{Mechanism, PerOperation};
use hopcost_model::raw::RawTrial;
use hopcost_probe::clock::rough_ticks;

use crate::conformance::{every, miscounted, place_for};
use crate::support::trace::{Window, of_trial};
use crate::support::{Home, cross, mechanism, none_wrong, pairs, roundtrip, trial};

/// Wake-ups of a trial.
const WAKE_UPS: u64 = 40;
/// Wake-ups of a traced trial.
const TRACED: u64 = 300;
/// Long enough for a traced receiver to have stamped and to wait again.
const TRACED_GAP_NS: u64 = 500_000;

fn wake(
    facts: &Mechanism,
    boundary: Boundary,
    place: Placement,
    wait: WaitKind,
    gap_ns: u64,
) -> Case {
    Case {
        workload: Workload::Wake,
        gap_ns: Some(gap_ns),
        payload_bytes: facts.payload.map(|payload| payload.min),
        ..roundtrip(facts, boundary, place, wait)
    }
}

/// What is wrong with a trial of wake-ups.
fn wrong(case: &Case, row: &RawTrial) -> Option<String> {
    let [sender, receiver] = row.ends.as_slice() else {
        return Some(format!("{} ends", row.ends.len()));
    };
    for end in [sender, receiver] {
        if (end.count, end.samples) != (WAKE_UPS, WAKE_UPS) || end.first_tick == 0 {
            return Some(format!("{end:?}"));
        }
    }
    if row.samples.len() as u64 != WAKE_UPS || row.operations != WAKE_UPS {
        return Some(format!("{} samples of {}", row.samples.len(), row.operations));
    }
    let same_cpu = case.placement == Some(Placement::SameCpu);
    let [before, after] = row.gates.as_slice() else {
        return Some(format!("{} gates", row.gates.len()));
    };
    for gate in [before, after] {
        let compared = gate.exchanges > 0 && gate.steps > 0 && gate.bound_ticks > 0;
        if compared == same_cpu || gate.backward_steps > 0 {
            return Some(format!("{gate:?}"));
        }
    }
    // The gap is slept before each wake-up but the first of the stamped ones.
    let slept = rough_ticks(case.gap_ns.unwrap_or(0)) * (WAKE_UPS - 1) * 9 / 10;
    (sender.elapsed_ticks < slept).then(|| format!("{} ticks in all", sender.elapsed_ticks))
}

#[test]
fn every_mechanism_wakes_across_every_boundary_and_placement() {
    let home = Home::alone();
    let places: Vec<Placement> =
        [Some(Placement::SameCpu), cross(), Some(Placement::Free)].into_iter().flatten().collect();
    let cases = every(Workload::Wake).into_iter().flat_map(|(facts, of)| {
        let all = pairs(&of, &places).into_iter();
        all.map(move |((boundary, wait), place)| {
            (facts, wake(facts, boundary, place, wait, 20_000))
        })
    });
    let semaphore = mechanism("semaphore");
    let place = cross().expect("these tests need two CPUs");
    let spun = wake(semaphore, Boundary::Process, place, WaitKind::Block, 50_000);
    let spun = Case { idle_knob: IdleKnob::Spinner, ..spun };
    none_wrong(cases.chain([(semaphore, spun)]).collect(), |_, case| {
        match trial(&home, case, WAKE_UPS) {
            Err(error) => Some(error),
            Ok(row) => wrong(case, &row).map(|what| format!("{case}: {what}")),
        }
    });
}

/// Calls that are not the mechanism's: of a phase's counters, and what ptrace makes
/// of an interrupted sleep.
const NOT_THE_MECHANISMS: [i64; 2] = [libc::SYS_clock_gettime, libc::SYS_restart_syscall];

/// Half of a round trip's system calls. A receiver that has always slept runs at once, and may want a
/// lock that its waker still holds.
pub fn half(stated: PerOperation, wants_lock: bool) -> PerOperation {
    let lock = if wants_lock && !stated.is_exact() { 3.0 } else { 0.0 };
    PerOperation { least: stated.least / 2.0, most: stated.most / 2.0 + lock }
}

#[test]
fn a_wake_up_makes_half_of_a_round_trips_system_calls_and_one_sleep() {
    let home = Home::alone();
    let cases = every(Workload::Wake).into_iter().flat_map(|(facts, of)| {
        let of = of.into_iter();
        of.map(move |(boundary, wait)| {
            (facts, wake(facts, boundary, place_for(wait), wait, TRACED_GAP_NS))
        })
    });
    none_wrong(cases.collect(), |facts, case| {
        let wait = case.waits?.caller;
        let stated = facts.wait(wait).expect("from the row").system_calls;
        let stated = half(stated, facts.name == "channel-std");
        let counts = of_trial(&home, &case.id(), TRACED, Window::Phase);
        let sleeps = counts.of(libc::SYS_clock_nanosleep);
        let others = NOT_THE_MECHANISMS.map(|number| counts.of(number)).iter().sum::<u64>();
        let others = counts.total() - sleeps - others;
        // One for the gap. What is more puts a wake-up off, and there is no bound
        // to that where a traced receiver shares its CPU with the tracer.
        let bounded = case.placement == Some(Placement::SameCpu) && wait != WaitKind::Yield;
        if sleeps < TRACED || bounded && sleeps > TRACED * 6 / 5 {
            return Some(format!("{case}: {sleeps} sleeps before {TRACED} wake-ups"));
        }
        miscounted(case, TRACED, others, stated)
    });
}

#[test]
fn a_skewed_clock_of_another_process_is_found_out_and_makes_no_difference() {
    let home = Home::alone();
    let place = cross().expect("these tests need two CPUs");
    let of = |name: &str| {
        let flag = mechanism("flag");
        let mut case = wake(flag, Boundary::Process, place, WaitKind::Spin, 10_000);
        case.mechanism = name.into();
        let mut row = trial(&home, &case, WAKE_UPS).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(wrong(&case, &row), None);
        row.samples.sort_unstable();
        (row.gates[0], row.samples[row.samples.len() / 2] as i64)
    };
    let (right, right_ticks) = of("flag");
    for (mechanism, sign) in [("skew:50us", 1), ("skew:-50us", -1)] {
        let (skewed, skewed_ticks) = of(mechanism);
        let moved = skewed.offset_ticks - right.offset_ticks;
        let ahead = rough_ticks(50_000) as i64 * sign;
        // Each process takes the rate of its clock by itself, to a percent or so.
        let slack = (right.bound_ticks + skewed.bound_ticks) as i64 + ahead.abs() / 20;
        let gates = format!("{right:?} {skewed:?}");
        assert!((moved - ahead).abs() <= slack, "{moved} instead of {ahead}: {gates}");
        let difference = skewed_ticks - right_ticks;
        let noise = ahead.abs() / 5;
        assert!(difference.abs() <= noise, "the medians differ by {difference} ticks: {gates}");
    }
}
