//! Loads: messages at a fixed rate.

use super::statistic::Estimate;
use crate::case::Arrivals;
use crate::document;

document! {
    /// What is particular to a load. Its estimates are responses: received minus intended,
    /// of the messages that came.
    pub struct LoadResult {
        /// Messages a second that the schedule offers.
        pub rate: u32,
        /// When they are to be sent.
        pub arrivals: Arrivals,
        /// Messages a second that were received, from the first intended time to the last
        /// receipt.
        pub received_per_s: Estimate,
        /// How long the schedule is over how long it took until the last message was sent and
        /// the last received, 0 to 1: median over trials. 1 where the rate was kept.
        pub achieved: Option<f64>,
        /// Share of the messages offered that did not come, 0 to 1, though the case drops none
        /// of them.
        pub lost_share: f64,
        /// Share of the messages offered that were dropped because the case says so.
        pub dropped_share: f64,
        /// Begin of the send minus intended: how long messages waited for the sender.
        pub lag: LoadQuantiles,
        /// Of the lag, what is the sender's own: it was there in time and left its wait late.
        pub own_lag: LoadQuantiles,
        /// Of the lag, what the mechanism held the sender up for: a send had not returned yet.
        pub held_lag: LoadQuantiles,
        /// Share of the messages for which the sender was late by itself by more than a tenth of
        /// the response's p99: median over trials; `null` if the sender did not report it.
        pub own_late_share: Option<f64>,
        /// Received minus begin of the send.
        pub service: LoadQuantiles,
        /// How late the sender is by itself, without a channel: median over trials of the 99th
        /// percentile.
        pub generator_lag_p99_ns: Option<f64>,
        /// Largest error that the clocks' offset can put on every response: the largest over
        /// the trials.
        pub clock_bound_ns: Option<f64>,
    }
}

document! {
    /// Quantiles of the messages of all trials together; `null` where fewer than ten of them
    /// are beyond.
    pub struct LoadQuantiles {
        /// Median.
        pub p50_ns: Option<f64>,
        /// 99th percentile.
        pub p99_ns: Option<f64>,
        /// 99.9th percentile.
        pub p999_ns: Option<f64>,
    }
}

document! {
    /// Loads that differ in their rate alone: how much gets through, and up to which rate
    /// responses stay short.
    pub struct LoadCurve {
        /// Ids of the cases, by ascending rate.
        pub cases: Vec<String>,
        /// Messages a second received at the rate at which most were; `null` where nothing was.
        pub capacity_per_s: Option<Estimate>,
        /// p99 of the response at the least rate; `null` where it has too few messages for one.
        pub unloaded_p99_ns: Option<f64>,
        /// The largest rate at which the p99 is at most twice the unloaded one, no message
        /// was lost, 99 % of the rate was achieved and the generator was on time; `null` where
        /// there is none.
        pub knee: Option<LoadKnee>,
        /// Capacity and knee in a sentence.
        pub says: String,
    }
}

document! {
    /// Rates between which the knee lies, by the intervals of the p99s.
    #[derive(Copy)]
    pub struct LoadKnee {
        /// By the p99s as they are.
        pub rate: u32,
        /// The largest rate that passes even if its p99 is at the upper end of its interval and
        /// the unloaded one at the lower.
        pub low: u32,
        /// The largest that passes if they are at the other ends.
        pub high: u32,
        /// Whether the greatest rate of all passes, so that the knee is there or beyond.
        pub at_least: bool,
    }
}
