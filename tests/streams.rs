//! Stream mechanisms between two processes are what their rows say: system calls
//! and context switches of a message, sizes, flows, no
//! descriptor where it does not belong, and an end to every trial whose end dies.

use std::collections::BTreeSet;

use hopcost_model::case::{Ack, Boundary, Case, Placement, Role, WaitKind, Workload};
use hopcost_model::mechanism::Mechanism;

use crate::conformance::{boundaries, every};
use crate::faults::{names, the_death_of_a_worker_is_told};
use crate::support::trace::{Window, of_trial};
use crate::support::{Home, all, cross, measured, none_wrong, pairs, stored, switches, trial};

/// Messages of the shorter of the two traced trials.
const N: u64 = 100;

fn streams() -> impl Iterator<Item = &'static Mechanism> {
    every(Workload::Stream).into_iter().map(|(facts, _)| facts)
}

/// The mechanism's defaults, eight fields of a page, acknowledged message by message.
pub fn case(facts: &Mechanism, boundary: Boundary, place: Placement, wait: WaitKind) -> Case {
    let mut id = format!(
        "stream/{}?payload=32768&fields=8&flows=1&ack=per-message&boundary={boundary}\
         &place={place}&wait={wait}",
        facts.name
    );
    for parameter in &facts.parameters {
        id.push_str(&format!("&{}={}", parameter.name, parameter.default));
    }
    id.parse().expect("a case")
}

fn place_for(wait: WaitKind) -> Placement {
    match wait {
        WaitKind::Block => Placement::SameCpu,
        _ => cross().expect("this test needs two CPUs"),
    }
}

/// System calls of a trial's measured phase under ptrace.
fn traced(home: &Home, case: &Case, count: u64) -> f64 {
    let counts = of_trial(home, &case.id(), count, Window::Phase);
    let seats = if case.two_processes() { 1 } else { 2 };
    assert_eq!(counts.threads_max, seats, "{case}: a thread that no row speaks of");
    counts.total() as f64
}

#[test]
fn system_calls_of_a_message_are_those_the_row_says() {
    let home = Home::alone();
    let mut cases = Vec::new();
    for facts in streams() {
        let mut boundaries = facts.boundaries.clone();
        boundaries.retain(|&boundary| !matches!(boundary, Boundary::Namespace | Boundary::Host));
        for (boundary, wait) in pairs(&boundaries, &facts.waits) {
            cases.push((facts, case(facts, boundary, place_for(wait), wait)));
        }
    }
    assert!(cases.len() >= 20, "only {} cases: the registry is not whole", cases.len());
    none_wrong(cases, |facts, case| {
        let stated = facts.wait(case.waits?.caller).expect("from the row").system_calls;
        // Nagle's algorithm makes each of its messages take 40 ms.
        let n = if facts.name == "tcp-send" { N / 10 } else { N };
        let counted = (traced(&home, case, 2 * n) - traced(&home, case, n)) / n as f64;
        let slack = if stated.is_exact() { 0.012 } else { 0.1 };
        (!stated.admits(counted, slack))
            .then(|| format!("{case}: counted {counted:.3}, stated {stated:?}"))
    });
}

#[test]
fn context_switches_of_a_message_are_within_the_stated_range() {
    let home = Home::alone();
    let mut cases = Vec::new();
    for facts in streams() {
        for wait in &facts.own.as_ref().expect("from the row").waits {
            let mut places = vec![place_for(wait.wait)];
            let differ = wait.switches_one_cpu != wait.switches_two_cpus;
            if places[0] == Placement::SameCpu && (differ || all()) {
                places.extend(cross());
            }
            cases.extend(places.into_iter().map(|place| {
                let mut case = case(facts, Boundary::Process, place, wait.wait);
                // Nagle's algorithm would make the trial long.
                if case.parameters.contains_key("nodelay") {
                    case.parameters.insert("nodelay".into(), "on".into());
                }
                (facts, case)
            }));
        }
    }
    none_wrong(cases, |facts, case| {
        let row = trial(&home, case, 1_000).unwrap_or_else(|error| panic!("{error}"));
        let wait = facts.wait(case.waits?.caller)?;
        let stated = match case.placement? {
            Placement::SameCpu => wait.switches_one_cpu,
            _ => wait.switches_two_cpus,
        };
        let counted = switches(&row) as f64 / row.operations as f64;
        // Other tasks of this machine add switches of their own.
        (!stated.admits(counted, 0.05 + 0.05 * stated.least))
            .then(|| format!("{case}: counted {counted:.3}, stated {stated:?}"))
    });
}

