//! Wake-ups between two threads: every mechanism, wait and placement; two clocks
//! compared; a clock that is wrong, found out. In a test binary of its own, because
//! the ends spin on both CPUs.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use hopcost_model::case::{Case, Placement, Role, SPIN_BUDGET_NS, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Payload};
use hopcost_model::protocol::{GateReading, Stamp};
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::endpoint::Endpoint;
use hopcost_probe::mechanism::{ALL, find};
use hopcost_probe::memory::Shared;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::sys::{allowed_cpus, pin};
use hopcost_probe::workload::{Order, Stamped};
use hopcost_probe::{meeting, sys};

/// After this a case hangs. Loose, because spinning ends may have to share their CPUs.
const TIME_OUT: Duration = Duration::from_secs(60);

/// One test at a time: they pin their ends to the same CPUs.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The CPUs of the sender and the receiver.
fn cpus(placement: Placement) -> Option<[Option<u32>; 2]> {
    let allowed = allowed_cpus().unwrap();
    match placement {
        Placement::Free => Some([None, None]),
        Placement::SameCpu => Some([Some(allowed[0]), Some(allowed[0])]),
        _ => (allowed.len() > 1).then(|| [Some(allowed[0]), Some(allowed[1])]),
    }
}

fn case(mechanism: &str, wait: WaitKind, placement: Placement, gap_ns: u64) -> Case {
    let facts = &find(mechanism.split(':').next().unwrap()).unwrap().facts;
    let mut id = format!("wake/{mechanism}?");
    if let Payload::Bytes { min, .. } = facts.payload {
        id += &format!("payload={min}&");
    }
    id += &format!("gap={gap_ns}&boundary=thread&place={placement}&wait={wait}");
    if wait == WaitKind::SpinThenBlock {
        id += &format!("&spin={SPIN_BUDGET_NS}");
    }
    for parameter in facts.parameters {
        id += &format!("&{}={}", parameter.name, parameter.default);
    }
    id.parse().unwrap()
}

/// What an end does once it is attached.
type Play = fn(&mut dyn Endpoint, &Case) -> Result<Played, String>;

/// What it saw.
#[derive(Default)]
struct Played {
    phases: Vec<(Stamped, Vec<u64>)>,
    gates: Vec<Option<GateReading>>,
}

fn attach_and_play(
    case: &Case,
    role: Role,
    half: Half,
    meeting: &OwnedFd,
    cpu: Option<u32>,
    play: Play,
) -> Result<Played, String> {
    if let Some(cpu) = cpu {
        pin(cpu).map_err(|e| e.to_string())?;
    }
    let budget_ticks = case.spin_budget_ns.map_or(0, rough_ticks);
    let meeting = Some(meeting);
    let attaching = Attaching { case, role, budget_ticks, trial: 0, flow: 0, meeting };
    let row = find(case.mechanism_name()).unwrap();
    let mut end = (row.attach)(half, &attaching).map_err(|e| format!("attach {role}: {e}"))?;
    play(end.as_mut(), case).map_err(|e| format!("{role}: {e}"))
}

/// Plays a case on two threads: the sender's part and the receiver's.
fn both(case: &Case, play: [Play; 2]) -> Result<[Played; 2], String> {
    let scratch = tempfile::tempdir().unwrap();
    let [caller_cpu, callee_cpu] = cpus(case.placement.unwrap()).unwrap();
    let row = find(case.mechanism_name()).unwrap();
    let link = (row.open)(&Opening { case, scratch: scratch.path() }).map_err(|e| e.to_string())?;
    let memory = Shared::create(meeting::BYTES).unwrap();
    let (played_in, played) = mpsc::channel();
    for (role, half, cpu, play) in [
        (Role::Callee, link.callee, callee_cpu, play[1]),
        (Role::Caller, link.caller, caller_cpu, play[0]),
    ] {
        let (case, played_in) = (case.clone(), played_in.clone());
        let memory = memory.try_clone().unwrap();
        std::thread::spawn(move || {
            let _ = played_in.send((role, attach_and_play(&case, role, half, &memory, cpu, play)));
        });
    }
    let mut ends = [None, None];
    for _ in 0..2 {
        let (role, result) =
            played.recv_timeout(TIME_OUT).map_err(|_| "an end hangs or panicked".to_owned())?;
        ends[role as usize] = Some(result?);
    }
    Ok(ends.map(|end| end.unwrap()))
}

