//! Streams, and from which size on one way of sending is faster.

use super::ratio::Ratio;
use super::statistic::Estimate;
use crate::document;

document! {
    /// What is particular to a stream. Its estimates are of the message latency: from
    /// the sender's first call for a message to its acknowledgement, by the
    /// sender's clock; `null` without acknowledgements.
    pub struct StreamResult {
        /// What the path really is, in a few words (`MSG_ZEROCOPY (copied)`).
        pub label: String,
        /// Bytes of a message.
        pub message_bytes: u32,
        /// Bytes of one of its fields.
        pub field_bytes: u32,
        /// Fields of a message.
        pub fields: u32,
        /// Flows.
        pub flows: u32,
        /// Acknowledgement.
        pub ack: String,
        /// All flows together, from the first byte of any to the last byte of any, by
        /// the receivers' clock; gigabits (10⁹ bits) of message a second.
        pub aggregate_gbps: Option<Estimate>,
        /// A flow alone: median over the flows of a trial.
        pub per_flow_gbps: Option<Estimate>,
        /// Messages a second, all flows: median over trials.
        pub messages_per_s: Option<f64>,
        /// Share of the sends that were to be without a copy and were copied after
        /// all, 0 to 1; `null` where no send was to be.
        pub copied_share: Option<f64>,
        /// Mean number of messages in flight by Little's law (throughput × mean
        /// latency, a flow): median over trials.
        pub little_outstanding: Option<f64>,
        /// Messages that the acknowledgement lets be in flight, a flow.
        pub window: Option<u64>,
    }
}

document! {
    /// Two ways of sending the same stream, compared at every field size that has both, at one
    /// number of flows.
    pub struct Crossing {
        /// The one that may be overtaken, as the suite calls it.
        pub first: String,
        /// The one that may overtake it.
        pub second: String,
        /// Flows.
        pub flows: u32,
        /// The sizes, from small to large.
        pub points: Vec<CrossingPoint>,
        /// Bytes of a field from which on the second is faster at every size; `null` where it
        /// is not at the largest.
        pub from_field_bytes: Option<u32>,
    }
}

document! {
    /// The two ways at one size.
    pub struct CrossingPoint {
        /// Bytes of a field.
        pub field_bytes: u32,
        /// The case of the second way.
        pub case: String,
        /// Its median message as a multiple of that of the first (the baseline), paired by
        /// round. Below 1 the second is faster.
        pub ratio: Ratio,
        /// Which one is faster, if the interval of the multiple excludes 1.
        pub faster: Faster,
    }
}

document! {
    /// Which of two is faster.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Faster {
        /// The first.
        First,
        /// The second.
        Second,
        /// They are not told apart.
        Neither,
        /// They are told to be equal within the margin of a search.
        Equal,
    }
}
