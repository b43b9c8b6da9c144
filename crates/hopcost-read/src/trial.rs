//! One trial reduced to its own statistics: of a stream its throughput by the receivers' clock, of a load
//! how late its sender was by itself, and which of its messages count.

use hopcost_model::{
    Ack, Case, ClockReading, EndCounters, RawLoad, RawTrial, Role, Stamp, Statistic,
};
use hopcost_stats::effective::{n_eff, publishable};
use hopcost_stats::sample::{Sample, median, rank};

use crate::sums::total;

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
    raw.error.is_none().then_some(())?;
    let mut values = values(case, raw, clock).ok().filter(|values| !values.is_empty())?;
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
        let values = values(case, raw, clock)?;
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
            Family::Each => {
                ANCHORS.map(|q| n_eff(&values, sample.values(), q).map_or(0.0, |(count, _)| count))
            }
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
fn values(case: &Case, raw: &RawTrial, clock: &ClockReading) -> Result<Vec<f64>, String> {
    let stamp = raw.stamp.ok_or("the trial has no stamp")?;
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

/// What a trial of a stream moved in which time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bits of all flows over the time from the first byte of any to the last byte
    /// of any.
    pub aggregate_gbps: f64,
    /// Bits of a flow over its own time: median over flows.
    pub per_flow_gbps: f64,
    /// Messages of all flows over the same time as `aggregate_gbps`.
    pub messages_per_s: f64,
    /// Its inverse, in nanoseconds.
    pub ns_per_message: f64,
    /// Mean number of messages of a flow in flight, by Little's law: messages a
    /// second at the senders times their mean latency. Absent without latencies.
    pub little_outstanding: Option<f64>,
}

/// The rates of a trial; `None` unless each receiver says what it got and when.
pub fn rates(raw: &RawTrial, ticks_per_second: f64) -> Option<Rates> {
    let of = |role: Role| raw.ends.iter().filter(move |end| end.role == role);
    let callees: Vec<&EndCounters> = of(Role::Callee).collect();
    let stamped = |end: &&EndCounters| end.first_tick > 0 && end.elapsed_ticks > 0 && end.bytes > 0;
    if callees.is_empty() || !callees.iter().all(stamped) || raw.operations == 0 {
        return None;
    }
    let tick_ns = 1e9 / ticks_per_second;
    let first = callees.iter().map(|end| end.first_tick).min()?;
    let last = callees.iter().map(|end| end.first_tick.saturating_add(end.elapsed_ticks)).max()?;
    let span_ns = (last - first) as f64 * tick_ns;
    let bytes = total(callees.iter().map(|end| end.bytes)) as f64;
    // Bits per nanosecond are gigabits (10⁹ bits) per second.
    let of_flow =
        |end: &&EndCounters| end.bytes as f64 * 8.0 / (end.elapsed_ticks as f64 * tick_ns);
    let messages = raw.operations as f64;
    let found = Rates {
        aggregate_gbps: bytes * 8.0 / span_ns,
        per_flow_gbps: median(callees.iter().map(of_flow))?,
        messages_per_s: messages / span_ns * 1e9,
        ns_per_message: span_ns / messages,
        little_outstanding: little(raw, &of(Role::Caller).collect::<Vec<_>>()),
    };
    let finite = [found.aggregate_gbps, found.messages_per_s, found.ns_per_message];
    finite.iter().all(|value| value.is_finite() && *value > 0.0).then_some(found)
}

/// Messages of all flows over the sum of their times, times the mean latency: what the flows had
/// in flight, weighted by their times. The mean of the flows' own rates would not do, because a
/// slow flow's rate counts as much as a fast one's and its latencies are longer.
fn little(raw: &RawTrial, callers: &[&EndCounters]) -> Option<f64> {
    if raw.samples.is_empty() || callers.iter().any(|end| end.elapsed_ticks == 0) {
        return None;
    }
    let messages = total(callers.iter().map(|end| end.count)) as f64;
    let elapsed = total(callers.iter().map(|end| end.elapsed_ticks)) as f64;
    let latency = raw.samples.iter().map(|t| *t as f64).sum::<f64>() / raw.samples.len() as f64;
    (!callers.is_empty()).then(|| messages / elapsed * latency)
}

/// Share of the response's p99 that the sender may be late by itself, and of the typical response that it
/// may be for a message that counts.
pub const LAG_MAX: f64 = 0.10;
/// A sender that reads its clock in a loop leaves it at most this many readings late.
const STAMPS: f64 = 4.0;
/// The most of a trial's messages that are left out.
pub const LEFT_OUT_MAX: f64 = 0.05;

/// How late the sender of a trial was without the channel, p99: over the p99 of the responses.
pub fn late_alone(trial: &RawTrial, load: &RawLoad) -> Option<f64> {
    Some(load.generator_lag_p99_ticks as f64 / response(trial, 0.99)?.max(1) as f64)
}

fn response(trial: &RawTrial, q: f64) -> Option<u64> {
    let mut responses = trial.samples.clone();
    let at = rank(responses.len(), q).checked_sub(1)?;
    Some(*responses.select_nth_unstable(at).1)
}

/// Which messages of a trial the sender sent in time, as far as it left its waits in time.
pub struct InTime {
    sent: Vec<bool>,
    /// The share of the others.
    pub late_share: f64,
}

/// The same of this trial; `None` where its sender does not report when it left its waits.
pub fn in_time(trial: &RawTrial, clock: &ClockReading) -> Option<InTime> {
    let own = trial.load.as_ref()?.own_lags.as_ref().filter(|own| !own.is_empty())?;
    let few_stamps = STAMPS * clock.stamp_p50_ns * clock.ticks_per_second / 1e9;
    let limit = few_stamps.max(LAG_MAX * response(trial, 0.5)? as f64);
    let sent: Vec<bool> = own.iter().map(|own| *own as f64 <= limit).collect();
    let late = sent.iter().filter(|in_time| !**in_time).count();
    Some(InTime { late_share: late as f64 / sent.len() as f64, sent })
}

/// These values of a trial's messages without those of messages that the sender by itself sent late: they
/// say nothing of the channel. All of them where more are late than may be left out.
pub fn counted(in_time: Option<&InTime>, of_messages: &[u64]) -> Vec<u64> {
    match in_time {
        Some(of) if of.late_share <= LEFT_OUT_MAX => {
            let counts = |(at, _): &(usize, &u64)| of.sent.get(*at) != Some(&false);
            of_messages.iter().enumerate().filter(counts).map(|(_, ticks)| *ticks).collect()
        }
        _ => of_messages.to_vec(),
    }
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