fn phase(end: &mut dyn Endpoint, played: &mut Played, count: u64) -> Result<(), String> {
    let mut samples = vec![0; count as usize];
    let order = Order::of(count, Stamp::Each);
    let stamped = end.run(&order, &mut samples).map_err(|e| e.to_string())?;
    played.phases.push((stamped, samples));
    Ok(())
}

fn gate(end: &mut dyn Endpoint, played: &mut Played) -> Result<(), String> {
    played.gates.push(end.gate(200, 101).map_err(|e| e.to_string())?);
    Ok(())
}

/// A trial in small: clocks, a warm-up, a measurement, clocks.
fn trial(end: &mut dyn Endpoint, _: &Case) -> Result<Played, String> {
    let mut played = Played::default();
    gate(end, &mut played)?;
    // A warm-up keeps no samples.
    let warmed_up = end.run(&Order::of(5, Stamp::Each), &mut []).map_err(|e| e.to_string())?;
    assert_eq!(warmed_up.count, 5);
    phase(end, &mut played, 60)?;
    phase(end, &mut played, 40)?;
    gate(end, &mut played)?;
    Ok(played)
}

/// Whether what both ends saw fits together; the one-way times in ticks, the offset
/// taken out.
fn checked(case: &Case, [sender, receiver]: &[Played; 2]) -> Result<Vec<i64>, String> {
    let mut found = Vec::new();
    let gates: Vec<GateReading> = sender.gates.iter().map(|gate| gate.unwrap()).collect();
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
            found.push(one_way);
        }
    }
    Ok(found)
}

fn wake_rows() -> impl Iterator<Item = &'static Facts> {
    ALL.iter().map(|row| &row.facts).filter(|facts| {
        !facts.hidden
            && facts.workloads.contains(&Workload::Wake)
            && match (facts.available)() {
                Ok(()) => true,
                Err(reason) => {
                    eprintln!("skipped: {}: {reason}", facts.name);
                    false
                }
            }
    })
}

