//! Estimates over the trials of a case.
//!
//! An estimate is nearly always the median over trials of the trial's own
//! statistic, with the order-statistic interval of a median. A quantile that the
//! typical trial is too short for is taken from the samples of all trials
//! together and says `pooled`; what even they do not support is `insufficient`.
//! Pooled are also the mean and the standard deviation of wake-ups: a few slow ones of
//! a few trials decide them, and the median over trials would leave just these out.

use std::borrow::Cow;

use hopcost_model::{Estimate, Estimates, Quiet, Statistic, Workload};
use hopcost_stats::effective::{MEDIAN_N_EFF_MIN, needed, publishable};
use hopcost_stats::interval::median_interval;
use hopcost_stats::next_run::{Dependence, TRIALS_MIN, next_run_interval, pooled_interval};
use hopcost_stats::pooled::{Pooled, pooled_moment, pooled_quantile};
use hopcost_stats::precision::{DIGITS_WITHOUT_INTERVAL, significant_digits};
use hopcost_stats::rng::SplitMix64;
use hopcost_stats::sample::Sample;
use hopcost_stats::{LEVEL, sample};

use crate::format;
use crate::trial::{Family, Trial};
use crate::yardstick::{Basis, Doubt};

/// The measured trials of a case, in time order, and what is known of them together.
pub struct Measured<'a> {
    pub trials: Vec<&'a Trial>,
    /// What kind of number they left.
    pub family: Family,
    /// What was done.
    pub workload: Workload,
    /// What an interval for the next run has to allow for; `None` in files whose intervals
    /// are of the run alone.
    pub doubt: Option<Doubt>,
    /// What its randomness follows from: the plan's seed, and its place in the plan.
    pub seeds: (u64, u64),
}

/// The estimates of a case's measured trials.
pub fn estimates(measured: &Measured) -> Option<Estimates> {
    let (trials, workload) = (&measured.trials, measured.workload);
    if trials.is_empty() {
        return None;
    }
    if measured.family == Family::Batch {
        let mut estimates = Estimates::default();
        estimates.set(Statistic::Cost, cost(measured));
        return Some(estimates);
    }
    let mut estimates = quantiles(measured, quantile);
    for (number, statistic) in (QUANTILES.len() as u64..).zip(MOMENTS) {
        if applies(statistic, workload) {
            let estimate = match statistic {
                Statistic::Mean | Statistic::Stdev if is_of_all(workload) => {
                    let seed = measured.seed(number);
                    measured.pooled(&|samples| pooled_moment(samples, statistic, LEVEL, seed))
                }
                _ => measured.over(&|trial| trial.statistic(statistic)),
            };
            estimates.set(statistic, estimate);
        }
    }
    if trials.iter().any(|trial| trial.per_trip_ns.is_some()) {
        estimates.set(Statistic::PerTrip, measured.over(&|trial| trial.per_trip_ns));
    }
    let own = |statistic| trials.iter().filter_map(move |trial| trial.statistic(statistic));
    if let Some(least) = own(Statistic::Least).min_by(f64::total_cmp) {
        estimates.set_exact(Statistic::Least, least);
    }
    if let Some(max) = own(Statistic::Max).max_by(f64::total_cmp) {
        estimates.set_exact(Statistic::Max, max);
    }
    Some(estimates)
}

/// A percentile that not every case has, beside its estimates.
pub fn percentile(measured: &Measured, percent: f64, known: &Estimates) -> Estimate {
    let (name, seed) = (format!("p{percent}"), measured.seed(percent.to_bits()));
    let mut found = quantile(measured, percent / 100.0, &name, seed);
    if let Some(p50) = known.get(Statistic::P50).filter(|_| percent > 50.0) {
        raise_to_median(&mut found, p50);
    }
    found
}

/// The quantiles that a workload has, by a function that finds one. None above the median is below it, in
/// any run.
fn quantiles(measured: &Measured, of: fn(&Measured, f64, &str, u64) -> Estimate) -> Estimates {
    let mut estimates = Estimates::default();
    for (number, statistic) in (0..).zip(QUANTILES) {
        if let Some(q) = statistic.quantile().filter(|_| applies(statistic, measured.workload)) {
            let mut found = of(measured, q, statistic.label(), measured.seed(number));
            // The median is the first of them.
            if let Some(p50) = estimates.get(Statistic::P50) {
                raise_to_median(&mut found, p50);
            }
            estimates.set(statistic, found);
        }
    }
    estimates
}

