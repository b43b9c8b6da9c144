//! One check at one level: what was measured, and where it lies.

use std::collections::BTreeMap;

use hopcost_model::finding::{Finding, Severity};
use hopcost_model::plan::ROUNDS_A_LOOK;
use hopcost_model::results::{
    CrossoverPoint, Estimate, Faster, JudgedPart, JudgedUnit, JudgedValue, Ratio, Region, Ruling,
    Status, Verdict,
};
use hopcost_plan::{Check, Level, Number, Quantity, Term, Test};
use hopcost_stats::contrast::{BETWEEN_RUNS, ERROR, LogRatio, error_after};
use hopcost_stats::region::{Errors, Placed, place, place_interval};
use hopcost_stats::sample::median;
use hopcost_stats::tail::normal_quantile;

use super::bench::Bench;
use super::number::{Values, along, logs};
use super::{value, words};
use crate::case::Reading;
use crate::format;

/// What there is to tell of a check.
struct Told {
    verdict: Ruling,
    because: String,
    value: Option<JudgedValue>,
    points: Vec<CrossoverPoint>,
    rounds_to_decide: Option<u32>,
}

impl Told {
    /// Without a number.
    fn of(verdict: Ruling, because: String) -> Self {
        Told { verdict, because, value: None, points: Vec::new(), rounds_to_decide: None }
    }

    /// Nothing is measured yet.
    fn not_yet() -> Self {
        let why = "not measured in enough rounds".to_owned();
        Told { rounds_to_decide: Some(ROUNDS_A_LOOK), ..Told::of(Ruling::CannotTell, why) }
    }
}

/// How many numbers share the error of a check.
pub fn numbers(test: &Test) -> usize {
    match test {
        _ if test.is_told() => 0,
        Test::Order(terms) => terms.len() - 1,
        Test::Equivalent(terms, _) => terms.len() * (terms.len() - 1) / 2,
        Test::Number(..) => 1,
        Test::Exists(_) | Test::Consistent(..) => 0,
    }
}

impl<'a> Bench<'a> {
    /// A check of a claim with so many numbers.
    pub fn part(&self, check: &Check, level: &Level, sharing: usize) -> JudgedPart {
        let mut cases: Vec<&Reading> = Vec::new();
        for term in check.test.terms() {
            for reading in self.of_term(term, level) {
                if !cases.iter().any(|one| one.index == reading.index) {
                    cases.push(reading);
                }
            }
        }
        let is_told = check.test.is_told();
        let told = self.misled(&check.test, &cases).filter(|_| !is_told).map_or_else(
            || self.told(&check.test, level, sharing),
            |why| Told::of(Ruling::CannotTell, why),
        );
        let (region, unit) = match &check.test {
            Test::Number(number, region) => (Some(*region), number.unit()),
            _ => (None, JudgedUnit::Number),
        };
        let words = level.iter().map(|(key, value)| format!("{key}={value}"));
        let words: Vec<String> = words.collect();
        let why = words::reason(&cases, self.readings, self.findings);
        let why =
            why.filter(|_| told.value.is_some()).map_or(String::new(), |why| format!("; {why}"));
        JudgedPart {
            says: check.says.clone(),
            test: check.text.clone(),
            meaning: check.meaning.clone(),
            level: (!words.is_empty()).then(|| words.join(", ")),
            verdict: (!is_told).then_some(told.verdict),
            value: told.value.map(|value| JudgedValue {
                unit: if region.is_some() { unit } else { value.unit },
                ..value
            }),
            region,
            points: told.points,
            cases: cases.iter().map(|reading| reading.result.id.clone()).collect(),
            because: format!("{}{why}", told.because),
            rounds_to_decide: told.rounds_to_decide.filter(|_| !is_told),
        }
    }

    /// Why times of these cases tell nothing, if one of them is not what its label says.
    fn misled(&self, test: &Test, cases: &[&Reading]) -> Option<String> {
        let is_time = |term: &&Term| {
            matches!(term.quantity, Quantity::Headline | Quantity::Statistic(_) | Quantity::Ticks)
        };
        if matches!(test, Test::Exists(_)) || !test.terms().iter().any(is_time) {
            return None;
        }
        let of = |f: &&Finding| {
            let case = |id: &str| cases.iter().any(|reading| reading.result.id == id);
            f.severity == Severity::Invalid && f.case.as_deref().is_none_or(case)
        };
        let found = self.findings.iter().find(of)?;
        let whose = found.case.as_deref().unwrap_or("the run");
        let evidence = found.evidence.trim_end_matches('.');
        Some(format!("{whose} is not to be believed ({}): {evidence}", found.code))
    }

