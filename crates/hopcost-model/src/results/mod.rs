//! The parts of results that more than one stage needs. The results themselves stand in `hopcost-read`,
//! each beside the function that fills it.

mod advice;
mod contrast;
mod judged;
mod ratio;
mod segment;
mod statistic;

use crate::document;

pub use crate::columns::CaseParts;
pub use advice::*;
pub use contrast::{Contrast, Verdict};
pub use judged::*;
pub use ratio::Ratio;
pub use segment::*;
pub use statistic::{Estimate, Estimates, Quiet, Statistic};

document! {
    /// What an answer gives times in.
    #[derive(Copy, Eq, Default)]
    #[serde(rename_all = "kebab-case")]
    pub enum TimeUnit {
        /// Nanoseconds and their multiples.
        #[default]
        Ns,
        /// Ticks of the clock that stamps, as far as their rate is known.
        Ticks,
    }
}
