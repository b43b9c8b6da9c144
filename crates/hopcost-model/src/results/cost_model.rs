//! Costs split into a fixed and a per-byte part.

use super::statistic::Estimate;
use crate::document;

document! {
    /// A cost split into a fixed and a per-byte part (Hockney): `fixed_ns` +
    /// `per_byte_ns` × bytes.
    pub struct CostModel {
        /// What was swept.
        pub label: String,
        /// The cases, by size.
        pub cases: Vec<String>,
        /// Cost at size 0.
        pub fixed_ns: Option<Estimate>,
        /// Cost of each further byte.
        pub per_byte_ns: Option<Estimate>,
        /// Greatest relative distance of a measured size from the line.
        pub residual_max: Option<f64>,
        /// Why no line is given.
        pub refused: Option<String>,
    }
}
