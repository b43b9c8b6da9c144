//! The statistics of a case, one row each: their names, what is found of one, and the map
//! from them to that. Adding one is a row here and its value in `hopcost-read`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

document! {
    /// A statistic with its interval across trials.
    #[derive(Default)]
    pub struct Estimate {
        /// The raw value; `null` if insufficient.
        pub point: Option<f64>,
        /// Lower end of the interval; `null` if there is none.
        pub low: Option<f64>,
        /// Upper end of the interval.
        pub high: Option<f64>,
        /// Coverage of the interval: exact where it is by rank (0.9609 for ranks 2 and 8 of 9
        /// trials), nominal where it is for the next run.
        pub level: Option<f64>,
        /// Trials behind it.
        pub n_trials: u32,
        /// Computed from the samples of all trials together, because a trial
        /// alone is too short for this quantile.
        pub pooled: bool,
        /// Why there is no value or no interval.
        pub insufficient: Option<String>,
        /// Significant digits that the spread between trials supports.
        pub digits: u8,
        /// Not distinguishable from the empty loop: read `point` as "at most".
        pub at_most: bool,
        /// The value to expect on the quiet machine; `null` where the machine ran at its quiet
        /// speed, and where that speed is not known.
        pub quiet: Option<Quiet>,
    }

    /// What a value would be on the quiet machine.
    #[derive(Copy)]
    pub struct Quiet {
        /// The value.
        pub point: f64,
        /// Lower end of its interval for the next run on the quiet machine.
        pub low: Option<f64>,
        /// Upper end.
        pub high: Option<f64>,
    }
}

words! {
    /// A statistic of a case, in the order in which documents list them; its name has its unit.
    Statistic, "statistic" {
        /// Cost of one operation in batches (median over trials of the median over batches).
        Cost = "cost_ns",
        /// Median.
        P50 = "p50_ns",
        /// 90th percentile.
        P90 = "p90_ns",
        /// 95th percentile (`wake` only).
        P95 = "p95_ns",
        /// 99th percentile.
        P99 = "p99_ns",
        /// 99.9th percentile.
        P999 = "p999_ns",
        /// Least of a trial.
        Min = "min_ns",
        /// Least of all trials (no interval; of the samples that were kept).
        Least = "least_ns",
        /// Mean (of `wake`, of the samples of all trials).
        Mean = "mean_ns",
        /// Standard deviation of the samples of all trials (`wake` only).
        Stdev = "stdev_ns",
        /// Greatest of all trials, exactly (no interval).
        Max = "max_ns",
        /// Time of the measured phase over its round trips, where several are in flight (`window`
        /// above 1 only); the percentiles are of the response time of one.
        PerTrip = "per_trip_ns",
    }
}

impl Statistic {
    /// Name without its unit, as in tables for people (`p99.9`).
    pub fn label(self) -> &'static str {
        match self {
            Statistic::P999 => "p99.9",
            Statistic::PerTrip => "per trip",
            _ => self.word().trim_end_matches("_ns"),
        }
    }

    /// The quantile that it is, 0 to 1.
    pub const fn quantile(self) -> Option<f64> {
        Some(match self {
            Statistic::P50 => 0.5,
            Statistic::P90 => 0.9,
            Statistic::P95 => 0.95,
            Statistic::P99 => 0.99,
            Statistic::P999 => 0.999,
            _ => return None,
        })
    }

    /// The statistic of a label.
    pub fn of_label(label: &str) -> Option<Statistic> {
        Self::ALL.iter().copied().find(|statistic| statistic.label() == label)
    }
}

/// A statistic's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    Exact(f64),
    Interval(Estimate),
}

/// Estimates of a case. Each is a median over trials of the trial's own
/// statistic, unless it says `pooled`. For batches only `cost_ns` stands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimates(BTreeMap<Statistic, Value>);

impl Estimates {
    /// The estimate of a statistic with an interval, where there is one.
    pub fn get(&self, statistic: Statistic) -> Option<&Estimate> {
        match self.0.get(&statistic) {
            Some(Value::Interval(estimate)) => Some(estimate),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, statistic: Statistic) -> Option<&mut Estimate> {
        match self.0.get_mut(&statistic) {
            Some(Value::Interval(estimate)) => Some(estimate),
            _ => None,
        }
    }

    /// The value of a statistic without an interval, where there is one.
    pub fn exact(&self, statistic: Statistic) -> Option<f64> {
        match self.0.get(&statistic) {
            Some(Value::Exact(value)) => Some(*value),
            _ => None,
        }
    }

    /// Sets a statistic with an interval.
    pub fn set(&mut self, statistic: Statistic, estimate: Estimate) {
        self.0.insert(statistic, Value::Interval(estimate));
    }

    /// Sets a statistic without an interval.
    pub fn set_exact(&mut self, statistic: Statistic, value: f64) {
        self.0.insert(statistic, Value::Exact(value));
    }

    /// The number that a row is ranked by: the cost of batches, else the p50.
    pub fn headline(&self) -> Option<(Statistic, &Estimate)> {
        let of = |statistic| Some((statistic, self.get(statistic)?));
        of(Statistic::Cost).or_else(|| of(Statistic::P50))
    }

    /// Its value.
    pub fn headline_ns(&self) -> Option<f64> {
        self.headline()?.1.point
    }

    /// Those with an interval, in order.
    pub fn intervals(&self) -> impl Iterator<Item = (Statistic, &Estimate)> {
        self.0.keys().filter_map(|&statistic| Some((statistic, self.get(statistic)?)))
    }

    /// Those without, in order.
    pub fn exact_values(&self) -> impl Iterator<Item = (Statistic, f64)> {
        self.0.keys().filter_map(|&statistic| Some((statistic, self.exact(statistic)?)))
    }
}

impl Estimate {
    /// A value without an interval, such as the greatest of all trials.
    pub fn exact(value: f64, n_trials: u32) -> Self {
        Estimate { point: Some(value), n_trials, digits: 3, ..Self::default() }
    }

    /// The same in a unit of which so many are one of its own.
    pub fn times(mut self, factor: f64) -> Self {
        for value in [&mut self.point, &mut self.low, &mut self.high] {
            *value = value.map(|value| value * factor);
        }
        self.quiet = self.quiet.map(|quiet| quiet.map(|value| value * factor));
        self
    }

    /// Its value on the quiet machine as an estimate of its own.
    pub fn quietly(&self) -> Option<Self> {
        let Quiet { point, low, high } = self.quiet?;
        Some(Self { point: Some(point), low, high, quiet: None, ..self.clone() })
    }
}

impl Quiet {
    /// The same with a change to its value and its ends.
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self { point: change(self.point), low: self.low.map(&change), high: self.high.map(&change) }
    }
}
