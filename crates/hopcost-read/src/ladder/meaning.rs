//! What the numbers of a group mean.

use hopcost_model::case::{Ack, AckSize, Arrivals, Case, Workload};
use hopcost_model::mechanism::Shape;
use hopcost_model::units::{Rate, format_size};

use crate::format;
use crate::trial::Family;

/// The sentences about each of these, with their names.
const SENTENCES: &str = include_str!("sentences.txt");

/// What the numbers of a group mean; its order is that of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    CallBatched,
    CallEach,
    RoundtripBatched,
    Notification,
    Roundtrip {
        payload_bytes: u32,
    },
    Wake {
        gap_ns: u64,
    },
    Load {
        rate: Rate,
        arrivals: Arrivals,
        payload_bytes: u32,
    },
    Stream {
        ack: Ack,
        ack_size: AckSize,
        payload_bytes: u32,
        fields: u32,
        flows: u32,
    },
    /// What its workload says of itself is all.
    Other(Workload),
}

impl Meaning {
    /// The group of a case.
    pub fn of(case: &Case, family: Family, shape: Option<Shape>) -> Self {
        let payload_bytes = case.payload_bytes.unwrap_or(0);
        match (case.workload, family) {
            (Workload::Wake, _) => Meaning::Wake { gap_ns: case.gap_ns.unwrap_or(0) },
            (Workload::Load, _) => Meaning::Load {
                rate: case.rate.unwrap_or_default(),
                arrivals: case.arrivals,
                payload_bytes,
            },
            (Workload::Stream, _) => Meaning::Stream {
                ack: case.ack.unwrap_or(Ack::None),
                ack_size: case.ack_size,
                payload_bytes,
                fields: case.fields.unwrap_or(1).max(1),
                flows: case.flows.unwrap_or(1),
            },
            (Workload::Call, Family::Batch) => Meaning::CallBatched,
            (Workload::Call, Family::Each) => Meaning::CallEach,
            (Workload::Roundtrip, Family::Batch) => Meaning::RoundtripBatched,
            (other, _) if other != Workload::Roundtrip => Meaning::Other(other),
            _ if payload_bytes == 0 && shape != Some(Shape::Channel) => Meaning::Notification,
            _ => Meaning::Roundtrip { payload_bytes },
        }
    }
    pub fn title(self) -> String {
        match self {
            Meaning::CallBatched => "one call".to_owned(),
            Meaning::CallEach => "one call, each timed".to_owned(),
            Meaning::RoundtripBatched => "round trip, spinning, in batches".to_owned(),
            Meaning::Notification => "round trip, bare notification".to_owned(),
            Meaning::Roundtrip { payload_bytes: 0 } => "round trip, empty messages".to_owned(),
            Meaning::Roundtrip { payload_bytes } => {
                format!("round trip, {} each way", bytes(payload_bytes))
            }
            Meaning::Other(workload) => format!("one {}", workload.spec().operation),
            Meaning::Wake { gap_ns } => {
                format!("one-way wake-up after a gap of {}", format::exact_ns(gap_ns))
            }
            Meaning::Load { rate, arrivals, payload_bytes } => format!(
                "load of {} messages of {} a second, {arrivals} arrivals",
                rate.brief(),
                bytes(payload_bytes)
            ),
            Meaning::Stream { ack, ack_size, payload_bytes, fields, flows } => format!(
                "stream of {fields} x {} B, {}, {}{}",
                payload_bytes / fields,
                format::count(flows as usize, "flow"),
                acknowledged(ack),
                match ack_size {
                    AckSize::Number => "",
                    AckSize::Field => " with a field",
                }
            ),
        }
    }
    /// What a number means, in a sentence.
    pub fn sentence(self) -> String {
        let (of, payload_bytes) = match self {
            Meaning::CallBatched => ("calls", 0),
            Meaning::CallEach => ("call", 0),
            Meaning::RoundtripBatched => ("roundtrips", 0),
            Meaning::Notification => ("notification", 0),
            Meaning::Roundtrip { payload_bytes } => ("roundtrip", payload_bytes),
            Meaning::Other(workload) => {
                return format!("Duration of one {}.", workload.spec().operation);
            }
            Meaning::Wake { .. } => ("wake", 0),
            Meaning::Load { .. } => ("load", 0),
            Meaning::Stream { ack: Ack::None, .. } => ("stream", 0),
            Meaning::Stream { .. } => ("acknowledged", 0),
        };
        let mut sentences = SENTENCES.lines().filter_map(|line| line.split_once(": "));
        let sentence = sentences.find(|(name, _)| *name == of).map_or("", |(_, sentence)| sentence);
        sentence.replace("BYTES", &bytes(payload_bytes))
    }
    /// Whether the numbers are costs in batches.
    pub fn batched(self) -> bool {
        matches!(
            self,
            Meaning::CallBatched
                | Meaning::RoundtripBatched
                | Meaning::Stream { ack: Ack::None, .. }
        )
    }
}

fn acknowledged(ack: Ack) -> String {
    match ack {
        Ack::None => "not acknowledged".to_owned(),
        Ack::PerMessage => "acknowledged per message".to_owned(),
        Ack::Window(messages) => format!("up to {messages} messages not yet acknowledged"),
    }
}

/// A number of bytes in words.
pub fn bytes(n: u32) -> String {
    let size = format_size(u64::from(n));
    if size.ends_with('B') { size } else { format!("{n} byte{}", if n == 1 { "" } else { "s" }) }
}
