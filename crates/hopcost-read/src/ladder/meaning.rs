//! What the numbers of a group mean.

use hopcost_model::case::{Ack, AckSize, Arrivals, Case, Workload};
use hopcost_model::mechanism::Shape;
use hopcost_model::text::bytes;
use hopcost_model::units::{Rate, exact_duration};

use crate::format;
use crate::trial::Family;

/// The sentences about each kind of group, with their names.
const SENTENCES: &str = include_str!("sentences.txt");

/// What the numbers of a group mean; its order is that of the ladder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meaning {
    kind: u8,
    by: By,
    pub title: String,
    /// What a number means, in a sentence.
    pub sentence: String,
    /// Whether the numbers are costs in batches.
    pub batched: bool,
}

/// What groups of one kind are sorted by.
type By =
    (Option<(Ack, AckSize)>, Option<(Rate, Arrivals)>, u32, Option<u32>, Option<u32>, Option<u64>);

impl Meaning {
    /// The group of a case.
    pub fn of(case: &Case, family: Family, shape: Option<Shape>) -> Self {
        let bytes_each = case.payload_bytes.unwrap_or(0);
        let of_any_size = |kind, name, title: &str| (kind, name, 0, title.to_owned());
        let (kind, name, payload_bytes, title) = match (case.workload, family) {
            (Workload::Call, Family::Batch) => of_any_size(0, "calls", "one call"),
            (Workload::Call, Family::Each) => of_any_size(1, "call", "one call, each timed"),
            (Workload::Roundtrip, Family::Batch) => {
                of_any_size(2, "roundtrips", "round trip, spinning, in batches")
            }
            (Workload::Wake, _) => {
                let gap = exact_duration(case.gap_ns.unwrap_or(0));
                of_any_size(5, "wake", &format!("one-way wake-up after a gap of {gap}"))
            }
            (Workload::Load, _) => {
                let (rate, size) = (case.rate.unwrap_or_default().brief(), bytes(bytes_each));
                let arrivals = case.arrivals;
                let title =
                    format!("load of {rate} messages of {size} a second, {arrivals} arrivals");
                (6, "load", bytes_each, title)
            }
            (Workload::Stream, _) => (
                7,
                if is_acknowledged(case) { "acknowledged" } else { "stream" },
                bytes_each,
                stream(case, bytes_each),
            ),
            (other, _) if other != Workload::Roundtrip => {
                of_any_size(8, "", &format!("one {}", other.spec().operation))
            }
            _ if bytes_each == 0 && shape != Some(Shape::Channel) => {
                of_any_size(3, "notification", "round trip, bare notification")
            }
            _ if bytes_each == 0 => of_any_size(4, "roundtrip", "round trip, empty messages"),
            _ => {
                let title = format!("round trip, {} each way", bytes(bytes_each));
                (4, "roundtrip", bytes_each, title)
            }
        };
        let mut sentences = SENTENCES.lines().filter_map(|line| line.split_once(": "));
        let sentence = match sentences.find(|(known, _)| *known == name) {
            Some((_, sentence)) => sentence.replace("BYTES", &bytes(payload_bytes)),
            None => format!("Duration of one {}.", case.workload.spec().operation),
        };
        let ack = case.ack.map(|ack| (ack, case.ack_size));
        let rate = case.rate.map(|rate| (rate, case.arrivals));
        let by = (ack, rate, payload_bytes, case.fields, case.flows, case.gap_ns);
        let batched = matches!(name, "calls" | "roundtrips" | "stream");
        Self { kind, by, title, sentence, batched }
    }
}

fn is_acknowledged(case: &Case) -> bool {
    case.ack.is_some_and(|ack| ack != Ack::None)
}

fn stream(case: &Case, bytes_each: u32) -> String {
    let fields = case.fields.unwrap_or(1).max(1);
    let acknowledged = match case.ack {
        None | Some(Ack::None) => "not acknowledged".to_owned(),
        Some(Ack::PerMessage) => "acknowledged per message".to_owned(),
        Some(Ack::Window(messages)) => format!("up to {messages} messages not yet acknowledged"),
    };
    format!(
        "stream of {fields} x {} B, {}, {acknowledged}{}",
        bytes_each / fields,
        format::count(case.flows.unwrap_or(1) as usize, "flow"),
        if case.ack_size == AckSize::Field { " with a field" } else { "" }
    )
}
