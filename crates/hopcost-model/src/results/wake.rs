//! Wake-ups, and what explains how they spread.

use super::statistic::Estimate;
use crate::case::IdleKnob;
use crate::document;

document! {
    /// What is particular to a wake-up. Its estimates are one-way times: the
    /// receiver's stamp minus the sender's, with the clocks' offset taken out.
    pub struct WakeResult {
        /// The gap asked for.
        pub gap_asked_ns: u64,
        /// Mean time from one notification to the next: median over trials. The gap
        /// really slept, with what the kernel's timer adds, is in it.
        pub gap_found_ns: Option<f64>,
        /// Largest error that the clocks' offset can put on every number of this
        /// case: the largest over its trials. 0 where both ends read one clock.
        pub clock_bound_ns: Option<f64>,
        /// Offset that was taken out (callee's clock minus caller's): median over trials.
        pub clock_offset_ns: Option<f64>,
        /// Largest change of the offset from before a trial to after it.
        pub clock_moved_ns: Option<f64>,
        /// Share of wake-ups that were deferred because the receiver was not yet
        /// waiting, 0 to 1.
        pub overrun_share: f64,
    }
}

document! {
    /// A case with an idle knob against the same case without.
    pub struct KnobPrice {
        /// The case without.
        pub without: String,
        /// The case with.
        pub with: String,
        /// The knob.
        pub knob: IdleKnob,
        /// p50 without minus p50 with, paired by round: what idling costs.
        pub difference_ns: Estimate,
    }
}
