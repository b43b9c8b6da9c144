//! Ratios of cases, where a number lies, and verdicts on claims.

use std::cmp::Ordering;

use crate::{document, words};

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
    /// Where a number with this interval lies against a region; open without an interval.
    pub fn of(ends: Option<(f64, f64)>, (least, most): (f64, f64)) -> Self {
        match ends {
            Some((low, high)) if least <= low && high <= most => Self::Inside,
            Some((low, high)) if high < least || most < low => Self::Outside,
            _ => Self::Open,
        }
    }

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

words! {
    /// What the data says of a claim.
    Ruling, "verdict" {
        /// It is true here.
        Holds = "holds",
        /// The numbers do not decide, or this machine cannot measure them.
        Undecided = "undecided",
        /// It is true under one condition and false under another.
        Depends = "depends",
        /// It is false here.
        Fails = "fails",
    }
}

impl Ruling {
    /// What `n` claims with this verdict do: `fails`, `fail`.
    pub fn verb(self, n: usize) -> &'static str {
        if n == 1 { self.word() } else { self.word().trim_end_matches('s') }
    }
}

document! {
    /// The unit of a number.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum JudgedUnit {
        /// A multiple of another number.
        Times,
        /// A count.
        Number,
        /// A share, 0 to 1.
        Share,
        /// Nanoseconds.
        Ns,
        /// Gigabits (10⁹ bits) per second.
        Gbps,
    }

    /// The numbers from `low` to `high`; `null` is an open end.
    #[derive(Copy, Default)]
    pub struct Region {
        /// Least.
        pub low: Option<f64>,
        /// Greatest.
        pub high: Option<f64>,
    }
}
