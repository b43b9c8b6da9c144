use std::path::Path;

use hopcost_model::case::{Ack, Case, Role, WaitKind, Workload};
use hopcost_model::protocol::Stamp;
use hopcost_probe::clock::rough_ticks;
use hopcost_probe::mechanism::find;
use hopcost_probe::registry::Row;
use hopcost_probe::shape::{Attaching, Opening};
use hopcost_probe::workload::{PhaseSpec, Stamped};

use crate::support::{alone, attach, both_end_well, case, message, none_failed, phase, rows, with};

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
    if row.facts.parameter("nodelay").is_some() { with(&case, "nodelay", "on") } else { case }
}

fn of(row: &Row, field_bytes: u32, fields: u32, ack: &str) -> Case {
    message(usual(row, row.facts.waits[0].wait), field_bytes, fields, ack)
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
        && seen.max_ticks == longest
        && seen.elapsed_ticks >= longest.max(1)
        && seen.first_tick != 0
        && zero_copy;
    (!right).then(|| format!("{role}: {seen:?} of {count} messages"))
}

/// What is wrong with a case that sends this many messages in each of two phases: the
/// second shows that the ends agree on where the first one ended. That every byte
/// arrives in order is checked by the receiving end itself.
fn wrong(case: &Case, count: u64) -> Option<String> {
    let counts = [count, count + 1];
    let played = both_end_well(case, move |_, end| {
        counts.into_iter().map(|count| phase(&mut *end, count, Stamp::Each)).collect()
    });
    let ends: [Vec<_>; 2] = match played {
        Ok(ends) => ends,
        Err(error) => return Some(error),
    };
    for (role, phases) in [Role::Caller, Role::Callee].into_iter().zip(&ends) {
        for ((seen, samples), count) in phases.iter().zip(counts) {
            if let Some(wrong) = unexpected(case, role, count, seen, samples) {
                return Some(wrong);
            }
        }
    }
    None
}

/// Messages worth sending of this case: enough to use every set of fields twice
/// where they are short, and not many bytes in all; few where Nagle's algorithm makes
/// each take 40 ms.
fn enough(case: &Case) -> u64 {
    let nagle = case.parameters.get("nodelay").is_some_and(|value| value == "off");
    let most = if nagle { 3 } else { 40 };
    (2_000_000 / u64::from(case.payload_bytes.unwrap())).clamp(3, most)
}

/// Runs every mechanism with the cases made of it, those without acknowledgements where
/// it can do without.
fn run_all(cases: impl Fn(&Row) -> Vec<Case>) {
    let _alone = alone();
    let mut failed = Vec::new();
    for row in rows(Workload::Stream) {
        let needs = row.facts.keeps_buffers;
        for case in cases(row).into_iter().filter(|case| !needs || case.ack != Some(Ack::None)) {
            failed.extend(wrong(&case, enough(&case)).map(|error| format!("{case}: {error}")));
        }
    }
    none_failed(failed);
}

#[test]
fn messages_of_any_size_arrive_under_any_acknowledgement() {
    run_all(|row| {
        let cases = [
            (8, 1, "none"),
            (4096, 8, "none"),
            (65536, 1, "none"),
            (8, 8, "per-message"),
            (65536, 8, "per-message"),
            (256, 8, "window:5"),
            (65536, 1, "window:5"),
            // No multiple of a word, and a window that wraps around nothing.
            (13, 7, "window:1024"),
            // As many fields as there may be.
            (1024, 1024, "per-message"),
        ];
        cases.map(|(field_bytes, fields, ack)| of(row, field_bytes, fields, ack)).into()
    });
}

#[test]
fn messages_arrive_with_every_parameter_and_wait() {
    run_all(|row| {
        let waits = row.facts.waits.iter().map(|wait| usual(row, wait.wait));
        let block = usual(row, WaitKind::Block);
        let values = row.facts.parameters.iter().flat_map(|parameter| {
            parameter.values.iter().map(|value| with(&block, parameter.name, value))
        });
        waits.chain(values).map(|case| message(case, 512, 4, "per-message")).collect()
    });
}

/// What the sender says when it attaches to a link without a receiver.
fn refusal(row: &'static Row, case: &Case) -> String {
    let link = (row.open)(&Opening { case, scratch: Path::new("/nowhere") }).unwrap();
    drop(link.callee);
    match attach(link.caller, &Attaching::new(case, Role::Caller)) {
        Ok(_) => panic!("{case} is not refused"),
        Err(error) => error,
    }
}

#[test]
fn what_cannot_be_streamed_is_refused_in_a_line() {
    let rows = rows(Workload::Stream);
    for row in rows.into_iter().filter(|row| row.facts.keeps_buffers) {
        let said = refusal(row, &of(row, 64, 8, "none"));
        assert!(said.contains("needs acknowledgements"), "{}: {said}", row.facts.name);
        let said = refusal(row, &of(row, 2 << 20, 8, "window:1024"));
        assert!(said.contains("256 MiB"), "{}: {said}", row.facts.name);
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
fn small_fields_are_held_back_by_nagle_unless_told_otherwise() {
    let _alone = alone();
    let row = find("tcp-send").unwrap();
    let on = of(row, 256, 8, "per-message");
    let off = with(&on, "nodelay", "off");
    let median = |case: &Case| {
        let [(_, mut samples), _] =
            both_end_well(case, |_, end| phase(&mut *end, 25, Stamp::Each)).unwrap();
        samples.sort_unstable();
        samples[12]
    };
    let (on, off, more) = (median(&on), median(&off), median(&with(&off, "more", "on")));
    assert!(off > 10 * on, "median {off} ticks with Nagle's algorithm, {on} without");
    // MSG_MORE makes one segment of the fields, which nothing holds back.
    assert!(off > 10 * more, "median {off} ticks field by field, {more} with MSG_MORE");
}

/// With Nagle's algorithm at the receiver's end, the acknowledgements of the last window wait
/// until the sender's kernel acknowledges the first of them, for 40 ms, in four phases of five.
#[test]
fn no_acknowledgement_is_held_back_whatever_the_sender_has() {
    const PHASES: usize = 10;
    let _alone = alone();
    let on = of(find("tcp-sendmsg").unwrap(), 4096, 1, "window:8");
    let off = with(&on, "nodelay", "off");
    let stalls = |case: &Case| {
        let [(_, samples), _] =
            both_end_well(case, |_, end| phase(&mut *end, 200, Stamp::Each)).unwrap();
        samples.iter().any(|&ticks| ticks > rough_ticks(30_000_000))
    };
    let mut stalled = [0, 0];
    for _ in 0..PHASES {
        stalled[0] += usize::from(stalls(&off));
        stalled[1] += usize::from(stalls(&on));
    }
    // A busy machine may hold up any phase.
    let [off, on] = stalled;
    assert!(off <= on + PHASES / 3, "{off} of {PHASES} phases stall, {on} with TCP_NODELAY");
}

#[test]
fn a_phase_ends_when_its_time_is_up() {
    let _alone = alone();
    // Far more than can be sent in the time, and a second phase to show that both ends
    // agree on where the first one ended.
    let capped = PhaseSpec { cap_ns: Some(20_000_000), ..PhaseSpec::of(300_000, Stamp::Each) };
    let specs = [capped, PhaseSpec::of(3, Stamp::Each)];
    for row in rows(Workload::Stream) {
        for ack in ["per-message", "window:7", "none"] {
            if ack == "none" && row.facts.keeps_buffers {
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
