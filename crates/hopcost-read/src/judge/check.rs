//! One check at one level: what was measured, and where it lies.

use hopcost_model::{
    Estimate, Finding, ROUNDS_A_LOOK, RawTrial, Region, Ruling, Severity, Verdict,
};
use hopcost_plan::{Check, Number, Quantity};
use hopcost_stats::contrast::{
    BETWEEN_RUNS, Contrast, ERROR, LogRatio, Region as Bounds, contrast, error_after,
};
use hopcost_stats::tail::normal_quantile;

use super::{Bench, Pair, words};
use crate::case::{Reading, Status};
use crate::judge::words::JudgedPart;
use crate::ratio::{Series, paired};
use crate::run::Run;
use crate::sums::{Whose, handled, lost, messages, per, switches};
use crate::trials::PerTrial;
use crate::{counters, stream};

/// Trials before it counts that a case has no finding: some findings need more trials than a look.
const FINDING_TRIALS: usize = 16;

/// Where the number of a check lies, and why there is none.
fn ruled(ruling: Ruling, why: impl Into<String>) -> JudgedPart {
    JudgedPart { verdict: Some(ruling), because: why.into(), ..JudgedPart::default() }
}

fn not_yet() -> JudgedPart {
    let why = "not measured in enough rounds";
    JudgedPart { rounds_to_decide: Some(ROUNDS_A_LOOK), ..ruled(Ruling::Undecided, why) }
}

/// A number and where it lies; `back` gives it its unit.
fn of_contrast(found: &Contrast, back: fn(f64) -> f64) -> JudgedPart {
    let end = |end: f64| Some(back(end)).filter(|end| end.is_finite());
    let value = Estimate {
        low: found.ends.and_then(|(low, _)| end(low)),
        high: found.ends.and_then(|(_, high)| end(high)),
        level: Some(1.0 - 2.0 * found.error),
        ..Estimate::exact(back(found.point), found.n as u32)
    };
    let ruling = match found.verdict {
        Verdict::Inside => Ruling::Holds,
        Verdict::Outside => Ruling::Fails,
        Verdict::Open => Ruling::Undecided,
    };
    JudgedPart { value: Some(value), rounds_to_decide: found.more, ..ruled(ruling, "") }
}

/// One-sided errors of a verdict; all numbers of a claim share the second.
struct Errors {
    inside: f64,
    outside: f64,
}

/// The values of a number by round, how far runs differ in it besides (SD), and whether they are
/// logarithms.
struct Values {
    by_round: Series,
    between: f64,
    is_log: bool,
}

impl<'a> Bench<'a> {
    /// A check of a claim with so many numbers, at one level.
    pub(super) fn part(&self, check: &Check, pair: &Pair<'a>, sharing: usize) -> JudgedPart {
        let cases = pair.first.iter().chain(&pair.second);
        let ids: Vec<String> = cases.map(|reading| reading.result.id.clone()).collect();
        let claims_something = !check.claims_nothing();
        let misled = self.misled(check, &ids).filter(|_| claims_something);
        let found = misled.map_or_else(|| self.found(check, pair, sharing), Err);
        let found = found.unwrap_or_else(|why| ruled(Ruling::Undecided, why));
        let level: Vec<String> =
            pair.level.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut part = JudgedPart {
            check: check.says.clone().unwrap_or_else(|| words::subject(check)),
            level: (!level.is_empty()).then(|| level.join(", ")),
            verdict: found.verdict.filter(|_| claims_something),
            unit: check.unit(),
            region: check.region,
            cases: ids,
            rounds_to_decide: found.rounds_to_decide.filter(|_| claims_something),
            ..found
        };
        if part.value.is_some() {
            part.because = words::evidence(check, &[&part]);
        }
        part
    }

    /// Why the times of these cases decide nothing, if one of them is not what its label says.
    fn misled(&self, check: &Check, ids: &[String]) -> Option<String> {
        if !check.quantity.is_time() || matches!(check.number, Number::Fails(_)) {
            return None;
        }
        let of = |f: &&Finding| {
            f.severity == Severity::Invalid && f.case.as_ref().is_none_or(|id| ids.contains(id))
        };
        let found = self.findings.iter().find(of).filter(|_| !ids.is_empty())?;
        let whose = found.case.as_deref().unwrap_or("the run");
        let evidence = found.evidence.trim_end_matches('.');
        Some(format!("{whose} is invalid ({}): {evidence}", found.code))
    }

