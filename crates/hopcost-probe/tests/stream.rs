//! Every stream mechanism between threads: acknowledgements, fields, sizes and
//! flows. That every byte of every message arrives in order is checked by the
//! receiving ends themselves; what they would say of one that does not is tested
//! beside the loops. Two processes, system calls and leaks are the conformance
//! suite's.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use hopcost_model::case::{Ack, Case, Role, Workload};
use hopcost_model::protocol::{Phase, Stamp};
use hopcost_probe::mechanism::{ALL, find};
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Half, Opening};
use hopcost_probe::workload::{Order, Stamped};

/// After this a case hangs.
const TIME_OUT: Duration = Duration::from_secs(60);

/// Mechanisms that hand out the sender's own memory, and so need acknowledgements.
const NEED_ACKNOWLEDGEMENTS: &[&str] = &["tcp-vmsplice", "tcp-sendfile", "vm-readv"];

/// Mechanisms that count sends without a copy, and how many a message of
/// `fields` fields takes.
fn zero_copy_sends(name: &str, fields: u64) -> Option<u64> {
    match name {
        "tcp-zerocopy" => Some(1),
        "tcp-uring-zc" => Some(fields),
        _ => None,
    }
}

fn rows() -> Vec<&'static Row> {
    let rows: Vec<_> = ALL
        .iter()
        .copied()
        .filter(|row| !row.facts.hidden && row.facts.workloads.contains(&Workload::Stream))
        .collect();
    assert!(rows.len() >= 12, "only {} stream mechanisms", rows.len());
    let available = |row: &&Row| match (row.facts.available)() {
        Ok(()) => true,
        Err(reason) => {
            eprintln!("skipped: {}: {reason}", row.facts.name);
            false
        }
    };
    rows.into_iter().filter(available).collect()
}

/// A case with the mechanism's defaults, but without Nagle's algorithm.
fn case(row: &Row, field_bytes: u32, fields: u32, ack: &str, wait: &str) -> Case {
    let mut id = format!(
        "stream/{}?payload={}&fields={fields}&flows=1&ack={ack}&boundary=thread&place=free&wait={wait}",
        row.facts.name,
        fields * field_bytes,
    );
    for parameter in row.facts.parameters {
        let value = if parameter.name == "nodelay" { "on" } else { parameter.default };
        id.push_str(&format!("&{}={value}", parameter.name));
    }
    id.parse().unwrap()
}

fn with(case: &Case, parameter: &str, value: &str) -> Case {
    let mut case = case.clone();
    case.parameters.insert(parameter.to_owned(), value.to_owned());
    case
}

fn order(count: u64) -> Order {
    Order { phase: Phase::Measure, count, stamp: Stamp::Each, cap_ns: None }
}

/// What an end saw in each phase, and the samples it took.
type Seen = Result<Vec<(Stamped, Vec<u64>)>, String>;

fn play(row: &Row, case: &Case, role: Role, half: Half, orders: &[Order]) -> Seen {
    let attaching = Attaching { case, role, budget_ticks: 0, trial: 0, flow: 0, meeting: None };
    let mut end = (row.attach)(half, &attaching).map_err(|e| format!("attach {role}: {e}"))?;
    let phase = |order: &Order| {
        let mut samples = vec![0; order.count as usize];
        let seen = end.run(order, &mut samples).map_err(|e| format!("{role}: {e}"))?;
        samples.truncate(seen.samples as usize);
        Ok((seen, samples))
    };
    orders.iter().map(phase).collect()
}

/// Runs flows of a case, each on two threads: what the callers and the callees saw.
fn run(row: &'static Row, case: &Case, flows: usize, orders: &[Order]) -> [Vec<Seen>; 2] {
    let (results_in, results) = mpsc::channel();
    for _ in 0..flows {
        let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
        for (role, half) in [(Role::Callee, link.callee), (Role::Caller, link.caller)] {
            let (case, results_in, orders) = (case.clone(), results_in.clone(), orders.to_vec());
            std::thread::spawn(move || {
                let _ = results_in.send((role, play(row, &case, role, half, &orders)));
            });
        }
    }
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..2 * flows {
        let (role, result) = results
            .recv_timeout(TIME_OUT)
            .unwrap_or_else(|_| panic!("{case}: an end hangs or panicked"));
        seen[usize::from(role == Role::Callee)].push(result);
    }
    seen
}

