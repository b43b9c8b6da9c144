//! Yardsticks over a run, and what was divided by them.

use crate::document;
use crate::raw::YardstickClass;

document! {
    /// A yardstick over the run.
    pub struct YardstickLevel {
        /// What it does.
        pub class: YardstickClass,
        /// Canonical spelling of the case that its processes played.
        pub case: String,
        /// The CPUs of its ends, the caller's first.
        pub cpus: Vec<u32>,
        /// Its quiet level on this machine; `null` where none was known.
        pub reference_ns: Option<f64>,
        /// Id of the run that this level was learnt from, or `calibrate`.
        pub reference_from: Option<String>,
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
    }
}

document! {
    /// Whether the trials of a class were divided by their yardstick, and what says so.
    pub struct Adjustment {
        /// The class.
        pub class: YardstickClass,
        /// What the ends of its cases are written in (`rust`, `python:rust`).
        pub runtime: String,
        /// Cases of the class in the run.
        pub cases: u32,
        /// Trials of these.
        pub trials: u32,
        /// What became of it.
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
    /// What became of dividing by a yardstick.
    #[derive(Copy, Eq)]
    #[serde(rename_all = "kebab-case")]
    pub enum Applied {
        /// Values are at the reference speed.
        Divided,
        /// The machine was at its reference speed: values are as met, which is the same.
        NotNeeded,
        /// The class did not follow its yardstick: values are as met.
        Refused,
        /// The yardstick is more than three times off its reference, so that one of the two is
        /// wrong: values are as met.
        Far,
        /// No reference level is known: values are as met.
        NoReference,
        /// Other tasks had the CPU for a visible part of the trials: values are as met.
        Shared,
    }
}