    fn found(&self, check: &Check, pair: &Pair<'a>, sharing: usize) -> Result<JudgedPart, String> {
        match (&check.number, &check.quantity) {
            (Number::Printed(figure), _) => Ok(exact(&[*figure], check.region)),
            (Number::Fails(why), _) => Ok(self.fails(one(pair.first, &check.of)?, why)),
            (Number::Value, Quantity::Finding(code, name)) => {
                self.finding(one(pair.first, &check.of)?, code, name.as_deref(), check.region)
            }
            _ => self.number(check, pair, sharing),
        }
    }

    /// Whether every trial of a case failed for this reason.
    fn fails(&self, reading: &Reading, why: &str) -> JudgedPart {
        let result = &reading.result;
        let reason = result.reason.clone().unwrap_or_default();
        let planned = self.run.raw.plan.cases.get(reading.index as usize);
        let skip = planned.and_then(|case| case.skip.clone());
        match result.status {
            Status::Failed if result.n_trials == 0 && reason.contains(why) => {
                ruled(Ruling::Holds, reason)
            }
            Status::Failed => ruled(Ruling::Fails, reason),
            Status::Measured => ruled(Ruling::Fails, "it was measured"),
            Status::Skipped => skip.map_or_else(not_yet, |why| ruled(Ruling::Undecided, why)),
        }
    }

    /// A value of a finding of a case, or how many there are.
    fn finding(
        &self,
        reading: &Reading,
        code: &str,
        name: Option<&str>,
        region: Region,
    ) -> Result<JudgedPart, String> {
        if by_round(self.run, reading, &Quantity::Headline)?.len() < FINDING_TRIALS {
            return Ok(not_yet());
        }
        let id = Some(&reading.result.id);
        let is_code = |f: &Finding| match code {
            "INVALID" => f.severity == Severity::Invalid,
            code => f.code.word() == code,
        };
        let is_it = |f: &&Finding| is_code(f) && f.case.as_ref() == id;
        let found = self.findings.iter().find(is_it);
        let value = match (name, found) {
            (None, found) => f64::from(u8::from(found.is_some())),
            (Some(_), None) => return Ok(ruled(Ruling::Fails, format!("no finding {code}"))),
            (Some(name), Some(found)) => {
                *found.values.get(name).ok_or_else(|| format!("{code} has no {name}"))?
            }
        };
        Ok(exact(&[value], region))
    }

    /// The errors that may be spent on what these rounds say.
    fn errors(&self, by_round: &Series, sharing: usize) -> Errors {
        let rounds = by_round.last_key_value().map_or(0, |(round, _)| round.saturating_add(1));
        // A run for no question was looked at once, when it was over.
        let is_own = !self.cases.is_empty();
        let error = if is_own { error_after(rounds, ROUNDS_A_LOOK) } else { ERROR };
        Errors { inside: error, outside: error / sharing.max(1) as f64 }
    }

    fn values(&self, check: &Check, a: &Reading, b: Option<&Reading>) -> Result<Values, String> {
        let of = |reading: &Reading| by_round(self.run, reading, &check.quantity);
        let is_rate = check.quantity == Quantity::Throughput;
        let is_time = check.quantity.is_time() || check.quantity == Quantity::Cpu || is_rate;
        let between = if is_time { BETWEEN_RUNS } else { 0.0 };
        let Some(b) = b else {
            return Ok(Values { by_round: of(a)?, between: 0.0, is_log: false });
        };
        let pairs = paired(&of(a)?, &of(b)?);
        if let Number::Minus(_) = check.number {
            let size = pairs.iter().map(|(_, a, b)| libm::hypot(*a, *b)).fold(0.0, f64::max);
            let by_round = pairs.iter().map(|(round, a, b)| (*round, a - b)).collect();
            let between = between / 2f64.sqrt() * size;
            return Ok(Values { by_round, between, is_log: false });
        }
        if pairs.iter().any(|(_, a, b)| *a <= 0.0 || *b <= 0.0) {
            return Err("one of the numbers is 0, so there is no ratio".to_owned());
        }
        let by_round = pairs.iter().map(|(round, a, b)| (*round, libm::log(a / b))).collect();
        Ok(Values { by_round, between, is_log: true })
    }