fn raise_to_median(estimate: &mut Estimate, p50: &Estimate) {
    let raise = |low: &mut Option<f64>, least: Option<f64>| {
        *low = low.map(|low| least.map_or(low, |least| low.max(least)));
    };
    raise(&mut estimate.low, p50.low);
    if let Some(of_quiet) = &mut estimate.quiet {
        raise(&mut of_quiet.low, p50.quiet.and_then(|quiet| quiet.low));
    }
}

/// A value with the ends of its interval.
type Found = (f64, (f64, f64));

impl Measured<'_> {
    /// The seed of one use of randomness, by its number.
    fn seed(&self, number: u64) -> u64 {
        let (of_plan, case) = self.seeds;
        SplitMix64(of_plan ^ (case << 8 | number)).next_u64()
    }

    /// The median over trials of one value each, with its interval.
    fn over(&self, of: &dyn Fn(&Trial) -> Option<f64>) -> Estimate {
        let own: Vec<(f64, f64)> =
            self.trials.iter().filter_map(|trial| Some((of(trial)?, trial.slower()))).collect();
        let met: Vec<f64> = own.iter().map(|(value, _)| *value).collect();
        let adjusted: Vec<f64> = own.iter().map(|(value, factor)| value / factor).collect();
        let found = |values: &[f64], dependence: Dependence| -> Option<Found> {
            Some((sample::median(values)?, interval(values, dependence)?))
        };
        let both = self
            .doubt
            .and_then(|doubt| Some((found(&met, doubt.met)?, found(&adjusted, doubt.adjusted)?)));
        let Some((of_met, of_adjusted)) = both else { return over_trials(met) };
        let found = self.of_both(of_met, of_adjusted);
        Estimate { n_trials: met.len() as u32, level: found.low.map(|_| LEVEL), ..found }
    }

    /// The raw value with its interval, from the raw values or the adjusted ones, and that of
    /// the quiet machine beside it. Trials of one moment have no interval.
    fn of_both(&self, (met, of_met): Found, (adjusted, of_adjusted): Found) -> Estimate {
        let Doubt { basis, span_s, .. } = self.doubt.unwrap_or_default();
        let moment = moment(span_s);
        let times = |(low, high): (f64, f64), factor: f64, point: f64| {
            // Logarithms and back may move an end past the value itself.
            Some(((low * factor).min(point), (high * factor).max(point)))
                .filter(|_| moment.is_none())
        };
        let ends = match basis {
            Basis::Adjusted => times(of_adjusted, met / adjusted, met),
            _ => times(of_met, 1.0, met),
        };
        let quiet = basis.of_quiet().map(|factor| {
            let point = adjusted * factor;
            let (low, high) = times(of_adjusted, factor, point).unzip();
            Quiet { point, low, high }
        });
        let found = between(met, ends, self.trials.len());
        Estimate { insufficient: moment.clone().or(found.insufficient.clone()), quiet, ..found }
    }
}

/// The least time from a case's first trial to its last that says anything of another run: the
/// host's states last from a tenth of a second to seconds.
const SPAN_MIN_S: f64 = 1.4;

/// Why trials in such a short time have no interval for the next run.
fn moment(span_s: f64) -> Option<String> {
    (span_s < SPAN_MIN_S).then(|| {
        format!(
            "this moment: its trials began within {}; an interval for the next run needs {} \
             (a longer --budget, or more --rounds)",
            format::ns(span_s * 1e9),
            format::ns(SPAN_MIN_S * 1e9)
        )
    })
}

/// The interval of the next run's median, where all values are above zero.
fn interval(values: &[f64], dependence: Dependence) -> Option<(f64, f64)> {
    let logs: Vec<f64> = values.iter().map(|value| libm::log(*value)).collect();
    next_run_interval(&logs, dependence, LEVEL).map(exp)
}

fn exp((low, high): (f64, f64)) -> (f64, f64) {
    (libm::exp(low), libm::exp(high))
}

/// The quantiles that are estimated. Each draws from a seed of its place here, so a new one goes last.
const QUANTILES: [Statistic; 5] =
    [Statistic::P50, Statistic::P90, Statistic::P99, Statistic::P999, Statistic::P95];