#[test]
fn wake_ups_arrive_under_every_wait_and_placement() {
    let _alone = alone();
    let (mut failed, mut done) = (Vec::new(), 0);
    for facts in wake_rows() {
        for wait in facts.waits.iter().map(|facts| facts.wait) {
            for placement in [Placement::SameCpu, Placement::SameLlc, Placement::Free] {
                if cpus(placement).is_none() {
                    continue;
                }
                let case = case(facts.name, wait, placement, 20_000);
                done += 1;
                let result = both(&case, [trial, trial]).and_then(|ends| checked(&case, &ends));
                if let Err(error) = result {
                    failed.push(format!("{case}: {error}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} of {done} failed:\n{}", failed.len(), failed.join("\n"));
    assert!(done >= 100, "only {done} cases: the registry is not whole");
}

#[test]
fn without_a_gap_the_next_wake_up_still_waits_for_the_one_before() {
    let _alone = alone();
    for mechanism in ["semaphore", "eventfd", "signal", "pipe"] {
        for placement in [Placement::SameCpu, Placement::SameLlc] {
            if cpus(placement).is_some() {
                let case = case(mechanism, WaitKind::Block, placement, 0);
                let ends = both(&case, [trial, trial]).unwrap_or_else(|e| panic!("{case}: {e}"));
                checked(&case, &ends).unwrap_or_else(|e| panic!("{case}: {e}"));
            }
        }
    }
}

/// More turns than a trial in small, and more wake-ups, for numbers to compare.
fn long_trial(end: &mut dyn Endpoint, _: &Case) -> Result<Played, String> {
    let mut played = Played::default();
    let reading = end.gate(20_000, 20_000).map_err(|e| e.to_string())?;
    played.gates.push(reading);
    phase(end, &mut played, 2_000)?;
    Ok(played)
}

fn gate_and_times(case: &Case) -> (GateReading, Vec<i64>) {
    let [sender, receiver] =
        both(case, [long_trial, long_trial]).unwrap_or_else(|e| panic!("{case}: {e}"));
    let gate = sender.gates[0].unwrap();
    assert_eq!((gate.exchanges, gate.steps, gate.backward_steps), (20_000, 20_000, 0));
    let pairs = sender.phases[0].1.iter().zip(&receiver.phases[0].1);
    let mut times: Vec<i64> =
        pairs.map(|(sent, woken)| woken.wrapping_sub(*sent) as i64 - gate.offset_ticks).collect();
    times.sort_unstable();
    (gate, times)
}

#[test]
fn a_skewed_clock_is_found_out_and_makes_no_difference() {
    let _alone = alone();
    if cpus(Placement::SameLlc).is_none() {
        eprintln!("skipped: two clocks need two CPUs");
        return;
    }
    let of = |mechanism: &str| {
        gate_and_times(&case(mechanism, WaitKind::Spin, Placement::SameLlc, 2_000))
    };
    let (flag, flag_times) = of("flag");
    for (engine, ns) in [("skew:500ns", 500), ("skew:-500ns", -500), ("skew:5us", 5_000)] {
        let (skewed, times) = of(engine);
        let ahead = rough_ticks(i64::unsigned_abs(ns)) as i64 * i64::signum(ns);
        let bounds = (flag.bound_ticks + skewed.bound_ticks) as i64;
        let moved = skewed.offset_ticks - flag.offset_ticks;
        assert!(
            (moved - ahead).abs() <= bounds + rough_ticks(10) as i64 + ahead.abs() / 50,
            "{engine}: moved by {moved} ticks instead of {ahead}, {flag:?} {skewed:?}"
        );
        let difference = times[times.len() / 2] - flag_times[flag_times.len() / 2];
        // Or not even the largest would be found.
        assert!(bounds < rough_ticks(5_000) as i64, "{flag:?} {skewed:?}");
        assert!(
            difference.abs() <= 2 * bounds,
            "{engine}: the medians differ by {difference} ticks, {flag:?} {skewed:?}"
        );
    }
}

#[test]
fn an_end_without_a_partner_gives_up_and_says_so() {
    let _alone = alone();
    let gate_alone: Play = |end, _| match end.gate(10, 10) {
        Err(error) if error.to_string().contains("does not answer") => Ok(Played::default()),
        other => Err(format!("{other:?}")),
    };
    let leave: Play = |_, _| Ok(Played::default());
    let case = case("flag", WaitKind::Spin, Placement::Free, 0);
    both(&case, [gate_alone, leave]).unwrap();
    both(&case, [leave, gate_alone]).unwrap();
}

#[test]
fn what_cannot_be_attached_says_why() {
    let case = case("flag", WaitKind::Spin, Placement::Free, 0);
    let row = find("flag").unwrap();
    let refused = |case: &Case, meeting: Option<&OwnedFd>| {
        let scratch = tempfile::tempdir().unwrap();
        let link = (row.open)(&Opening { case, scratch: scratch.path() }).unwrap();
        let role = Role::Caller;
        let attaching = Attaching { case, role, budget_ticks: 0, trial: 0, flow: 0, meeting };
        (row.attach)(link.caller, &attaching).err().unwrap().to_string()
    };
    assert!(refused(&case, None).contains("meeting_fd"));
    let short = sys::memfd("hopcost-test", 100).unwrap();
    assert!(refused(&case, Some(&short)).contains("100 bytes"));
    let stream = Case { workload: Workload::Stream, ..case.clone() };
    assert!(refused(&stream, None).contains("`stream`"));
    let engine = find("skew").unwrap();
    for argument in ["skew", "skew:fast", "skew:--1us"] {
        let case = Case { mechanism: argument.into(), ..case.clone() };
        let scratch = tempfile::tempdir().unwrap();
        let link = (engine.open)(&Opening { case: &case, scratch: scratch.path() }).unwrap();
        let (role, meeting) = (Role::Callee, None);
        let attaching =
            Attaching { case: &case, role, budget_ticks: 0, trial: 0, flow: 0, meeting };
        let error = (engine.attach)(link.callee, &attaching).err().unwrap().to_string();
        assert!(error.contains("skew:TIME"), "{error}");
    }
}

#[test]
fn batches_of_wake_ups_are_refused() {
    let batch: Play = |end, _| match end.run(&Order::of(10, Stamp::Batch { n: 10 }), &mut []) {
        Err(error) if error.to_string().contains("stamped") => Ok(Played::default()),
        other => Err(format!("{other:?}")),
    };
    both(&case("flag", WaitKind::Spin, Placement::Free, 0), [batch, batch]).unwrap();
}
