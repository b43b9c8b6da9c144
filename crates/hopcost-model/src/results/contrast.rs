//! The ratio of two cases, and where it lies.

use std::cmp::Ordering;

use crate::document;

document! {
    /// Where a number lies against a region.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// In it.
        Inside,
        /// Beside it, on the side of the number.
        Outside,
        /// The units do not show it.
        Open,
    }
}

impl Verdict {
    /// Whether a number is less than one, as much or more, where that is decided.
    pub fn side(self, number: f64, than: f64) -> Option<Ordering> {
        match self {
            Self::Open => None,
            Self::Inside => Some(Ordering::Equal),
            Self::Outside => number.partial_cmp(&than),
        }
    }
}

document! {
    /// The ratio of the same statistic of two cases, unit by unit.
    #[derive(Copy)]
    pub struct Contrast {
        /// The time of the case over that of the baseline.
        pub ratio: f64,
        /// Lower end of its interval; `null` with too few units.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
        /// Nominal coverage of this interval, 0 to 1.
        pub coverage: f64,
        /// Blocks or hosts in which both were measured, or the runs of the side that has fewer.
        pub n: u32,
        /// Where the ratio lies against the margin around 1.
        pub verdict: Verdict,
        /// Blocks or hosts, or runs a side, that would probably decide; `null` where these do, or
        /// where the ratio lies at the margin.
        pub more: Option<u32>,
    }
}

impl Contrast {
    /// Whether the case takes less, as much or more, where that is decided.
    pub fn side(&self) -> Option<Ordering> {
        self.verdict.side(self.ratio, 1.0)
    }

    /// Both ends of the interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}
