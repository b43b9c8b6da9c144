//! Loads, conformance: every mechanism that takes them does so across each boundary and under
//! each wait, each message arrives in order, and each makes the system calls of half a round trip.

use hopcost_model::case::{Background, Boundary, Case, Placement, Queue, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Loss, Payload, PerOperation, Senders};
use hopcost_model::raw::RawTrial;

use crate::conformance::{ONCE_A_PHASE, boundaries};
use crate::support::{Home, alone, cross, mechanisms, pairs, roundtrip, trace, trial};

/// Messages of a trial.
const MESSAGES: u64 = 60;
/// Messages of the shorter of two traced trials.
const N: u64 = 150;

fn load(facts: &Facts, boundary: Boundary, place: Placement, wait: WaitKind, rate: u32) -> Case {
    let payload_bytes = match facts.payload {
        Payload::None => None,
        Payload::Bytes { default, .. } => Some(default),
    };
    Case {
        workload: Workload::Load,
        rate: Some(rate),
        payload_bytes,
        ..roundtrip(facts, boundary, place, wait)
    }
}

/// Every mechanism that takes loads, with each of its boundaries and each of its waits.
fn every_load() -> Vec<(&'static Facts, Vec<(Boundary, WaitKind)>)> {
    let of = |facts: &'static Facts| {
        let waits: Vec<WaitKind> = facts.waits.iter().map(|wait| wait.wait).collect();
        (facts, pairs(&boundaries(facts), &waits))
    };
    let loads = |facts: &&Facts| facts.workloads.contains(&Workload::Load);
    let all: Vec<_> = mechanisms().filter(loads).map(of).collect();
    assert!(all.len() >= 20, "only {} mechanisms take loads", all.len());
    all
}

/// What is wrong with a trial of so many senders.
fn wrong(row: &RawTrial, senders: u64) -> Option<String> {
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
    let kept = (row.samples.len(), load.lags.len(), load.gaps.len());
    if (load.offered, load.delivered) != (MESSAGES, MESSAGES) || kept != (60, 60, 60) {
        return Some(format!("{kept:?} of {load:?}"));
    }
    let intended: u64 = load.gaps.iter().map(|gap| u64::from(*gap)).sum();
    let earlier = row.samples.iter().zip(&load.lags).any(|(response, lag)| response < lag);
    (intended != load.intended_ticks || earlier || row.gates.len() != 2)
        .then(|| format!("{intended} of {load:?}"))
}

