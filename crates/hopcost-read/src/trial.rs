//! One trial reduced to its own statistics.

use hopcost_model::case::{Ack, Case};
use hopcost_model::protocol::{ClockReading, Stamp};
use hopcost_model::raw::RawTrial;
use hopcost_model::results::Statistic;
use hopcost_stats::effective::{n_eff, publishable};
use hopcost_stats::sample::{Sample, rank};

use crate::lateness::{counted, in_time};
use crate::rates::rates;

/// What kind of number a stamp leaves; the two never share a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Durations of single operations.
    Each,
    /// Costs per operation, averaged over a batch.
    Batch,
}

impl Family {
    /// The family of a stamp.
    pub fn of(stamp: Stamp) -> Self {
        match stamp {
            Stamp::Each => Family::Each,
            Stamp::Batch { .. } | Stamp::TwoLengths { .. } => Family::Batch,
        }
    }
}

/// The quantiles whose effective sample count is computed, ascending; between
/// two of them the smaller count of both holds.
pub const ANCHORS: [f64; 7] = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999];

/// A measured trial.
pub struct Trial {
    /// What kind of number its samples are.
    pub family: Family,
    /// Nanoseconds of each operation (or per operation of each batch, or pair of
    /// batches), sorted. Those of pairs may be zero or negative.
    pub sample: Sample,
    /// Effective samples at each of [`ANCHORS`]; zeros for batches, which have no
    /// percentiles.
    pub n_eff: [f64; ANCHORS.len()],
    /// The longest operation, exactly (meaningless for batches).
    pub max_ns: f64,
    /// The finest difference per operation that the clock resolves.
    pub resolution_ns: f64,
    /// How much slower than at the run's own speed the machine was beside it; `None` where its
    /// case is not adjusted.
    pub factor: Option<f64>,
    /// Whether pairs of batches were subtracted, so that the loop is not in it.
    pub differences: bool,
    /// Time of the phase over its operations, where several are in flight.
    pub per_trip_ns: Option<f64>,
}

/// The headline of a trial before anything else is known of it: for what must be decided
/// about a run before its trials are reduced. `None` where it has none above zero.
pub fn headline_ns(case: &Case, raw: &RawTrial, clock: &ClockReading) -> Option<f64> {
    let stamp = raw.stamp.filter(|_| raw.error.is_none())?;
    let values = values(case, raw, stamp, clock);
    let mut values = values.ok().filter(|values| !values.is_empty())?;
    let at = rank(values.len(), 0.5) - 1;
    let value = *values.select_nth_unstable_by(at, f64::total_cmp).1;
    (value > 0.0 && value.is_finite()).then_some(value)
}

impl Trial {
    /// Reduces a trial that reported no error. A stream without acknowledgements is one batch of all its
    /// messages.
    ///
    /// # Errors
    /// In one line, why its samples cannot be read.
    pub fn new(case: &Case, raw: &RawTrial, clock: Option<&ClockReading>) -> Result<Self, String> {
        let stamp = raw.stamp.ok_or("the trial has no stamp")?;
        let clock = clock.ok_or("the run has no clock reading to turn ticks into time")?;
        if !(clock.ticks_per_second > 0.0 && clock.ticks_per_second.is_finite()) {
            return Err(format!("the clock claims {} ticks a second", clock.ticks_per_second));
        }
        let tick_ns = 1e9 / clock.ticks_per_second;
        let values = values(case, raw, stamp, clock)?;
        let n = match stamp {
            Stamp::Each => 1,
            Stamp::Batch { n } | Stamp::TwoLengths { n } => n,
        };
        if values.is_empty() {
            return Err("the trial left no samples".to_owned());
        }
        let sample = Sample::new(values.clone()).ok_or("its ticks are not a finite time")?;
        let family = if case.ack == Some(Ack::None) { Family::Batch } else { Family::of(stamp) };
        let n_eff = match family {
            Family::Each => effective_counts(&values, sample.values()),
            Family::Batch => [0.0; ANCHORS.len()],
        };
        let max_ticks = raw.samples.iter().copied().fold(raw.samples_max_ticks, u64::max);
        Ok(Self {
            family,
            sample,
            n_eff,
            max_ns: max_ticks as f64 * tick_ns,
            resolution_ns: clock.resolution_ticks as f64 * tick_ns / n as f64,
            factor: None,
            differences: matches!(stamp, Stamp::TwoLengths { .. }),
            per_trip_ns: None,
        })
    }

    /// The trial's headline: p50 of its operations, or median of its batches.
    pub fn value_ns(&self) -> f64 {
        if self.differences { self.sample.median() } else { self.sample.quantile(0.5) }
    }

    /// What its times are divided by where it is compared with others.
    pub fn slower(&self) -> f64 {
        self.factor.unwrap_or(1.0)
    }

    /// Effective samples for the quantile `q`. What lies beyond a quantile farther out lies
    /// beyond this one too, so that none lacks support where one farther out has it.
    pub fn n_eff_at(&self, q: f64) -> f64 {
        let after = ANCHORS.partition_point(|anchor| *anchor < q).min(ANCHORS.len() - 1);
        let before = if ANCHORS[after] <= q { after } else { after.saturating_sub(1) };
        let own = self.n_eff[before].min(self.n_eff[after]);
        let beyond = |q: f64| q.min(1.0 - q);
        let farther = ANCHORS.iter().zip(self.n_eff);
        farther
            .filter(|(at, _)| if q < 0.5 { **at < q } else { q > 0.5 && **at > q })
            .map(|(at, n_eff)| n_eff * beyond(*at) / beyond(q))
            .fold(own, f64::max)
    }