/// What is estimated besides. Each draws from a seed of its place after those.
const MOMENTS: [Statistic; 3] = [Statistic::Min, Statistic::Mean, Statistic::Stdev];

/// Whether mean and standard deviation of a workload are those of the samples of all trials.
fn is_of_all(workload: Workload) -> bool {
    applies(Statistic::Stdev, workload)
}

/// Whether a workload has a statistic: some only those that name it.
fn applies(statistic: Statistic, workload: Workload) -> bool {
    match statistic {
        Statistic::P95 | Statistic::Stdev => workload.spec().statistics.contains(&statistic),
        _ => true,
    }
}

/// The median of one value a round (or trial), with its interval, of this run.
pub fn over_trials(values: Vec<f64>) -> Estimate {
    let n_trials = values.len() as u32;
    let Some(sample) = Sample::new(values) else {
        return missing(n_trials, "no trial has this statistic".to_owned());
    };
    let (ends, level) = median_interval(&sample, LEVEL).unzip();
    Estimate { level, ..between(sample.median(), ends, sample.len()) }
}

/// A value with the ends of its interval.
fn between(point: f64, ends: Option<(f64, f64)>, trials: usize) -> Estimate {
    let (low, high) = ends.unzip();
    Estimate {
        low,
        high,
        insufficient: too_few(trials),
        digits: significant_digits(point, ends),
        ..Estimate::exact(point, trials as u32)
    }
}

fn too_few(trials: usize) -> Option<String> {
    (trials < TRIALS_MIN)
        .then(|| format!("{}; an interval needs {TRIALS_MIN}", format::count(trials, "trial")))
}

fn missing(n_trials: u32, why: String) -> Estimate {
    Estimate {
        point: None,
        insufficient: Some(why),
        digits: DIGITS_WITHOUT_INTERVAL,
        ..Estimate::exact(0.0, n_trials)
    }
}

/// The cost of one operation in batches. Where the loop was subtracted and the
/// rest does not differ from nothing, it becomes an upper bound.
fn cost(measured: &Measured) -> Estimate {
    let trials = &measured.trials;
    let mut cost = measured.over(&|trial| Some(trial.value_ns()));
    let resolution_ns = sample::median(trials.iter().map(|t| t.resolution_ns)).unwrap_or(0.0);
    let Some(point) = cost.point.filter(|_| trials.iter().all(|trial| trial.differences)) else {
        return cost;
    };
    let includes_zero = cost.low.unwrap_or(point) <= 0.0;
    if includes_zero || point < resolution_ns {
        let bound = cost.high.unwrap_or(point).max(resolution_ns);
        bound_to(&mut cost, bound);
    }
    cost
}

/// Makes a cost an upper bound where its interval reaches down to that of the empty loop of the same
/// run.
pub fn bound_by_loop(cost: &mut Estimate, empty_loop: &Estimate) {
    let low = cost.low.or(cost.point).filter(|_| !cost.at_most);
    let ends = low.zip(empty_loop.high.or(empty_loop.point));
    if let Some((_, loop_high)) = ends.filter(|(low, loop_high)| low <= loop_high) {
        bound_to(cost, cost.high.or(cost.point).unwrap_or(loop_high));
    }
}

/// One-way times whose clocks are known to agree within a bound and no better: every interval
/// reaches that much further either way. (Errors of at most the bound, each trial's its own,
/// change a standard deviation over all trials by at most the bound.)
pub fn widened(mut estimates: Estimates, bound_ns: f64) -> Estimates {
    for &statistic in Statistic::ALL {
        if let Some(estimate) = estimates.get_mut(statistic) {
            widen(estimate, bound_ns, 0.0);
        }
    }
    estimates
}

/// Widens the intervals of a value by an error that repetition does not make smaller, down to the least
/// that it can be.
pub fn widen(estimate: &mut Estimate, bound_ns: f64, least: f64) {
    let Some(point) = estimate.point.filter(|_| bound_ns > 0.0) else { return };
    let widen = |low: &mut Option<f64>, high: &mut Option<f64>| {
        *low = low.map(|low| (low - bound_ns).max(least));
        *high = high.map(|high| high + bound_ns);
    };
    widen(&mut estimate.low, &mut estimate.high);
    if let Some(quiet) = &mut estimate.quiet {
        widen(&mut quiet.low, &mut quiet.high);
    }
    estimate.digits = significant_digits(point, estimate.low.zip(estimate.high));
}