    fn told(&self, test: &Test, level: &Level, sharing: usize) -> Told {
        match test {
            Test::Exists(term) => self.exists(term, level),
            Test::Consistent(left, right) => consistent(*left, *right),
            Test::Number(number @ Number::Crossover(..), region) => self
                .crossover(number, *region, level, sharing)
                .unwrap_or_else(|why| Told::of(Ruling::CannotTell, why)),
            Test::Number(number, region) => match self.values(number, level) {
                Err(why) => Told::of(Ruling::CannotTell, why),
                Ok(values) => self.number(number, &values, *region, level, sharing),
            },
            Test::Order(terms) => {
                let pairs = terms.windows(2).map(|pair| (&pair[0], &pair[1]));
                let region = Region { low: None, high: Some(1.0f64.next_down()) };
                self.pairs(pairs.collect(), region, level, sharing)
            }
            Test::Equivalent(terms, share) => {
                let pairs = terms.iter().enumerate();
                let pairs = pairs.flat_map(|(at, a)| terms[at + 1..].iter().map(move |b| (a, b)));
                let region = Region { low: Some(1.0 / (1.0 + share)), high: Some(1.0 + share) };
                self.pairs(pairs.collect(), region, level, sharing)
            }
        }
    }

    fn exists(&self, term: &Term, level: &Level) -> Told {
        let reading = match self.one(term, level) {
            Ok(reading) => reading,
            Err(why) => return Told::of(Ruling::CannotTell, why),
        };
        let result = &reading.result;
        let skip = self.run.raw.plan.cases.get(reading.index as usize);
        let is_skipped = skip.is_some_and(|case| case.skip.is_some());
        let reason = || result.reason.clone().unwrap_or_default();
        match result.status {
            Status::Measured => Told::of(Ruling::Holds, format!("{} was measured here", result.id)),
            Status::Skipped if !is_skipped => Told::not_yet(),
            Status::Skipped | Status::Failed => Told::of(Ruling::Fails, reason()),
        }
    }

    /// Every one of several ratios has to lie in a region.
    fn pairs(
        &self,
        pairs: Vec<(&Term, &Term)>,
        region: Region,
        level: &Level,
        sharing: usize,
    ) -> Told {
        let told = pairs.into_iter().map(|(a, b)| {
            let number = Number::Ratio(a.clone(), b.clone());
            match self.values(&number, level) {
                Err(why) => Told::of(Ruling::CannotTell, why),
                Ok(values) => self.number(&number, &values, region, level, sharing),
            }
        });
        let all: Vec<Told> = told.collect();
        let because: Vec<String> = all.iter().map(|told| told.because.clone()).collect();
        let open = all.iter().filter_map(|told| told.rounds_to_decide).max();
        let worst = all.into_iter().max_by_key(|told| told.verdict);
        let Some(worst) = worst else { return Told::not_yet() };
        match worst.verdict {
            Ruling::Holds => Told { because: because.join("; "), ..worst },
            _ => Told { rounds_to_decide: open, ..worst },
        }
    }

    /// The errors that may be spent on what these rounds say.
    fn errors(&self, by_round: &BTreeMap<u32, f64>, sharing: usize) -> Errors {
        let rounds = by_round.last_key_value().map_or(0, |(round, _)| round.saturating_add(1));
        // A run of no question was looked at once, when it was over.
        let is_own = !self.cases.is_empty();
        let error = if is_own { error_after(rounds, ROUNDS_A_LOOK) } else { ERROR };
        Errors { inside: error, outside: error / sharing.max(1) as f64 }
    }

    /// Where a number lies, and the words for it.
    fn number(
        &self,
        number: &Number,
        values: &Values,
        region: Region,
        level: &Level,
        sharing: usize,
    ) -> Told {
        let errors = self.errors(&values.by_round, sharing);
        let all: Vec<f64> = values.by_round.values().copied().collect();
        let Some(of) = LogRatio::alone(&all) else { return Told::not_yet() };
        let scaled = |end: Option<f64>, open: f64| match end {
            Some(end) if values.is_log => {
                if end > 0.0 {
                    libm::log(end)
                } else {
                    f64::NEG_INFINITY
                }
            }
            end => end.unwrap_or(open),
        };
        let ends = (scaled(region.low, f64::NEG_INFINITY), scaled(region.high, f64::INFINITY));
        let estimate = match number {
            Number::Value(term) => self.estimate(term, level),
            _ => None,
        };
        let placed = match &estimate {
            None if is_exact(number) => place_exact(&all, ends),
            Some(estimate) => place_estimate(estimate, all.len(), ends, errors),
            None => place(&of, ends, values.between, errors),
        };
        let back = |one: f64| if values.is_log { libm::exp(one) } else { one };
        let value = JudgedValue {
            estimate: estimated(
                Some(back(placed.point)),
                placed.interval.map(|(low, high)| (back(low), back(high))),
                1.0 - 2.0
                    * if placed.place == Verdict::Outside { errors.outside } else { errors.inside },
                all.len() as u32,
            ),
            unit: number.unit(),
        };
        self::told(number, value, region, &placed)
    }

