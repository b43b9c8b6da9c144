//! Runtimes compared: the same mechanisms in several languages.

use super::ratio::Ratio;
use super::statistic::Estimate;
use crate::document;

document! {
    /// The same mechanisms in several runtimes.
    pub struct RuntimeComparison {
        /// Mechanisms by runtimes, one matrix for what may be compared.
        pub matrices: Vec<RuntimeMatrix>,
        /// What a stamp of each runtime costs.
        pub stamp_costs: Vec<StampCost>,
    }
}

document! {
    /// Mechanisms by the runtime of both ends.
    pub struct RuntimeMatrix {
        /// What the numbers are (`round trip, 64 bytes each way, two processes, one CPU`).
        pub title: String,
        /// Runtimes, in the order of the columns.
        pub runtimes: Vec<String>,
        /// One row a mechanism.
        pub rows: Vec<RuntimeRow>,
    }
}

document! {
    /// A mechanism in several runtimes.
    pub struct RuntimeRow {
        /// Mechanism, with its wait and parameters where they differ.
        pub label: String,
        /// One cell a runtime.
        pub cells: Vec<RuntimeCell>,
    }
}

document! {
    /// A mechanism in a runtime.
    pub struct RuntimeCell {
        /// Index into `results`; `null` where the plan has no such case.
        pub result: Option<u32>,
        /// p50, or the cost in batches.
        pub value: Option<Estimate>,
        /// Multiple of Rust's, paired by round.
        pub ratio: Option<Ratio>,
        /// Why there is no value.
        pub missing: Option<String>,
    }
}

document! {
    /// What a stamp costs.
    pub struct StampCost {
        /// The runtime.
        pub runtime: String,
        /// The case it was found with.
        pub case: String,
        /// Stamped exchanges less bare ones, each, by the clock of the end in Rust.
        pub by_rust_clock_ns: Option<Estimate>,
        /// Two readings of the runtime's own clock in a row: median.
        pub own_reading_ns: Option<f64>,
        /// The caller's clock over the callee's, over the same exchanges, less one, in
        /// parts per million: median over trials.
        pub clock_disagreement_ppm: Option<f64>,
        /// `by_rust_clock_ns` as a share of the case's p50.
        pub share: Option<f64>,
    }
}
