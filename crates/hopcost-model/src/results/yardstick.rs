//! Yardsticks over a run, and what was adjusted by them.

use crate::document;
use crate::raw::{Reference, YardstickClass};

document! {
    /// A yardstick over the run.
    pub struct YardstickLevel {
        /// What it does.
        pub class: YardstickClass,
        /// Canonical spelling of the case that its processes played.
        pub case: String,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Its speed on the quiet machine, as it was known before the run; `null` where none was.
        pub reference: Option<Reference>,
        /// How the run stands to that.
        pub speed: Speed,
        /// How many times as long as on the quiet machine its operations took; `null` where that
        /// is not known.
        pub slower: Option<f64>,
        /// The run's own speed: trimmed mean of the readings, those that were interrupted aside.
        pub own_ns: f64,
        /// What one operation took: median over the readings of the run.
        pub p50_ns: f64,
        /// The 5th percentile of the readings.
        pub p5_ns: f64,
        /// The 95th.
        pub p95_ns: f64,
        /// Readings.
        pub readings: u32,
        /// How much of the spread of the readings is the machine's and not their own error,
        /// 0 to 1; `null` with too few of them.
        pub reliability: Option<f64>,
        /// Its speed beside the undisturbed trials of this run; `null` with too few of them.
        pub taught: Option<Reference>,
    }
}

document! {
    /// How a run stands to the quiet speed of its machine.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Speed {
        /// The quiet speed is not known yet.
        Unknown,
        /// Within 5 % of it.
        Quiet,
        /// Slower.
        Slower,
        /// More than three times slower: too far to say what the quiet machine would do.
        TooFar,
        /// Faster, so that the stored speed is wrong and the run drops it.
        Wrong,
        /// The two CPUs are another distance apart than when the speed was learnt.
        OtherPair,
        /// Other work kept the CPUs from idling, which makes wake-ups faster or slower.
        KeptAwake,
    }
}

document! {
    /// Whether the trials of a class were adjusted by their yardstick, and what says so.
    pub struct Adjustment {
        /// The class.
        pub class: YardstickClass,
        /// What the ends of its cases are written in (`rust`, `python:rust`).
        pub runtime: String,
        /// Cases of the class in the run.
        pub cases: u32,
        /// Trials of these.
        pub trials: u32,
        /// What was decided.
        pub applied: Applied,
        /// Relative change of a value over that of the yardstick, the error of the readings
        /// taken out; `null` where the yardstick hardly varied.
        pub elasticity: Option<f64>,
        /// Lower end of its 95 % interval.
        pub elasticity_low: Option<f64>,
        /// Upper end.
        pub elasticity_high: Option<f64>,
        /// Share of the variance of the values between trials that dividing removes; negative
        /// where it would add to it.
        pub removed_share: Option<f64>,
    }
}

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