#[test]
fn every_mechanism_takes_a_load_across_every_boundary() {
    let _alone = alone();
    let home = Home::new();
    let place = cross().expect("these tests need two CPUs");
    let mut failed = Vec::new();
    for (facts, of) in every_load() {
        for (boundary, wait) in of {
            let case = load(facts, boundary, place, wait, 20_000);
            match trial(&home, &case, MESSAGES) {
                Err(error) => failed.push(error),
                Ok(row) => failed.extend(wrong(&row, 1).map(|what| format!("{case}: {what}"))),
            }
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn several_senders_share_a_link_exactly_once_and_in_order() {
    let _alone = alone();
    let home = Home::new();
    let place = cross().expect("these tests need two CPUs");
    let (mut failed, mut shared) = (Vec::new(), 0);
    for (facts, of) in every_load() {
        shared += u32::from(matches!(facts.senders, Senders::Several { .. }));
        for (boundary, wait) in of {
            // The receiver finds out itself what is missing, comes twice or overtakes.
            let case = load(facts, boundary, place, wait, 20_000);
            let case = Case { senders: 4, payload_bytes: Some(64), ..case };
            match (facts.senders, trial(&home, &case, MESSAGES)) {
                (Senders::Several { .. }, Ok(row)) => {
                    failed.extend(wrong(&row, 4).map(|what| format!("{case}: {what}")));
                }
                (Senders::Several { .. }, Err(error)) => failed.push(error),
                (Senders::One(why), Err(error)) if error.contains(why) => {}
                (Senders::One(_), outcome) => failed.push(format!("{case}: {outcome:?}")),
            }
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(shared, 9, "mechanisms whose link several senders may share");
}

/// The system calls of a traced trial's measured phase but for those of its counters, and those
/// that wait for room.
fn traced(home: &Home, case: &Case, count: u64) -> f64 {
    let (id, text) = (case.id(), count.to_string());
    let arguments = ["trial", &id, "--count", &text, "--ticks-per-second", "1e9"];
    let (code, counts) = trace::count(&mut home.hopcost(&arguments));
    assert_eq!(code, 0, "{id} under ptrace");
    let of = |number: i64| counts.by_number.get(&(number as u64)).copied().unwrap_or(0);
    // A full ring is waited for by yielding (its row's limits), for as long as a tracer holds its
    // receiver up.
    (counts.total() - of(libc::SYS_clock_gettime) - of(libc::SYS_sched_yield)) as f64
}

#[test]
fn a_message_makes_half_of_a_round_trips_system_calls() {
    let _alone = alone();
    let home = Home::new();
    let place = cross().expect("these tests need two CPUs");
    let mut wrong = Vec::new();
    for (facts, of) in every_load() {
        // Where looking again is no system call, and the messages far apart.
        for (boundary, wait) in of.into_iter().filter(|(_, wait)| *wait == WaitKind::Block) {
            let senders = match facts.senders {
                // Each of several repeats its end marker for as long as a tracer holds the receiver up.
                Senders::Several { .. } if facts.loss == Loss::Possible => 1,
                Senders::Several { .. } if boundary == Boundary::Process => 2,
                _ => 1,
            };
            let case = Case { senders, ..load(facts, boundary, place, wait, 2_000) };
            let stated = match facts.wait(wait).expect("from the row").system_calls {
                PerOperation::Exactly(n) => PerOperation::Exactly(n / 2.0),
                // Its receiver has always slept, and may want a lock that its waker holds.
                PerOperation::Between(low, high, why) => {
                    PerOperation::Between(low / 2.0, high / 2.0 + 3.0, why)
                }
            };
            let twice = traced(&home, &case, 2 * N);
            let counted = match stated {
                PerOperation::Exactly(_) => (twice - traced(&home, &case, N)) / N as f64,
                PerOperation::Between(..) => (twice - ONCE_A_PHASE) / (2 * N) as f64,
            };
            if !stated.admits(counted, 0.1) {
                wrong.push(format!("{case}: counted {counted:.3}, stated {stated:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_background_works_while_a_load_is_measured() {
    let _alone = alone();
    let home = Home::new();
    let place = cross().expect("these tests need two CPUs");
    let facts = |name| &hopcost_probe::mechanism::find(name).expect("of this build").facts;
    for (name, boundary, senders, background) in [
        ("pipe", Boundary::Process, 1, Background::Cpu(2)),
        ("pipe", Boundary::Process, 2, Background::SameMechanism(2)),
        ("channel-std", Boundary::Thread, 2, Background::SameMechanism(1)),
        ("udp", Boundary::Process, 1, Background::Cache),
    ] {
        let case = load(facts(name), boundary, place, WaitKind::Block, 2_000);
        let case = Case { senders, background, ..case };
        // A trial in whose measured phase one of it does nothing fails.
        let row = trial(&home, &case, 600).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(row.load.map(|load| load.delivered), Some(600), "{case}");
    }
}

/// A case over the known server, through plan, run, file and reader.
fn served(case: &str, messages: &str) -> serde_json::Value {
    let home = Home::new();
    let arguments =
        ["run", "--format", "json", "--seed", "1", case, "--rounds", "6", "--operations", messages];
    let output = home.run(&arguments);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    document["results"][0].clone()
}

fn point(result: &serde_json::Value, estimate: &str) -> f64 {
    let point = result["estimates"][estimate]["point"].as_f64();
    point.unwrap_or_else(|| panic!("no {estimate}: {result}"))
}

#[test]
fn a_stall_shows_in_every_message_that_was_due_in_it() {
    let _alone = alone();
    let case = "load/server:1us?rate=1000&arrivals=constant&stall=100ms&place=same-cpu";
    let result = served(case, "10000");
    // A tenth of the messages waits for what is left of 100 ms, which is uniform.
    let [mean_ns, p99_ns] = ["mean_ns", "p99_ns"].map(|estimate| point(&result, estimate));
    assert!((mean_ns / 5e6 - 1.0).abs() < 0.02, "{mean_ns}");
    assert!((p99_ns / 90e6 - 1.0).abs() < 0.02, "{p99_ns}");
    assert_eq!(point(&result, "p50_ns"), 1_000.0, "the others do not wait");
    assert_eq!(result["load"]["lag"]["p99_ns"], 0.0, "the sender is never held up");
}

#[test]
fn a_server_that_is_busy_half_of_the_time_responds_as_queueing_theory_says() {
    let _alone = alone();
    let of = |arrivals: &str| {
        let case = format!("load/server:50us?rate=10k&arrivals={arrivals}&place=same-cpu");
        point(&served(&case, "16000"), "mean_ns")
    };
    // M/D/1: W = S + ρS / (2(1 − ρ)).
    let (service_ns, busy) = (50_000.0, 0.5);
    let expected_ns = service_ns + busy * service_ns / (2.0 * (1.0 - busy));
    // Several independent Poisson processes are one.
    for arrivals in ["exponential", "exponential&senders=4"] {
        let mean_ns = of(arrivals);
        let apart = (mean_ns / expected_ns - 1.0).abs();
        assert!(apart < 0.05, "{arrivals}: {mean_ns} instead of {expected_ns}");
    }
    for arrivals in ["constant", "constant&senders=4"] {
        assert_eq!(of(arrivals), service_ns, "D/D/1: nobody waits");
    }
}

#[test]
fn what_a_queue_drops_is_counted_and_nothing_else_is_missing() {
    let _alone = alone();
    let home = Home::new();
    let place = cross().expect("these tests need two CPUs");
    let facts = &hopcost_probe::mechanism::find("pipe").expect("pipe").facts;
    for queue in [Queue::DropNewest(1), Queue::DropOldest(1)] {
        // No receiver takes a message each 50 ns.
        let case = load(facts, Boundary::Process, place, WaitKind::Block, 20_000_000);
        let case = Case { queue, ..case };
        let row = trial(&home, &case, 5_000).unwrap_or_else(|error| panic!("{error}"));
        let load = row.load.as_ref().expect("a load");
        let [sender, receiver] = row.ends.as_slice() else { panic!("{row:?}") };
        let dropped = (load.offered - sender.count) + receiver.overruns;
        assert!(dropped > 0, "{case}: {load:?}");
        assert_eq!((load.offered, receiver.lost), (5_000, 0), "{case}");
        assert_eq!(load.delivered + dropped, 5_000, "{case}");
        assert_eq!(row.samples.len() as u64, load.delivered);
    }
}
