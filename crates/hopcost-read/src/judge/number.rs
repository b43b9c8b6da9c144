//! The numbers of checks, a value a round.

use std::collections::BTreeMap;

use hopcost_model::axis::{Axis, Value};
use hopcost_model::case::Case;
use hopcost_model::results::JudgedUnit;
use hopcost_plan::{Level, Number, Term};
use hopcost_stats::contrast::BETWEEN_RUNS;
use hopcost_stats::variance::type_one;

use super::bench::Bench;
use super::value;
use crate::ratio::paired;

/// A number by round, how far runs differ in it besides (SD), and whether it is a logarithm.
pub struct Values {
    pub by_round: BTreeMap<u32, f64>,
    pub between: f64,
    pub is_log: bool,
}

impl Bench<'_> {
    /// The values by round of a number.
    pub fn values(&self, number: &Number, level: &Level) -> Result<Values, String> {
        let of = |term: &Term| {
            let reading = self.one(term, level)?;
            value::by_round(self.run, reading, &term.quantity)
        };
        let is_time =
            |term: &Term| matches!(term.quantity.unit(), JudgedUnit::Ns | JudgedUnit::Gbps);
        match number {
            Number::Ratio(a, b) => {
                let by_round = logs(&of(a)?, &of(b)?)?;
                let between = if is_time(a) { BETWEEN_RUNS } else { 0.0 };
                Ok(Values { by_round, between, is_log: true })
            }
            Number::Difference(a, b) => {
                let pairs = paired(&of(a)?, &of(b)?);
                let size = pairs.iter().map(|(_, a, b)| libm::hypot(*a, *b)).fold(0.0, f64::max);
                let between = if is_time(a) { BETWEEN_RUNS / 2f64.sqrt() * size } else { 0.0 };
                let by_round = pairs.iter().map(|(round, a, b)| (*round, a - b)).collect();
                Ok(Values { by_round, between, is_log: false })
            }
            Number::Value(a) => Ok(Values { by_round: of(a)?, between: 0.0, is_log: false }),
            Number::Slope(a, axis) => self.slopes(a, axis, level),
            Number::Share(terms) => self.shares(terms, level),
            Number::Crossover(..) => {
                Ok(Values { by_round: BTreeMap::new(), between: 0.0, is_log: false })
            }
        }
    }

    /// What a unit of an axis adds, by round: the least-squares slope over the cases.
    fn slopes(&self, term: &Term, axis: &str, level: &Level) -> Result<Values, String> {
        let mut points: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        let cases = self.of_term(term, level);
        for reading in &cases {
            let Some(x) = reading.case.and_then(|case| along(case, axis)) else { continue };
            for (round, y) in value::by_round(self.run, reading, &term.quantity)? {
                points.entry(round).or_default().push((x, y));
            }
        }
        let whole = points.into_iter().filter(|(_, of)| of.len() == cases.len() && of.len() > 1);
        let slope = |of: &[(f64, f64)]| {
            let n = of.len() as f64;
            let (x, y) = of.iter().fold((0.0, 0.0), |(x, y), one| (x + one.0 / n, y + one.1 / n));
            let sum = |f: &dyn Fn(f64, f64) -> f64| {
                of.iter().map(|one| f(one.0 - x, one.1 - y)).sum::<f64>()
            };
            sum(&|x, y| x * y) / sum(&|x, _| x * x)
        };
        let by_round: BTreeMap<u32, f64> = whole
            .map(|(round, of)| (round, slope(&of)))
            .filter(|(_, slope)| slope.is_finite())
            .collect();
        let size = by_round.values().fold(0.0, |size: f64, slope| size.max(slope.abs()));
        Ok(Values { by_round, between: BETWEEN_RUNS * size, is_log: false })
    }

    /// The mechanism's share of the variance between cases, by round.
    fn shares(&self, terms: &[Term], level: &Level) -> Result<Values, String> {
        let mut cells: Vec<(Vec<usize>, BTreeMap<u32, f64>)> = Vec::new();
        let (mut mechanisms, mut others) = (Vec::new(), Vec::new());
        for term in terms {
            for reading in self.of_term(term, level) {
                let Some(case) = reading.case else { continue };
                let mechanism = (case.mechanism.clone(), case.parameters.clone());
                let other = Case {
                    mechanism: String::new(),
                    parameters: BTreeMap::new(),
                    payload_bytes: None,
                    ..case.clone()
                };
                let levels =
                    vec![numbered(&mut mechanisms, mechanism), numbered(&mut others, other)];
                cells.push((levels, value::by_round(self.run, reading, &term.quantity)?));
            }
        }
        let levels: Vec<Vec<usize>> = cells.iter().map(|(levels, _)| levels.clone()).collect();
        let rounds = cells.first().map_or(Vec::new(), |(_, of)| of.keys().copied().collect());
        let share = |round: &u32| {
            let log = |(_, of): &(Vec<usize>, BTreeMap<u32, f64>)| {
                Some(vec![vec![libm::log(*of.get(round).filter(|value| **value > 0.0)?)]])
            };
            let values: Option<Vec<Vec<Vec<f64>>>> = cells.iter().map(log).collect();
            Some((*round, *type_one(&levels, &values?)?.factors.first()?))
        };
        let by_round = rounds.iter().filter_map(share).collect();
        Ok(Values { by_round, between: 0.0, is_log: false })
    }
}

/// The logarithms of the ratio by round.
pub fn logs(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>) -> Result<BTreeMap<u32, f64>, String> {
    let pairs = paired(a, b);
    match pairs.iter().any(|(_, a, b)| *a <= 0.0 || *b <= 0.0) {
        true => Err("one of the numbers is 0, so there is no ratio".to_owned()),
        false => Ok(pairs.iter().map(|(round, a, b)| (*round, libm::log(a / b))).collect()),
    }
}

/// The value of a case along an axis.
pub fn along(case: &Case, axis: &str) -> Option<f64> {
    match (Axis::of_key(axis)?.get)(case)? {
        Value::Number(number) => Some(number as f64),
        _ => None,
    }
}

/// The place of something among those seen.
fn numbered<T: PartialEq>(seen: &mut Vec<T>, one: T) -> usize {
    let at = seen.iter().position(|other| *other == one);
    at.unwrap_or_else(|| {
        seen.push(one);
        seen.len() - 1
    })
}