    fn number(&self, check: &Check, pair: &Pair<'a>, sharing: usize) -> Result<JudgedPart, String> {
        let a = one(pair.first, &check.of)?;
        let b = check.over().map(|over| one(pair.second, over)).transpose()?;
        let values = self.values(check, a, b)?;
        let all: Vec<f64> = values.by_round.values().copied().collect();
        let is_counted = check.quantity == Quantity::Event("system-calls".to_owned());
        if is_counted && b.is_none() && !all.is_empty() {
            // They are counted in a phase of their own, in which nothing varies.
            return Ok(exact(&all, check.region));
        }
        let errors = self.errors(&values.by_round, sharing);
        let estimate = match &check.quantity {
            _ if b.is_some() => None,
            Quantity::Headline => a.headline(),
            Quantity::Statistic(statistic) => a.get(*statistic),
            _ => None,
        };
        let region = bounds(check.region, values.is_log);
        let found = match estimate {
            Some(estimate) if !all.is_empty() => of_estimate(estimate, all.len(), region, &errors),
            _ => match LogRatio::alone(&all).map(|of| of.between_runs(values.between)) {
                Some(of) => placed(&errors, |error| contrast(&of, region, error)),
                None => return Ok(not_yet()),
            },
        };
        Ok(of_contrast(&found, if values.is_log { libm::exp } else { |one| one }))
    }
}

/// The case of a name.
fn one<'a>(found: Option<&'a Reading<'a>>, name: &str) -> Result<&'a Reading<'a>, String> {
    found.ok_or_else(|| format!("{name} was not measured in this run"))
}

fn bounds(region: Region, is_log: bool) -> Bounds {
    let end = |end: Option<f64>, open: f64| match end {
        None => open,
        Some(end) if !is_log => end,
        Some(end) if end > 0.0 => libm::log(end),
        Some(_) => f64::NEG_INFINITY,
    };
    Bounds { low: end(region.low, f64::NEG_INFINITY), high: end(region.high, f64::INFINITY) }
}

/// Where a number lies, by what it is at both errors.
fn placed(errors: &Errors, at: impl Fn(f64) -> Contrast) -> Contrast {
    let (inside, outside) = (at(errors.inside), at(errors.outside));
    match (inside.verdict, outside.verdict) {
        (Verdict::Inside, _) => inside,
        (_, Verdict::Outside) => outside,
        _ => Contrast { verdict: Verdict::Open, more: inside.more.or(outside.more), ..inside },
    }
}

/// Where a number with this interval lies.
fn within(point: f64, ends: Option<(f64, f64)>, region: Bounds, error: f64, n: usize) -> Contrast {
    let verdict = Verdict::of(ends, (region.low, region.high));
    Contrast { verdict, point, ends, error, n, more: None }
}

/// Numbers without an error, of which the least and the greatest count.
fn exact(all: &[f64], region: Region) -> JudgedPart {
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (point, ends) = (f64::midpoint(low, high), Some((low, high)));
    of_contrast(&within(point, ends, bounds(region, false), 0.0, all.len()), |one| one)
}

/// An estimate whose interval is of 95 %, at other errors: wider as the normal quantile is.
fn of_estimate(estimate: &Estimate, n: usize, region: Bounds, errors: &Errors) -> Contrast {
    let point = estimate.point.unwrap_or(f64::NAN);
    let bounds = estimate.low.zip(estimate.high);
    let at = |error: f64| {
        let (low, high) = bounds?;
        let wider = normal_quantile(1.0 - 2.0 * error) / normal_quantile(1.0 - 2.0 * ERROR);
        let wider = wider.max(1.0);
        let (below, above) = (point / low, high / point);
        let is_log = low > 0.0 && below.is_finite() && above.is_finite();
        Some(match is_log {
            true => (point / libm::pow(below, wider), point * libm::pow(above, wider)),
            false => (point - (point - low) * wider, point + (high - point) * wider),
        })
    };
    let found = placed(errors, |error| within(point, at(error), region, error, n));
    let off = (point - region.low).abs().min((point - region.high).abs());
    let more = match found.ends.map(|(low, high)| (high - low) / 2.0) {
        None => Some(ROUNDS_A_LOOK.max(n as u32 + 1)),
        Some(half) if off > 0.0 && half / off < 3.0 => {
            Some(libm::ceil(n as f64 * (half / off) * (half / off)) as u32 + 1)
        }
        Some(_) => None,
    };
    Contrast { more: more.filter(|_| found.verdict == Verdict::Open), ..found }
}

