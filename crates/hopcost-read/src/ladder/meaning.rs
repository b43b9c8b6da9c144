//! What the numbers of a group mean.

use hopcost_model::case::{Ack, AckSize, Arrivals, Case, Workload};
use hopcost_model::mechanism::Shape;
use hopcost_model::units::{format_number, format_size};

use crate::format;
use crate::trial::Family;

/// What the numbers of a group mean; its order is that of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meaning {
    CallBatched,
    CallEach,
    RoundtripBatched,
    Notification,
    Roundtrip { payload_bytes: u32 },
    Wake { gap_ns: u64 },
    Load { rate: u32, arrivals: Arrivals, payload_bytes: u32 },
    Stream { ack: Ack, ack_size: AckSize, payload_bytes: u32, fields: u32, flows: u32 },
}

impl Meaning {
    /// The group of a case.
    pub fn of(case: &Case, family: Family, shape: Option<Shape>) -> Self {
        let payload_bytes = case.payload_bytes.unwrap_or(0);
        match (case.workload, family) {
            (Workload::Wake, _) => Meaning::Wake { gap_ns: case.gap_ns.unwrap_or(0) },
            (Workload::Load, _) => Meaning::Load {
                rate: case.rate.unwrap_or(0),
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
            Meaning::Wake { gap_ns } => {
                format!("one-way wake-up after a gap of {}", format::exact_ns(gap_ns))
            }
            Meaning::Load { rate, arrivals, payload_bytes } => format!(
                "load of {} messages of {} a second, {arrivals} arrivals",
                format_number(rate.into()),
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
        match self {
            Meaning::CallBatched => "Cost of one operation in one thread, from long batches of \
                them; no second party."
                .to_owned(),
            Meaning::CallEach => {
                "Duration of one operation in one thread, each timed by itself; no second party."
                    .to_owned()
            }
            Meaning::RoundtripBatched => "Cost of one round trip (there and back) between two \
                ends, from long batches of them, because one is too short to be timed by itself."
                .to_owned(),
            Meaning::Notification => "Duration of one round trip (there and back) in which each \
                end only wakes the other; nothing is carried."
                .to_owned(),
            Meaning::Roundtrip { payload_bytes } => format!(
                "Duration of one round trip (there and back) with {} in each message.",
                bytes(payload_bytes)
            ),
            Meaning::Wake { .. } => "Time from the sender's stamp before it notifies to the \
                receiver's stamp when it runs, one way; how exactly the two clocks agree is part \
                of each result."
                .to_owned(),
            Meaning::Load { .. } => "Response: time from when the schedule means a message to be \
                sent to when the receiver has it, whatever held it up; how exactly the two clocks \
                agree is part of each result."
                .to_owned(),
            Meaning::Stream { ack: Ack::None, .. } => "Time per message, all flows together, from \
                the first byte that any receiver got to the last; nothing is acknowledged."
                .to_owned(),
            Meaning::Stream { .. } => "Time from the sender's first call for a message to its \
                acknowledgement, by the sender's clock; throughput is part of each result."
                .to_owned(),
        }
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