fn bound_to(cost: &mut Estimate, bound: f64) {
    cost.point = Some(bound);
    cost.high = cost.high.map(|_| bound);
    cost.at_most = true;
    cost.quiet = None;
    cost.digits = DIGITS_WITHOUT_INTERVAL;
}

/// A quantile: over trials where the typical one supports it, else pooled.
fn quantile(measured: &Measured, q: f64, name: &str, seed: u64) -> Estimate {
    let counts = measured.trials.iter().map(|trial| support(trial, q));
    if publishable(sample::median(counts).unwrap_or(0.0), q) {
        return measured.over(&|trial| Some(trial.sample.quantile(q)));
    }
    of_all(measured, q, name, seed)
}

/// The quantiles of the samples of all trials together; `None` of workloads whose mean and
/// standard deviation are not of these.
pub fn pooled_quantiles(measured: &Measured) -> Option<Estimates> {
    let has_any = !measured.trials.is_empty() && is_of_all(measured.workload);
    has_any.then(|| quantiles(measured, of_all))
}

/// A quantile of the samples of all trials together.
fn of_all(measured: &Measured, q: f64, name: &str, seed: u64) -> Estimate {
    let n_trials = measured.trials.len() as u32;
    let total: f64 = measured.trials.iter().map(|trial| support(trial, q)).sum();
    if !publishable(total, q) {
        let why = format!(
            "{name} needs {:.0} independent samples, and has {:.0}",
            needed(q),
            libm::floor(total),
        );
        return missing(n_trials, why);
    }
    let of = |samples: &[&[f64]]| pooled_quantile(samples, q, LEVEL, seed);
    measured.pooled(&of)
}

impl Measured<'_> {
    /// The samples of each trial, raw or adjusted.
    fn samples(&self, adjusted: bool) -> Vec<Cow<'_, [f64]>> {
        let own = self.trials.iter().map(|trial| match trial.factor.filter(|_| adjusted) {
            None => Cow::Borrowed(trial.sample.values()),
            Some(factor) => trial.sample.values().iter().map(|ns| ns / factor).collect(),
        });
        own.collect()
    }

    /// A statistic of the samples of all trials.
    fn pooled(&self, of: &dyn Fn(&[&[f64]]) -> Option<Pooled>) -> Estimate {
        let n_trials = self.trials.len();
        let find = |adjusted: bool| {
            let samples = self.samples(adjusted);
            of(&samples.iter().map(|samples| &samples[..]).collect::<Vec<_>>())
        };
        let Some(met) = find(false) else {
            return missing(n_trials as u32, "there are too few samples".to_owned());
        };
        let both = self.doubt.and_then(|doubt| {
            let is_adjusted = doubt.basis != Basis::Met;
            let adjusted = if is_adjusted { find(true)? } else { met };
            let with = |found: Pooled, dependence| {
                Some((found.point, pooled_ends(&found, n_trials, dependence)?))
            };
            Some((with(met, doubt.met)?, with(adjusted, doubt.adjusted)?))
        });
        let found = match both {
            Some((met, adjusted)) => self.of_both(met, adjusted),
            // The bootstrap's coverage is not known exactly.
            None => between(met.point, met.interval, n_trials),
        };
        Estimate { pooled: true, ..found }
    }
}

/// The interval of the next run's pooled statistic, where it is above zero.
fn pooled_ends(pooled: &Pooled, n_trials: usize, of: Dependence) -> Option<(f64, f64)> {
    let (low, high) = pooled.interval.filter(|(low, _)| *low > 0.0)?;
    let independent = (libm::log(low), libm::log(high));
    pooled_interval(libm::log(pooled.point), independent, n_trials, of, LEVEL).map(exp)
}

/// Effective samples that a trial brings to a quantile. For the median, six
/// samples of any dependence do: what a trial's dependence hides, the spread
/// between trials shows.
fn support(trial: &Trial, q: f64) -> f64 {
    let n = trial.sample.len() as f64;
    if q == 0.5 && n >= MEDIAN_N_EFF_MIN { n } else { trial.n_eff_at(q) }
}

#[cfg(test)]
mod tests;
