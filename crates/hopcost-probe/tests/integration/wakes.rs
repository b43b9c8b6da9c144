use std::os::fd::OwnedFd;
use std::path::Path;

use hopcost_model::case::{Case, Placement, Role, WaitKind, Waits, Workload};
use hopcost_model::protocol::{GateReading, Stamp};
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::mechanism::find;
use hopcost_probe::shape::{Attaching, Opening};
use hopcost_probe::sys;
use hopcost_probe::workload::Endpoint;
use hopcost_probe::workload::{PhaseSpec, Stamped};

use crate::support::{alone, attach, both_end_well, case, cpus, phase};

/// A bare wake-up after this gap.
fn wake(mechanism: &str, wait: WaitKind, placement: Placement, gap_ns: u64) -> Case {
    let case = case(Workload::Wake, find(mechanism).unwrap(), wait);
    Case { placement: Some(placement), gap_ns: Some(gap_ns), ..case }
}

/// What an end saw.
struct Played {
    phases: Vec<(Stamped, Vec<u64>)>,
    gates: Vec<Option<GateReading>>,
}

/// A trial in small: clocks, a warm-up, a measurement, clocks.
fn trial(_: Role, end: &mut dyn Endpoint) -> Result<Played, String> {
    let gate = |end: &mut dyn Endpoint| end.gate(200, 101).map_err(|e| e.to_string());
    let before = gate(end)?;
    // A warm-up keeps no samples.
    let warm_up = PhaseSpec::of(5, Stamp::Each);
    assert_eq!(end.run(&warm_up, &mut []).map_err(|e| e.to_string())?.count, 5);
    let phases = vec![phase(end, 60, Stamp::Each)?, phase(end, 40, Stamp::Each)?];
    Ok(Played { phases, gates: vec![before, gate(end)?] })
}

/// Whether what both ends saw fits together.
fn checked(case: &Case, [sender, receiver]: [Played; 2]) -> Result<(), String> {
    let gates: Vec<GateReading> = sender.gates.iter().flatten().copied().collect();
    if receiver.gates.iter().any(Option::is_some) {
        return Err("the receiver's end reads a gate".into());
    }
    let same_cpu = case.placement == Some(Placement::SameCpu);
    for gate in &gates {
        // 101 steps are 51 turns of two.
        let done = if same_cpu { (0, 0) } else { (200, 102) };
        if (gate.exchanges, gate.steps) != done || (gate.bound_ticks == 0) != same_cpu {
            return Err(format!("{gate:?}"));
        }
        if gate.backward_steps != 0 {
            return Err(format!("time ran backwards: {gate:?}"));
        }
    }
    for ((sent, sent_at), (woken, woken_at)) in sender.phases.iter().zip(&receiver.phases) {
        for (end, at) in [(sent, sent_at), (woken, woken_at)] {
            let counts = (end.count, end.samples, end.first_tick, end.max_ticks);
            if counts != (at.len() as u64, at.len() as u64, at[0], 0) || !at.is_sorted() {
                return Err(format!("{end:?} with {at:?}"));
            }
            if end.elapsed_ticks != at[at.len() - 1] - at[0] {
                return Err(format!(
                    "{} ticks from the first stamp to the last",
                    end.elapsed_ticks
                ));
            }
        }
        if woken.overruns != 0 || sent.overruns > sent.count {
            return Err(format!("{} and {} overruns", sent.overruns, woken.overruns));
        }
        let gap_ticks = rough_ticks(case.gap_ns.unwrap()) * 9 / 10;
        for (at, (sent, woken)) in sent_at.iter().zip(woken_at).enumerate() {
            let one_way = woken.wrapping_sub(*sent) as i64 - gates[0].offset_ticks;
            if one_way < -(gates[0].bound_ticks as i64) {
                return Err(format!("wake-up {at} took {one_way} ticks, {:?}", gates[0]));
            }
            if at > 0 && sent - sent_at[at - 1] < gap_ticks {
                return Err(format!("wake-up {at} did not wait for its gap"));
            }
            // The sender sleeps only when the receiver has taken the one before.
            let clock = gates[0].offset_ticks + gates[0].bound_ticks as i64;
            if at > 0 && (*sent as i64 + clock) < woken_at[at - 1] as i64 {
                return Err(format!("wake-up {at} was sent before the one before had come"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_wake_up_waits_for_its_gap_and_for_the_one_before() {
    let _alone = alone();
    for mechanism in ["semaphore", "eventfd", "signal", "pipe"] {
        for placement in [Placement::SameCpu, Placement::SameLlc] {
            for gap_ns in [0, 20_000] {
                if cpus(placement).is_some() {
                    let case = wake(mechanism, WaitKind::Block, placement, gap_ns);
                    let checked = both_end_well(&case, trial).and_then(|ends| checked(&case, ends));
                    checked.unwrap_or_else(|error| panic!("{case}: {error}"));
                }
            }
        }
    }
}

#[test]
fn an_end_without_a_partner_gives_up_and_says_so() {
    let _alone = alone();
    let case = wake("flag", WaitKind::Spin, Placement::Free, 0);
    for alone in [Role::Caller, Role::Callee] {
        both_end_well(&case, move |role, end| {
            if role != alone {
                return Ok(());
            }
            match end.gate(10, 10) {
                Err(error) if error.to_string().contains("no sign of itself") => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .unwrap();
    }
}

#[test]
fn what_cannot_be_attached_says_why() {
    let case = wake("flag", WaitKind::Spin, Placement::Free, 0);
    let refused = |case: &Case, role, meeting: Option<&OwnedFd>| {
        let row = find(case.mechanism_name()).unwrap();
        let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
        let half = if role == Role::Caller { link.caller } else { link.callee };
        attach(half, &Attaching { meeting, ..Attaching::new(case, role) }).err().unwrap()
    };
    assert!(refused(&case, Role::Caller, None).contains("meeting_fd"));
    let short = sys::memfd("hopcost-test", 100).unwrap();
    assert!(refused(&case, Role::Caller, Some(&short)).contains("100 bytes"));
    let stream = Case { workload: Workload::Stream, ..case.clone() };
    assert!(refused(&stream, Role::Caller, None).contains("`stream`"));
    for argument in ["skew", "skew:fast", "skew:--1us"] {
        let case = Case { mechanism: argument.into(), ..case.clone() };
        let error = refused(&case, Role::Callee, None);
        assert!(error.contains("skew:TIME"), "{error}");
    }
    let undeclared = Case { waits: Some(Waits::both(WaitKind::Block)), ..case };
    let error = refused(&undeclared, Role::Caller, None);
    assert!(error.contains("flag has no wait `block`"), "{error}");
}

#[test]
fn batches_of_wake_ups_are_refused() {
    let _alone = alone();
    let case = wake("flag", WaitKind::Spin, Placement::Free, 0);
    let spec = PhaseSpec::of(10, Stamp::Batch { n: 10 });
    both_end_well(&case, move |_, end| match end.run(&spec, &mut []) {
        Err(error) if error.to_string().contains("stamped") => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}
