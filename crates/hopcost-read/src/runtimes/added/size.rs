//! A size with what a runtime adds at it.

use std::collections::BTreeMap;

use hopcost_model::results::Estimate;
use hopcost_stats::sample::median;

use crate::estimate::over_trials;

/// A size with what was found at it, paired by round.
pub struct Size {
    /// Bytes of a message.
    pub bytes: u32,
    /// The runtime's round trip and Rust's, by round.
    pub rounds: BTreeMap<u32, (f64, f64)>,
}

impl Size {
    fn over(&self, of: impl Fn(f64, f64) -> f64, estimand: &str) -> Estimate {
        let values = self.rounds.values().map(|(foreign, rust)| of(*foreign, *rust));
        over_trials(values.collect(), format!("median over rounds of {estimand}"))
    }
    /// The runtime's round trip less Rust's.
    pub fn difference(&self) -> Estimate {
        self.over(|foreign, rust| foreign - rust, "the runtime's round trip less Rust's")
    }
    /// The difference as a multiple of all of Rust's round trip.
    pub fn of_rust(&self) -> Estimate {
        self.over(|foreign, rust| (foreign - rust) / rust, "the difference over Rust's round trip")
    }
    /// The difference as a share of the runtime's own.
    pub fn share(&self) -> Estimate {
        self.over(|foreign, rust| (foreign - rust) / foreign, "the difference over the runtime's")
    }
    /// The typical difference.
    pub fn typical(&self) -> f64 {
        let values: Vec<f64> = self.rounds.values().map(|(foreign, rust)| foreign - rust).collect();
        median(&values).unwrap_or(0.0)
    }
}
