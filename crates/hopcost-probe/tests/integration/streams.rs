use std::path::Path;

use hopcost_model::{Ack, Case, PhaseSpec, Role, Stamp, WaitKind, Workload};
use hopcost_probe::mechanism::find;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Opening};
use hopcost_probe::workload::Stamped;

use crate::support::{
    alone, attach, both_end_well, case, measure, message, none_failed, phase, rows, with,
};

/// How many sends without a copy a message takes, of mechanisms that count them.
fn zero_copy_sends(case: &Case) -> Option<u64> {
    match (&*case.mechanism, case.parameter("sends")) {
        ("tcp-uring-zc", Some("field")) => case.fields.map(u64::from),
        ("tcp-zerocopy" | "tcp-uring-zc", _) => Some(1),
        _ => None,
    }
}

/// A case with the mechanism's defaults, but without Nagle's algorithm.
fn usual(row: &Row, wait: WaitKind) -> Case {
    let case = case(Workload::Stream, row, wait);
    if row.facts().parameter("nodelay").is_some() { with(&case, "nodelay", "on") } else { case }
}

fn of(row: &Row, field_bytes: u32, fields: u32, ack: &str) -> Case {
    message(usual(row, row.facts().waits[0]), field_bytes, fields, ack)
}

/// What is wrong with what an end saw of a phase of `count` messages.
fn unexpected(
    case: &Case,
    role: Role,
    count: u64,
    seen: &Stamped,
    samples: &[u64],
) -> Option<String> {
    let payload = u64::from(case.payload_bytes.unwrap());
    let stamps = role == Role::Caller && case.ack != Some(Ack::None);
    let sends = zero_copy_sends(case).filter(|_| role == Role::Caller).map(|sends| sends * count);
    let longest = samples.iter().copied().max().unwrap_or(0);
    let zero_copy = match (seen.zero_copy, sends) {
        (None, None) => true,
        // A large message may be sent in parts.
        (Some(sent), Some(sends)) => {
            let all = sent.completed == sends || (payload > 32768 && sent.completed > sends);
            // What the row says of loopback.
            all && sent.copied == sent.completed
        }
        _ => false,
    };
    let right = (seen.count, seen.bytes) == (count, count * payload)
        && seen.samples == if stamps { count } else { 0 }
        && !samples.contains(&0)
        // A receiver's is the longest time between two messages.
        && (seen.max_ticks == longest || role == Role::Callee)
        && seen.elapsed_ticks >= seen.max_ticks.max(1)
        && seen.first_tick != 0
        && zero_copy;
    (!right).then(|| format!("{role}: {seen:?} of {count} messages"))
}

/// What is wrong with a case of two phases: the second shows that the ends agree on where the
/// first one ended. That every byte arrives in order is checked by the receiving end itself.
fn wrong(case: &Case) -> Option<String> {
    // Nagle's algorithm makes each message take 40 ms.
    let nagle = case.parameters.get("nodelay").is_some_and(|value| value == "off");
    let count = match case.ack.and_then(Ack::window) {
        _ if nagle => 3,
        // So that a window becomes full.
        Some(window) if window > 40 => window + 10,
        _ => 40,
    };
    let counts = [count, count + 1];
    let played = both_end_well(case, move |_, end| {
        counts.into_iter().map(|count| phase(&mut *end, count, Stamp::Each)).collect()
    });
    let ends: [Vec<_>; 2] = match played {
        Ok(ends) => ends,
        Err(error) => return Some(error),
    };
    [Role::Caller, Role::Callee].into_iter().zip(&ends).find_map(|(role, phases)| {
        let mut phases = phases.iter().zip(counts);
        phases.find_map(|((seen, samples), count)| unexpected(case, role, count, seen, samples))
    })
}

#[test]
fn messages_arrive_with_every_parameter_wait_and_acknowledgement() {
    let _alone = alone();
    let mut failed = Vec::new();
    for row in rows(Workload::Stream) {
        let facts = row.facts();
        let waits = facts.waits.iter().map(|wait| usual(row, *wait));
        let block = usual(row, WaitKind::Block);
        let values = facts.parameters.iter().flat_map(|parameter| {
            parameter.values.iter().map(|value| with(&block, &parameter.name, value))
        });
        let mut cases: Vec<Case> =
            waits.chain(values).map(|case| message(case, 512, 4, "per-message")).collect();
        // No multiple of a word, with a window that wraps around nothing.
        cases.push(of(row, 13, 7, "window:1024"));
        cases.extend((!facts.keeps_buffers()).then(|| of(row, 4096, 8, "none")));
        for case in cases.iter().filter(|case| (facts.here.available_as)(case).is_ok()) {
            failed.extend(wrong(case).map(|error| format!("{case}: {error}")));
        }
    }
    none_failed(failed);
}

/// What the sender says when it attaches to a link without a receiver.
fn refusal(row: &'static Row, case: &Case) -> String {
    let link = row.open(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
    drop(link.callee);
    match attach(link.caller, &Attaching::new(case, Role::Caller)) {
        Ok(_) => panic!("{case} is not refused"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_streamed_is_refused_in_a_line() {
    let rows = rows(Workload::Stream);
    for row in rows.into_iter().filter(|row| row.facts().keeps_buffers()) {
        let said = refusal(row, &of(row, 64, 8, "none"));
        assert!(said.contains("needs acknowledgements"), "{}: {said}", row.name);
        let said = refusal(row, &of(row, 2 << 20, 8, "window:1024"));
        assert!(said.contains("256 MiB"), "{}: {said}", row.name);
    }
    for row in ["unix-sendmsg", "vm-readv"].map(|name| find(name).unwrap()) {
        let fits = |window| (row.facts().here.available_as)(&of(row, 8, 1, window));
        assert_eq!(fits("window:64"), Ok(()));
        // Unless this machine's sockets hold more than usual.
        if let Err(said) = fits("window:1024") {
            let (_, window) = said.rsplit_once("ack=").unwrap();
            assert_eq!(fits(window.trim_end_matches(" or less")), Ok(()), "{said}");
        }
    }
    let row = find("tcp-sendmsg").unwrap();
    for (payload, fields) in [(100, 8), (7, 1), (2048, 2048), (8, 0)] {
        let mut case = of(row, 1, 8, "none");
        (case.payload_bytes, case.fields) = (Some(payload), Some(fields));
        let said = refusal(row, &case);
        assert!(said.contains("field"), "{payload} bytes in {fields} fields: {said}");
    }
}

#[test]
fn a_phase_ends_when_its_time_is_up() {
    let _alone = alone();
    // Far more than can be sent in the time, and a second phase to show that both ends
    // agree on where the first one ended.
    let capped = PhaseSpec { cap_ns: Some(20_000_000), ..measure(300_000, Stamp::Each) };
    let specs = [capped, measure(3, Stamp::Each)];
    for row in rows(Workload::Stream) {
        for ack in ["per-message", "window:7", "none"] {
            if ack == "none" && row.facts().keeps_buffers() {
                continue;
            }
            let case = of(row, 64, 8, ack);
            let [sent, received] = both_end_well(&case, move |_, end| {
                let counts = specs.iter().map(|spec| {
                    end.run(spec, &mut []).map(|seen| seen.count).map_err(|e| e.to_string())
                });
                counts.collect::<Result<Vec<u64>, String>>()
            })
            .unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(sent[0] > 0 && sent[0] < capped.count, "{case}: {sent:?}");
            assert_eq!(sent, received, "{case}");
            assert_eq!(sent[1], 3, "{case}");
        }
    }
}