/// What is wrong with a case that sends this many messages in each of two phases.
fn wrong(row: &'static Row, case: &Case, flows: usize, count: u64) -> Option<String> {
    let payload = u64::from(case.payload_bytes.unwrap());
    // A second phase shows that the ends agree on where the first one ended.
    let phases = if payload > 1 << 20 { 1 } else { 2 };
    let orders = &[order(count), order(count + 1)][..phases];
    let [callers, callees] = run(row, case, flows, orders);
    let fields = u64::from(case.fields.unwrap());
    for (role, ends) in [(Role::Caller, callers), (Role::Callee, callees)] {
        for end in ends {
            let phases = match end {
                Ok(phases) => phases,
                Err(error) => return Some(error),
            };
            for ((seen, samples), count) in phases.iter().zip([count, count + 1]) {
                let stamps = role == Role::Caller && case.ack != Some(Ack::None);
                let sends = zero_copy_sends(row.facts.name, fields)
                    .filter(|_| role == Role::Caller)
                    .map(|sends| sends * count);
                let longest = samples.iter().copied().max().unwrap_or(0);
                if (seen.count, seen.bytes) != (count, count * payload)
                    || seen.samples != if stamps { count } else { 0 }
                    || samples.contains(&0)
                    || seen.max_ticks != longest
                    || seen.elapsed_ticks < longest
                    || seen.elapsed_ticks == 0
                    || seen.first_tick == 0
                    // A large message may be sent in parts.
                    || seen.zero_copy.is_some() != sends.is_some()
                    || seen.zero_copy.is_some_and(|sent| {
                        sent.completed < sends.unwrap() || sent.copied > sent.completed
                    })
                    || (payload <= 32768 && seen.zero_copy.map(|sent| sent.completed) != sends)
                {
                    return Some(format!("{role}: {seen:?} of {count} messages"));
                }
            }
        }
    }
    None
}