    /// What the report says of a time, whose interval is for the next run.
    fn estimate(&self, term: &Term, level: &Level) -> Option<&'a Estimate> {
        let reading = self.one(term, level).ok()?;
        match &term.quantity {
            Quantity::Headline => reading.headline(),
            Quantity::Statistic(statistic) => reading.get(*statistic),
            _ => None,
        }
    }

    /// From which value of an axis on the first takes less than the second: the interval begins
    /// above the greatest at which it does not and ends at the least from which on it does.
    fn crossover(
        &self,
        number: &Number,
        region: Region,
        level: &Level,
        sharing: usize,
    ) -> Result<Told, String> {
        let rounds = self.rounds_along(number, level, !is_open(region))?;
        let mut points = Vec::new();
        let mut placed_at = Vec::new();
        for (x, [first, second], logs) in &rounds {
            let mut errors = self.errors(logs, sharing * rounds.len());
            errors.inside = errors.outside;
            let values: Vec<f64> = logs.values().copied().collect();
            let Some(of) = LogRatio::alone(&values) else { return Ok(Told::not_yet()) };
            let placed = place(&of, (f64::NEG_INFINITY, 0f64.next_down()), BETWEEN_RUNS, errors);
            let end = |of: fn((f64, f64)) -> f64| placed.interval.map(|ends| libm::exp(of(ends)));
            points.push(CrossoverPoint {
                at: *x as u64,
                case: first.result.id.clone(),
                first_ns: median(&second.values()),
                second_ns: median(&first.values()),
                ratio: Some(Ratio {
                    baseline: second.result.id.clone(),
                    point: libm::exp(placed.point),
                    low: end(|ends| ends.0),
                    high: end(|ends| ends.1),
                    n_rounds: values.len() as u32,
                }),
                faster: match placed.place {
                    Verdict::Inside => Faster::Second,
                    Verdict::Outside => Faster::First,
                    Verdict::Open => Faster::Neither,
                },
            });
            placed_at.push((*x, placed));
        }
        let is = |place: Verdict| move |of: &&(f64, Placed)| of.1.place == place;
        let beyond = placed_at.iter().rev().find(is(Verdict::Outside)).map(|(x, _)| x.next_up());
        let from = placed_at.iter().rev().take_while(is(Verdict::Inside)).last().map(|(x, _)| *x);
        let interval = (beyond.unwrap_or(0.0), from.unwrap_or(f64::INFINITY));
        // "From no value on" is no value.
        let ends = (region.low.unwrap_or(0.0), region.high.unwrap_or(f64::INFINITY).min(f64::MAX));
        let placed = place_interval(interval.0, Some(interval), Some(interval), ends);
        let open = placed_at.iter().filter_map(|(_, placed)| placed.n_to_decide).max();
        let n_rounds = rounds.iter().map(|(.., logs)| logs.len() as u32).min().unwrap_or(0);
        let value = JudgedValue {
            estimate: Estimate {
                low: beyond,
                high: from,
                ..estimated(None, None, 1.0 - 2.0 * ERROR, n_rounds)
            },
            unit: number.unit(),
        };
        let n_to_decide = open.filter(|_| placed.place == Verdict::Open);
        Ok(Told { points, ..told(number, value, region, &Placed { n_to_decide, ..placed }) })
    }

    /// Both cases of a crossover at each value of its axis, with the logarithms of the ratio by
    /// round. A value at which it cannot be had is an error where something is claimed, and else
    /// left out.
    fn rounds_along(
        &self,
        number: &Number,
        level: &Level,
        is_claimed: bool,
    ) -> Result<Vec<Along<'a>>, String> {
        let Number::Crossover(a, b, axis) = number else { return Ok(Vec::new()) };
        let sorted = |term: &Term| -> Result<Vec<(f64, &'a Reading<'a>)>, String> {
            let at = |reading: &'a Reading| Some((along(reading.case?, axis)?, reading));
            let mut all: Vec<_> = self.of_term(term, level).into_iter().filter_map(at).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                Some(pair) => {
                    Err(format!("{} is several cases at {axis} {}", term.name, pair[0].0))
                }
                None => Ok(all),
            }
        };
        let (firsts, seconds) = (sorted(a)?, sorted(b)?);
        let mut all = Vec::new();
        for (x, first) in firsts {
            let Some((_, second)) = seconds.iter().find(|second| second.0 == x) else { continue };
            let of =
                |reading: &Reading, term: &Term| value::by_round(self.run, reading, &term.quantity);
            let both = of(first, a).and_then(|a| logs(&a, &of(second, b)?));
            match both {
                Err(why) if is_claimed => return Err(why),
                Ok(logs) if is_claimed || !logs.is_empty() => all.push((x, [first, *second], logs)),
                _ => {}
            }
        }
        match all.len() {
            0 | 1 => Err(format!("want cases of both at two values or more of {axis}")),
            _ => Ok(all),
        }
    }
}