    /// The trial's own value of a statistic; `None` where its samples do not support it
    /// or where it means nothing for batches.
    pub fn statistic(&self, statistic: Statistic) -> Option<f64> {
        let each = self.family == Family::Each;
        match statistic {
            Statistic::Cost => (!each).then(|| self.value_ns()),
            Statistic::P50 => each.then(|| self.value_ns()),
            Statistic::Min | Statistic::Least => each.then(|| self.sample.min()),
            Statistic::Mean => each.then(|| self.sample.mean()),
            Statistic::Stdev => self.sample.stdev().filter(|_| each),
            Statistic::Max => each.then_some(self.max_ns),
            Statistic::PerTrip => self.per_trip_ns,
            _ => statistic.quantile().and_then(|q| self.quantile(q)),
        }
    }

    /// The quantile `q`, if the trial's own samples support it.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        publishable(self.n_eff_at(q), q).then(|| self.sample.quantile(q))
    }
}

/// Nanoseconds per operation, in time order. Of a stream without acknowledgements nothing was timed but
/// the whole: the time from the first byte of any flow to the last byte of any, over messages.
fn values(
    case: &Case,
    raw: &RawTrial,
    stamp: Stamp,
    clock: &ClockReading,
) -> Result<Vec<f64>, String> {
    let tick_ns = 1e9 / clock.ticks_per_second;
    let ticks = |t: &u64| *t as f64 * tick_ns;
    match stamp {
        _ if case.ack == Some(Ack::None) => match rates(raw, clock.ticks_per_second) {
            Some(rates) => Ok(vec![rates.ns_per_message]),
            None => Err("its receivers report no time of the first and the last byte".to_owned()),
        },
        Stamp::Each if raw.load.is_some() => {
            Ok(counted(in_time(raw, clock).as_ref(), &raw.samples).iter().map(ticks).collect())
        }
        Stamp::Each => Ok(raw.samples.iter().map(ticks).collect()),
        Stamp::Batch { n: 0 } | Stamp::TwoLengths { n: 0 } => {
            Err("a batch of no operations has no cost".to_owned())
        }
        Stamp::Batch { n } => Ok(raw.samples.iter().map(|t| ticks(t) / n as f64).collect()),
        Stamp::TwoLengths { n } => {
            // Thinning keeps the two batches of a pair together.
            if !raw.samples.len().is_multiple_of(2) {
                return Err("a batch has lost its pair".to_owned());
            }
            let pairs = raw.samples.chunks_exact(2);
            Ok(pairs.map(|pair| (ticks(&pair[1]) - ticks(&pair[0])) / n as f64).collect())
        }
    }
}

fn effective_counts(in_time_order: &[f64], sorted: &[f64]) -> [f64; ANCHORS.len()] {
    let mut last: Option<(usize, f64)> = None;
    ANCHORS.map(|q| {
        // Anchors that share a rank (few samples) share the count.
        let rank = rank(sorted.len(), q);
        match last {
            Some((same, count)) if same == rank => count,
            _ => {
                let count = n_eff(in_time_order, sorted, q).map_or(0.0, |(count, _)| count);
                last = Some((rank, count));
                count
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Builder, PIPE, clock};

    fn reduced(make: impl Fn(&mut crate::testing::TrialBuilder)) -> Result<Trial, String> {
        let raw = Builder::new().case(PIPE, 1, |_, trial| make(trial)).build();
        // Two ticks a nanosecond.
        Trial::new(&raw.plan.cases[0].case, &raw.trials[0], Some(&clock(0, 2e9)))
    }

    #[test]
    fn ticks_become_nanoseconds_of_one_operation() {
        let each = reduced(|t| t.each(&[20, 40, 60, 80, 100, 1000])).unwrap();
        assert_eq!(each.value_ns(), 30.0);
        assert_eq!(each.max_ns, 500.0);
        let batch = reduced(|t| t.batch(10, &[200, 220, 180])).unwrap();
        assert_eq!(batch.value_ns(), 10.0);
        let two = reduced(|t| t.two_lengths(10, &[100, 300, 120, 100, 110, 310])).unwrap();
        assert_eq!(two.sample.values(), [-1.0, 10.0, 10.0]);
        assert!(two.differences);
    }

    #[test]
    fn what_a_trial_cannot_say() {
        let few = reduced(|t| t.each(&[20; 5])).unwrap();
        assert_eq!(few.quantile(0.5), None);
        let some = reduced(|t| t.each(&[20; 999])).unwrap();
        assert!(some.quantile(0.9).is_some() && some.quantile(0.99).is_none());
        let enough = reduced(|t| t.each(&[20; 1000])).unwrap();
        assert!(enough.quantile(0.99).is_some() && enough.quantile(0.999).is_none());
        assert_eq!(reduced(|t| t.batch(10, &[200; 2000])).unwrap().quantile(0.5), None);
    }

    #[test]
    fn broken_trials_say_why() {
        let errors = [
            (reduced(|t| t.each(&[])), "no samples"),
            (reduced(|t| t.batch(0, &[5])), "no operations"),
            (reduced(|t| t.two_lengths(5, &[5])), "lost its pair"),
        ];
        for (result, why) in errors {
            let error = result.err().unwrap();
            assert!(error.contains(why), "{error}");
        }
        let raw = Builder::new().case(PIPE, 1, |_, t| t.each(&[5; 9])).build();
        let of = |clock| Trial::new(&raw.plan.cases[0].case, &raw.trials[0], clock);
        assert!(of(None).err().unwrap().contains("clock"));
        assert!(of(Some(&clock(0, 0.0))).is_err());
    }
}
