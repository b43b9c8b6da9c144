//! The parts of results that more than one stage needs. The results themselves stand in `hopcost-read`,
//! each beside the function that fills it.

mod advice;
mod contrast;
mod segment;
mod statistic;

use crate::document;

pub use crate::columns::CaseParts;
pub use advice::*;
pub use contrast::*;
pub use segment::*;
pub use statistic::{Estimate, Estimates, Quiet, Statistic};

document! {
    /// Whether contrasts compare trials adjusted by the readings beside them.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Applied {
        /// They do: the class follows its yardstick.
        Divided,
        /// The yardstick hardly varied, so there was nothing to adjust.
        NotNeeded,
        /// They do not: the class does not follow its yardstick.
        Refused,
        /// They do not: other tasks had the CPU for a visible part of the trials.
        Shared,
    }
}