#[test]
fn every_size_flow_and_acknowledgement_arrives_across_every_boundary() {
    let home = Home::alone();
    for facts in streams() {
        for boundary in boundaries(facts) {
            // The longest once only: unoptimised code fills and verifies slowly.
            let longest = if boundary == Boundary::Process { 16 << 20 } else { 1 << 20 };
            for (payload, fields, flows, ack, count) in [
                (8, 8, 1, "window:3", 5),
                (7 * 4097, 7, 3, "per-message", 5),
                (longest, 16, 1, "window:2", 1),
            ] {
                let mut case = case(facts, boundary, Placement::Free, facts.waits[0]);
                (case.payload_bytes, case.fields) = (Some(payload), Some(fields));
                (case.flows, case.ack) = (Some(flows), Some(ack.parse().expect("a word")));
                let row = trial(&home, &case, count).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(row.operations, count * u64::from(flows), "{case}");
                let bytes = |role: Role| -> u64 {
                    row.ends.iter().filter(|end| end.role == role).map(|end| end.bytes).sum()
                };
                let all = row.operations * u64::from(payload);
                assert_eq!((bytes(Role::Caller), bytes(Role::Callee)), (all, all), "{case}");
            }
        }
    }
}

#[test]
fn the_time_of_a_trial_is_from_the_first_byte_of_any_flow_to_the_last_byte_of_any() {
    let home = Home::alone();
    let mechanism = "stream/tcp-sendmsg?payload=64&fields=1&ack=per-message&place=free";
    let flows = format!("{mechanism}&flows=2,3&boundary=process,thread");
    home.expect(
        &["run", &flows, "--rounds", "3", "--operations", "20", "--out", "run"],
        measured(),
    );
    let run = stored(&home.path().join("run")).expect("a run");
    assert_eq!(run.trials.len(), 12);
    let ticks_per_ns = run.clocks[0].ticks_per_second / 1e9;
    for trial in &run.trials {
        let receivers = trial.ends.iter().filter(|end| end.role == Role::Callee);
        let first = receivers.clone().map(|end| end.first_tick).min().expect("a receiver");
        let last = receivers.map(|end| end.first_tick + end.elapsed_ticks).max().expect("one");
        let span_ns = (last - first) as f64 / ticks_per_ns;
        assert!((trial.wall_ns as f64 - span_ns).abs() <= 1.0, "{} of {span_ns}", trial.wall_ns);
    }
}

#[test]
fn either_end_says_what_tcp_did_with_what_was_asked_of_it() {
    let home = Home::alone();
    let asked = "place=free&wait=block&congestion=reno&sndbuf=65536&rcvbuf=131072";
    for case in [
        "stream/tcp-sendmsg?payload=4096&fields=1&flows=2&ack=per-message&boundary=process",
        "stream/tcp-uring?payload=4096&fields=1&flows=1&ack=none&boundary=thread",
        "roundtrip/tcp?payload=64&boundary=namespace",
        "roundtrip/websocket?payload=64&boundary=process",
    ] {
        let case = format!("{case}&{asked}").parse().expect("a case");
        let row = trial(&home, &case, 100).unwrap_or_else(|error| panic!("{error}"));
        let silent = case.ack == Some(Ack::None);
        for end in &row.ends {
            let tcp = end.tcp.as_ref().expect("a connection");
            assert_eq!((tcp.congestion.as_str(), tcp.sndbuf_bytes), ("reno", 131_072), "{case}");
            assert_eq!((tcp.rcvbuf_bytes, tcp.retransmitted), (262_144, 0), "{case}: {tcp:?}");
            assert!(tcp.path_mtu_bytes >= 1500 && tcp.segment_bytes >= 1400, "{case}: {tcp:?}");
            // Its messages or acknowledgements, of this phase alone; Nagle's algorithm joins some.
            let most = if silent { 1..120 } else { 100..120 };
            assert!(most.contains(&tcp.segments), "{case}: {tcp:?}");
        }
    }
    let pipe = "roundtrip/pipe?payload=64&boundary=process&place=free&wait=block";
    let row = trial(&home, &pipe.parse().expect("a case"), 10).unwrap_or_else(|e| panic!("{e}"));
    assert!(row.ends.iter().all(|end| end.tcp.is_none()));
}

/// Sockets, pipes and memory files that a process has open.
fn open_files(pid: u32) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a live process").flatten() {
        let number = entry.file_name().to_string_lossy().parse::<u32>().unwrap_or(0);
        let Ok(file) = std::fs::read_link(entry.path()) else { continue };
        let file = file.display().to_string();
        if number > 2 && ["socket:", "pipe:"].iter().any(|kind| file.starts_with(kind)) {
            files.insert(file);
        }
    }
    files
}

#[test]
fn no_process_holds_the_other_ends_descriptors_and_the_death_of_either_ends_the_trial() {
    let home = Home::alone();
    let before = names(&home);
    for (facts, victim) in streams().flat_map(|facts| [(facts, 0), (facts, 1)]) {
        let mut case = case(facts, Boundary::Process, Placement::Free, facts.waits[0]);
        case.flows = Some(2);
        let id = case.id();
        the_death_of_a_worker_is_told(&home, &id, victim, |control, workers| {
            let held = [control, workers[0], workers[1]].map(open_files);
            let links = held[1].len().min(held[2].len());
            assert!(facts.name == "shm-stream" || links >= 2, "{id}: {held:?}");
            for (one, other) in [(0, 1), (0, 2), (1, 2)] {
                let both: Vec<_> = held[one].intersection(&held[other]).collect();
                assert!(both.is_empty(), "{id}: two processes hold {both:?}");
            }
        });
    }
    assert_eq!(names(&home), before);
}
