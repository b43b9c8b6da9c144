//! Stream mechanisms between two processes are what their rows say: system calls
//! and context switches of a message, sends without a copy, sizes, flows, no
//! descriptor where it does not belong, and an end to every trial whose end dies.

use std::collections::BTreeSet;

use hopcost_model::case::{Boundary, Case, Placement, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, PerOperation};

use crate::conformance::boundaries;
use crate::faults::{endless, names, row, signal, the_death_of_a_worker_is_told};
use crate::support::{Home, all, alone, cross, measured, mechanisms, pairs, trace, trial};

/// Messages of the shorter of the two traced trials.
const N: u64 = 100;

fn streams() -> impl Iterator<Item = &'static Facts> {
    mechanisms().filter(|facts| facts.workloads.contains(&Workload::Stream))
}

/// The mechanism's defaults, eight fields of a page, acknowledged message by message.
pub fn case(facts: &Facts, boundary: Boundary, place: Placement, wait: WaitKind) -> Case {
    let mut id = format!(
        "stream/{}?payload=32768&fields=8&flows=1&ack=per-message&boundary={boundary}\
         &place={place}&wait={wait}",
        facts.name
    );
    for parameter in facts.parameters {
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
    let (id, count) = (case.id(), count.to_string());
    let arguments = ["trial", &id, "--count", &count, "--ticks-per-second", "1e9"];
    let (code, counts) = trace::count(&mut home.hopcost(&arguments));
    assert_eq!(code, 0, "{id} under ptrace");
    let seats = if case.two_processes() { 1 } else { 2 };
    assert_eq!(counts.threads_max, seats, "{id}: a thread that no row speaks of");
    counts.total() as f64
}

#[test]
fn system_calls_of_a_message_are_those_the_row_says() {
    let _alone = alone();
    let home = Home::new();
    let mut wrong = Vec::new();
    let mut cases = 0;
    for facts in streams() {
        let waits: Vec<_> = facts.waits.iter().collect();
        let mut boundaries = facts.boundaries.to_vec();
        boundaries.retain(|&boundary| boundary != Boundary::Namespace);
        for (boundary, wait) in pairs(&boundaries, &waits) {
            let case = case(facts, boundary, place_for(wait.wait), wait.wait);
            // Nagle's algorithm makes each of its messages take 40 ms.
            let n = if facts.name == "tcp-send" { N / 10 } else { N };
            let counted = (traced(&home, &case, 2 * n) - traced(&home, &case, n)) / n as f64;
            let slack = match wait.system_calls {
                PerOperation::Exactly(_) => 0.012,
                PerOperation::Between(..) => 0.1,
            };
            if !wait.system_calls.admits(counted, slack) {
                wrong.push(format!("{case}: counted {counted:.3}, {:?}", wait.system_calls));
            }
            cases += 1;
        }
    }
    assert!(cases >= 24, "only {cases} cases: the registry is not whole");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn context_switches_of_a_message_are_within_the_stated_range() {
    let _alone = alone();
    let home = Home::new();
    let mut wrong = Vec::new();
    for facts in streams() {
        for wait in facts.waits {
            let mut places = vec![place_for(wait.wait)];
            let differ = wait.switches_one_cpu != wait.switches_two_cpus;
            if places[0] == Placement::SameCpu && (differ || all()) {
                places.extend(cross());
            }
            for place in places {
                let mut case = case(facts, Boundary::Process, place, wait.wait);
                // Nagle's algorithm would make the trial long.
                if case.parameters.contains_key("nodelay") {
                    case.parameters.insert("nodelay".into(), "on".into());
                }
                let row = trial(&home, &case, 1_000).unwrap_or_else(|error| panic!("{error}"));
                let stated = match place {
                    Placement::SameCpu => wait.switches_one_cpu,
                    _ => wait.switches_two_cpus,
                };
                let switches: u64 =
                    row.ends.iter().map(|end| end.voluntary + end.involuntary).sum();
                let counted = switches as f64 / row.operations as f64;
                // Other tasks of this machine add switches of their own.
                if !stated.admits(counted, 0.05 + 0.05 * stated.least()) {
                    wrong.push(format!("{case}: counted {counted:.3}, stated {stated:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_size_flow_and_acknowledgement_arrives_across_every_boundary() {
    let _alone = alone();
    let home = Home::new();
    for facts in streams() {
        for boundary in boundaries(facts) {
            // The longest once only: unoptimised code fills and verifies slowly.
            let longest = if boundary == Boundary::Process { 16 << 20 } else { 1 << 20 };
            for (payload, fields, flows, ack, count) in [
                (8, 8, 1, "window:3", 5),
                (7 * 4097, 7, 3, "per-message", 5),
                (longest, 16, 1, "window:2", 1),
            ] {
                let mut case = case(facts, boundary, Placement::Free, facts.waits[0].wait);
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
    let _alone = alone();
    let home = Home::new();
    let mechanism = "stream/tcp-sendmsg?payload=64&fields=1&ack=per-message&place=free";
    let flows = format!("{mechanism}&flows=2,3&boundary=process,thread");
    home.expect(
        &["run", &flows, "--rounds", "3", "--operations", "20", "--out", "run"],
        measured(),
    );
    let run = hopcost_file::open(&home.path().join("run"), &|| unreachable!()).expect("a run");
    assert_eq!(run.trials.len(), 12);
    let ticks_per_ns = run.clocks[0].ticks_per_second / 1e9;
    for trial in &run.trials {
        let receivers = trial.ends.iter().filter(|end| end.role == Role::Callee);
        let first = receivers.clone().map(|end| end.first_tick).min().expect("a receiver");
        let last = receivers.map(|end| end.first_tick + end.elapsed_ticks).max().expect("one");
        let span_ns = (last - first) as f64 / ticks_per_ns;
        assert!((trial.wall_ns as f64 - span_ns).abs() <= 1.0, "{} of {span_ns}", trial.wall_ns);
    }

    // Of a trial that looks at no clock, the worker alone says how long it took.
    for (boundary, round) in pairs(&["process", "thread"], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
        let id = format!("{mechanism}&flows=2&boundary={boundary}&wait=block");
        let row = trial(&home, &id.parse().expect("a case"), 20).expect("a trial");
        let longest = row.ends.iter().map(|end| end.elapsed_ticks).max().expect("an end");
        let longest_ns = longest as f64 / ticks_per_ns;
        assert!(
            row.wall_ns as f64 > 0.999 * longest_ns,
            "{boundary}, {round}: {longest_ns}: {row:?}"
        );
    }
}

#[test]
fn every_send_without_a_copy_is_accounted_for() {
    let _alone = alone();
    let home = Home::new();
    for facts in streams() {
        let case = case(facts, Boundary::Process, Placement::Free, facts.waits[0].wait);
        let row = trial(&home, &case, 40).unwrap_or_else(|error| panic!("{error}"));
        let sender = row.ends.iter().find(|end| end.role == Role::Caller).expect("a sender");
        let sends = match facts.name {
            "tcp-zerocopy" => Some(40),
            "tcp-uring-zc" => Some(40),
            _ => None,
        };
        assert_eq!(sender.zero_copy.map(|sends| sends.completed), sends, "{case}");
        // What the row says of loopback.
        assert_eq!(sender.zero_copy.map(|sends| sends.copied), sends, "{case}");
    }
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
fn no_process_holds_the_other_ends_descriptors() {
    let _alone = alone();
    let home = Home::new();
    for facts in streams() {
        let mut case = case(facts, Boundary::Process, Placement::Free, facts.waits[0].wait);
        case.flows = Some(2);
        let id = case.id();
        let (child, workers) = endless(&home, &id, "20000");
        let held: Vec<_> =
            [child.id(), workers[0], workers[1]].into_iter().map(open_files).collect();
        signal(workers[0], libc::SIGKILL);
        row(child);
        let links = held[1].len().min(held[2].len());
        assert!(facts.name == "shm-stream" || links >= 2, "{id}: {held:?}");
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let both: Vec<_> = held[one].intersection(&held[other]).collect();
            assert!(both.is_empty(), "{id}: two processes hold {both:?}");
        }
    }
}

#[test]
fn the_death_of_either_end_of_a_stream_ends_the_trial_with_a_reason() {
    let _alone = alone();
    let home = Home::new();
    let before = names(&home);
    for facts in streams() {
        for victim in [0, 1] {
            let mut case = case(facts, Boundary::Process, Placement::Free, facts.waits[0].wait);
            case.flows = Some(2);
            let id = case.id();
            the_death_of_a_worker_is_told(&home, &id, victim);
        }
    }
    assert_eq!(names(&home), before);
}
