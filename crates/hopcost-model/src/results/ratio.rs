//! A multiple of another case.

use crate::document;

document! {
    /// A ratio with its interval, paired by round.
    pub struct Ratio {
        /// Case it refers to.
        pub baseline: String,
        /// Median over rounds of the ratio of the two trials of that round.
        pub point: f64,
        /// Lower end; `null` with fewer than six rounds.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Rounds in which both were measured.
        pub n_rounds: u32,
    }
}
