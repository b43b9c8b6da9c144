//! Streams.

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
        /// Share of the zero-copy sends that the kernel copied, 0 to 1; `null` if there were none.
        pub copied_share: Option<f64>,
        /// Mean number of messages in flight by Little's law (throughput × mean
        /// latency, a flow): median over trials.
        pub little_outstanding: Option<f64>,
        /// Messages that the acknowledgement lets be in flight, a flow.
        pub window: Option<u64>,
    }
}