/// A value for each round in which the case was measured; empty where it was not yet.
///
/// # Errors
/// In a sentence, why there never will be one.
pub fn by_round(run: &Run, reading: &Reading, quantity: &Quantity) -> Result<Series, String> {
    let result = &reading.result;
    if result.status == Status::Failed {
        return Err(result.reason.clone().unwrap_or_else(|| "every trial failed".to_owned()));
    }
    let skip = run.raw.plan.cases.get(reading.index as usize).and_then(|case| case.skip.clone());
    if let Some(reason) = skip {
        return Err(reason);
    }
    let mut why = None;
    let mut found = Series::new();
    for (trial, own) in reading.trials.iter().zip(&reading.per_trial) {
        match of_trial(reading, (trial, own), quantity) {
            Ok(value) if value.is_finite() => drop(found.insert(own.round, value)),
            Ok(_) => {}
            Err(reason) => why = Some(reason),
        }
    }
    match why.filter(|_| found.is_empty()) {
        Some(why) => Err(why),
        None if *quantity == Quantity::BetweenRuns => Ok(between(&found)),
        None => Ok(found),
    }
}

/// By what share each value differs from the one before.
fn between(found: &Series) -> Series {
    let pairs = found.iter().zip(found.iter().skip(1));
    let by = |((_, a), (round, b)): ((&u32, &f64), (&u32, &f64))| (*round, (b / a - 1.0).abs());
    pairs.map(by).filter(|(_, by)| by.is_finite()).collect()
}

fn of_trial(
    reading: &Reading,
    (trial, own): (&RawTrial, &PerTrial),
    quantity: &Quantity,
) -> Result<f64, String> {
    let case = reading.case;
    let because = |why: &str| format!("{why} in {}", case.id());
    match quantity {
        Quantity::Headline | Quantity::BetweenRuns => Ok(own.value_ns),
        Quantity::Statistic(statistic) => own.get(*statistic).ok_or_else(|| {
            because(&format!("no trial has enough samples for a {}", statistic.label()))
        }),
        Quantity::Ticks => {
            let ticks_per_ns = reading.ticks_per_ns();
            let factor = ticks_per_ns.ok_or_else(|| because("the clock's ticks are not known"))?;
            Ok(own.value_ns * factor)
        }
        Quantity::Cpu => {
            let cpu_ns = trial.cpu_ns as f64 / own.slower;
            let per_message = per(cpu_ns, handled(case, trial) * messages(case.workload));
            per_message.ok_or_else(|| because("there is no message"))
        }
        Quantity::Switches => per(switches(trial, Whose::All) as f64, handled(case, trial))
            .ok_or_else(|| because("there is no operation")),
        Quantity::Event(event) => counters::of_trial(case, trial, event)
            .map_err(|why| format!("{event} could not be counted: {why}")),
        Quantity::Throughput => {
            let rates = own.rates.as_ref().map(|rates| rates.aggregate_gbps * own.slower);
            rates.ok_or_else(|| because("only a stream has a throughput, which is unknown"))
        }
        Quantity::CopiedShare => {
            let share = stream::copied_share(&[trial]);
            share.ok_or_else(|| because("no send was to be without a copy"))
        }
        Quantity::Finding(code, _) => Err(format!("{code} is a finding of a case, not of a trial")),
        Quantity::LostShare => {
            let all = trial.operations.saturating_add(lost(trial)) as f64;
            per(lost(trial) as f64, all).ok_or_else(|| because("there is no operation"))
        }
    }
}