/// Runs every mechanism with the cases made of it, and fails with all that failed.
fn run_all(flows: usize, count: fn(&Case) -> u64, cases: impl Fn(&Row) -> Vec<Case>) {
    let mut failed = Vec::new();
    for row in rows() {
        for case in cases(row) {
            let needs = NEED_ACKNOWLEDGEMENTS.contains(&row.facts.name);
            if needs && case.ack == Some(Ack::None) {
                continue;
            }
            if let Some(error) = wrong(row, &case, flows, count(&case)) {
                failed.push(format!("{case}: {error}"));
            }
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

/// Messages worth sending of this case: enough to use every set of fields twice
/// where they are short, and not many bytes in all, because unoptimised code
/// fills and verifies slowly.
fn enough(case: &Case) -> u64 {
    (2_000_000 / u64::from(case.payload_bytes.unwrap())).clamp(3, 40)
}

#[test]
fn messages_of_any_size_arrive_under_any_acknowledgement() {
    run_all(1, enough, |row| {
        let mut cases = Vec::new();
        for ack in ["none", "per-message", "window:5"] {
            for fields in [1, 8] {
                for field_bytes in [8, 256, 4096, 65536] {
                    cases.push(case(row, field_bytes, fields, ack, row.facts.waits[0].wait.word()));
                }
            }
        }
        cases
    });
}

#[test]
fn flows_do_not_mix() {
    run_all(3, enough, |row| {
        let sizes = [(1, 8), (4096, 8), (65536, 3)].into_iter();
        sizes
            .flat_map(|(field_bytes, fields)| {
                ["none", "window:3"].map(|ack| case(row, field_bytes, fields, ack, "block"))
            })
            .collect()
    });
}

#[test]
fn messages_arrive_with_every_parameter_and_wait() {
    run_all(
        1,
        |_| 3,
        |row| {
            let mut cases = Vec::new();
            for wait in row.facts.waits {
                cases.push(case(row, 512, 4, "per-message", wait.wait.word()));
            }
            for parameter in row.facts.parameters {
                for value in parameter.values {
                    let usual = case(row, 512, 4, "per-message", "block");
                    cases.push(with(&usual, parameter.name, value));
                }
            }
            cases
        },
    );
}

#[test]
fn the_longest_message_of_the_most_fields_arrives() {
    run_all(1, |_| 1, |row| vec![case(row, 1024, 1024, "per-message", "block")]);
    // 16 MiB, where the least has to fit; 4 MiB for all, because unoptimised code is slow.
    let longest = ["tcp-sendmsg", "tcp-vmsplice", "shm-stream"];
    let field_bytes = |row: &Row| if longest.contains(&row.facts.name) { 16 } else { 4 };
    run_all(1, |_| 1, |row| vec![case(row, field_bytes(row) << 20, 1, "window:2", "block")]);
}

#[test]
fn a_field_that_is_no_multiple_of_a_word_arrives() {
    run_all(1, |_| 20, |row| vec![case(row, 13, 7, "window:1024", "block")]);
}

fn error(row: &'static Row, case: &Case) -> String {
    let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
    drop(link.callee);
    play(row, case, Role::Caller, link.caller, &[order(1)]).unwrap_err()
}

#[test]
fn what_cannot_be_streamed_is_refused_in_a_line() {
    for name in NEED_ACKNOWLEDGEMENTS {
        let row = find(name).unwrap();
        let said = error(row, &case(row, 64, 8, "none", "block"));
        assert!(said.contains("needs acknowledgements"), "{name}: {said}");
        let said = error(row, &case(row, 2 << 20, 8, "window:1024", "block"));
        assert!(said.contains("256 MiB"), "{name}: {said}");
    }
    let row = find("tcp-sendmsg").unwrap();
    for (payload, fields) in [(100, 8), (7, 1), (2048, 2048), (8, 0)] {
        let mut case = case(row, 1, 8, "none", "block");
        (case.payload_bytes, case.fields) = (Some(payload), Some(fields));
        let said = error(row, &case);
        assert!(said.contains("field"), "{payload} bytes in {fields} fields: {said}");
    }
}

/// Latencies of a case's messages, ascending.
fn latencies(row: &'static Row, case: &Case, count: u64) -> Vec<u64> {
    let [callers, callees] = run(row, case, 1, &[order(count)]);
    callees[0].as_ref().unwrap();
    let mut samples = callers[0].as_ref().unwrap()[0].1.clone();
    samples.sort_unstable();
    samples
}

#[test]
fn small_fields_are_held_back_by_nagle_unless_told_otherwise() {
    let row = find("tcp-send").unwrap();
    let on = case(row, 256, 8, "per-message", "block");
    let off = with(&on, "nodelay", "off");
    let median = |case: &Case| latencies(row, case, 25)[12];
    let (on, off) = (median(&on), median(&off));
    assert!(off > 10 * on, "median {off} ticks with Nagle's algorithm, {on} without");
    // MSG_MORE makes one segment of the fields, which nothing holds back.
    let more =
        with(&with(&case(row, 256, 8, "per-message", "block"), "nodelay", "off"), "more", "on");
    let more = median(&more);
    assert!(off > 10 * more, "median {off} ticks field by field, {more} with MSG_MORE");
}

#[test]
fn a_phase_ends_when_its_time_is_up() {
    for row in rows() {
        for ack in ["per-message", "window:7", "none"] {
            if ack == "none" && NEED_ACKNOWLEDGEMENTS.contains(&row.facts.name) {
                continue;
            }
            let case = case(row, 64, 8, ack, "block");
            // Far more than can be sent in the time, and a second phase to show that
            // both ends agree on where the first one ended.
            let most = 300_000;
            let capped = Order { count: most, cap_ns: Some(20_000_000), ..order(0) };
            let [callers, callees] = run_capped(row, &case, capped);
            let (sent, received) = (callers.unwrap(), callees.unwrap());
            assert!(sent[0].count > 0 && sent[0].count < most, "{case}: {:?}", sent[0]);
            assert_eq!(sent[0].count, received[0].count, "{case}");
            assert_eq!((sent[1].count, received[1].count), (3, 3), "{case}");
        }
    }
}

/// A phase under a cap and then one of three messages, without room for samples.
fn run_capped(row: &'static Row, case: &Case, capped: Order) -> [Result<Vec<Stamped>, String>; 2] {
    let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
    let play = |role, half| {
        let attaching = Attaching { case, role, budget_ticks: 0, trial: 0, flow: 0, meeting: None };
        let mut end = (row.attach)(half, &attaching).map_err(|e| e.to_string())?;
        [capped, order(3)]
            .iter()
            .map(|order| end.run(order, &mut []).map_err(|e| e.to_string()))
            .collect()
    };
    std::thread::scope(|scope| {
        let callee = scope.spawn(|| play(Role::Callee, link.callee));
        [play(Role::Caller, link.caller), callee.join().unwrap()]
    })
}

#[test]
fn a_dead_partner_ends_either_end_with_a_line() {
    for row in rows().into_iter().filter(|row| row.facts.name != "shm-stream") {
        for ack in ["per-message", "window:64"] {
            for survivor in [Role::Caller, Role::Callee] {
                let case = case(row, 4096, 8, ack, "block");
                // The other end leaves after a phase of three messages.
                let said = survivor_error(row, &case, survivor);
                assert!(said.contains("closed the link"), "{case}: the {survivor} says `{said}`");
            }
        }
    }
    let limits = find("shm-stream").unwrap().facts.limits;
    assert!(limits.contains("supervisor") && limits.contains("dead partner"));
}

fn survivor_error(row: &'static Row, case: &Case, survivor: Role) -> String {
    let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
    let (results_in, results) = mpsc::channel();
    for (role, half) in [(Role::Callee, link.callee), (Role::Caller, link.caller)] {
        let (case, results_in) = (case.clone(), results_in.clone());
        std::thread::spawn(move || {
            let orders: &[Order] =
                if role == survivor { &[order(3), order(1000)] } else { &[order(3)] };
            let _ = results_in.send((role, play(row, &case, role, half, orders)));
        });
    }
    loop {
        match results.recv_timeout(TIME_OUT) {
            Ok((role, Err(error))) if role == survivor => return error,
            Ok((role, Ok(_))) if role != survivor => {}
            Ok((role, result)) => panic!("{case}: the {role} ends with {result:?}"),
            Err(_) => panic!("{case}: the {survivor} waits for a dead partner"),
        }
    }
}