/// A value of an axis, what is compared there, and the logarithms of its ratio by round.
type Along<'a> = (f64, [&'a Reading<'a>; 2], BTreeMap<u32, f64>);

/// Whether nothing is claimed of a number.
fn is_open(region: Region) -> bool {
    region.low.is_none() && region.high.is_none()
}

/// What there is to tell of a number that is placed.
fn told(number: &Number, value: JudgedValue, region: Region, placed: &Placed) -> Told {
    let is = match placed.place {
        _ if is_open(region) => String::new(),
        Verdict::Inside => format!(", which is {}", words::region(region, value.unit)),
        Verdict::Outside => format!(", which is not {}", words::region(region, value.unit)),
        Verdict::Open => {
            format!(
                ", which may or may not be {}{}",
                words::region(region, value.unit),
                still(placed)
            )
        }
    };
    let because = format!("{} is {}{is}", words::subject(number), words::value(&value));
    let told = Told::of(ruling(placed.place), because);
    Told { value: Some(value), rounds_to_decide: placed.n_to_decide, ..told }
}

fn ruling(place: Verdict) -> Ruling {
    match place {
        Verdict::Inside => Ruling::Holds,
        Verdict::Outside => Ruling::Fails,
        Verdict::Open => Ruling::CannotTell,
    }
}

/// What would decide.
fn still(placed: &Placed) -> String {
    match placed.n_to_decide {
        Some(rounds) => format!("; about {rounds} rounds would tell"),
        None => "; it lies too close to the end of that to tell".to_owned(),
    }
}

/// Whether a number is counted over a phase of its own, in which nothing varies.
fn is_exact(number: &Number) -> bool {
    let event = |term: &Term| term.quantity == Quantity::Event("system-calls".to_owned());
    matches!(number, Number::Value(term) if event(term))
}

/// Counts, of which the least and the greatest count.
fn place_exact(all: &[f64], ends: (f64, f64)) -> Placed {
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let interval = Some((low, high));
    place_interval(f64::midpoint(low, high), interval, interval, ends)
}

/// An estimate whose interval is of 95 % at other errors: wider as the normal quantile is.
fn place_estimate(estimate: &Estimate, n: usize, ends: (f64, f64), errors: Errors) -> Placed {
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
    let placed = place_interval(point, at(errors.inside), at(errors.outside), ends);
    let off = (point - ends.0).abs().min((point - ends.1).abs());
    let half = placed.interval.map(|(low, high)| (high - low) / 2.0);
    let more = match half {
        None => Some(ROUNDS_A_LOOK.max(n as u32 + 1)),
        Some(half) if off > 0.0 && half / off < 3.0 => {
            Some(libm::ceil(n as f64 * (half / off) * (half / off)) as u32 + 1)
        }
        Some(_) => None,
    };
    Placed { n_to_decide: more.filter(|_| placed.place == Verdict::Open), ..placed }
}

/// An estimate of a number of a check.
fn estimated(
    point: Option<f64>,
    interval: Option<(f64, f64)>,
    level: f64,
    rounds: u32,
) -> Estimate {
    let estimand = "the number of the check, over rounds".to_owned();
    Estimate {
        point,
        low: interval.map(|(low, _)| low).filter(|low| low.is_finite()),
        high: interval.map(|(_, high)| high).filter(|high| high.is_finite()),
        level: Some(level),
        ..Estimate::exact(0.0, rounds, estimand)
    }
}

/// Printed figures.
fn consistent(left: Region, right: Region) -> Told {
    let of = |region: Region| (region.low.unwrap_or(0.0), region.high.unwrap_or(0.0));
    let (left, right) = (of(left), of(right));
    let words = |(low, high): (f64, f64)| match low == high {
        true => format!("{low}"),
        false => format!("between {} and {}", format::three(low), format::three(high)),
    };
    let sides = format!("the left side is {}, the right side {}", words(left), words(right));
    match left.0 <= right.1 && right.0 <= left.1 {
        true => Told::of(Ruling::Holds, sides),
        false => Told::of(Ruling::Fails, sides),
    }
}
