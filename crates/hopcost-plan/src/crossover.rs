//! A plan that searches along an axis for where one case overtakes another.

use std::collections::BTreeSet;

use hopcost_model::axis::{Axis, Kind, Value};
use hopcost_model::case::Case;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::{CrossoverPlan, Plan, PlannedCase, Question};
use hopcost_stats::crossover::COARSE_MAX;

use crate::ask::Ask;
use crate::asked::read;
use crate::compare::{MEASURE_NS, NAMED_MAX};
use crate::error::{Origin, PlanError, quote, unknown};
use crate::machine::Machine;
use crate::resolve::plan;
use crate::time::{fitted, runtimes_of};

/// What is asked of a search besides its two cases.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossoverAsk {
    /// `--axis`: its key.
    pub axis: String,
    /// `--from`: the first value.
    pub from: Option<String>,
    /// `--to`: the last.
    pub to: Option<String>,
    /// `--margin`: ratios off 1 by no more than this share are those of equals.
    pub margin: f64,
}

/// The axes that can be searched, and what is searched where nothing is said.
pub const SEARCHED: [(&str, u64, u64); 4] = [
    ("payload", 64, 1 << 20),
    ("flows", 1, 16),
    ("gap", 1_000, 1_000_000),
    ("rate", 1_000, 1_000_000),
];

/// Values from one power of two to the next, as multiples of it.
const AN_OCTAVE: [f64; 4] = [1.0, 1.25, 1.5, 1.75];
/// Rounds of a search at most: its budget ends it, or its answer.
const ROUNDS: u32 = 400;

/// Resolves a search: each of two selectors selects one case at every value of the axis.
/// The others as for [`plan`].
///
/// # Errors
/// Everything wrong with the question, and what this machine cannot do.
pub fn crossover(
    ask: &Ask,
    asked: &CrossoverAsk,
    rust: &[Mechanism],
    runtimes: &dyn Fn() -> Vec<RuntimeFacts>,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let (axis, [from, to]) = range(asked)?;
    // Rates and times are round in the decimal system: their steps are multiples of the first.
    let unit = match axis.kind {
        Kind::Rate { .. } | Kind::Time { .. } => from,
        _ => 1,
    };
    let values = values(from, to, unit);
    let texts = values.iter().map(|value| text_of(axis, *value)).collect();
    let mut axes = ask.axes.clone();
    if axes.insert(axis.key, texts).is_some_and(|said: Vec<String>| !said.is_empty()) {
        let message = "it is what --axis varies: give --from and --to";
        return Err(Origin::option(&format!("--{}", axis.option)).error(message));
    }
    let is_said = ask.measure_ns.is_some();
    let measure_ns = Some(ask.measure_ns.unwrap_or(MEASURE_NS));
    let ask = Ask { axes, measure_ns, ..ask.clone() };
    let of = |selectors: &[String], place: Option<&str>| {
        let mut ask = Ask { selectors: selectors.to_vec(), ..ask.clone() };
        if let Some(place) = place {
            ask.axes.insert("place", vec![place.to_owned()]);
        }
        plan(&ask, rust.to_vec(), runtimes, machine)
    };
    let [first, second] = ask.selectors.as_slice() else {
        return Err(Origin::option("CASE").error("want two cases, the one to be overtaken first"));
    };
    // On one CPU and on two are what nobody has to choose between who asks for one case.
    let has_place = ask.axes.get("place").is_some_and(|said| !said.is_empty());
    let several = |plan: &Plan| plan.cases.len() > values.len();
    let resolved = |selector: &String| {
        let own = of(std::slice::from_ref(selector), None)?;
        let own = match several(&own) && !has_place {
            true => of(std::slice::from_ref(selector), Some("cross"))?,
            false => own,
        };
        one_a_value(selector, own, axis, &values)
    };
    let (first, second) = (resolved(first)?, resolved(second)?);
    if first.cases.iter().map(PlannedCase::id).eq(second.cases.iter().map(PlannedCase::id)) {
        let message = "both cases are the same: name another one to be compared with";
        return Err(Origin::selector(&ask.selectors[1]).error(message));
    }
    let whole = of(&ask.selectors, (!has_place).then_some("cross"))?;
    let cases = first.cases.into_iter().zip(second.cases).flat_map(both).collect();
    let coarse = coarse(&values, unit);
    let (axis, margin) = (axis.key.to_owned(), asked.margin);
    let mut pairs = whole.pairs;
    pairs.extend(first.pairs);
    pairs.extend(second.pairs);
    let mut plan = Plan {
        suite: "crossover".to_owned(),
        rounds: ROUNDS,
        baseline: None,
        cases,
        pairs,
        question: Some(Question::Crossover(CrossoverPlan { axis, values, coarse, margin })),
        ..whole
    };
    if !is_said {
        plan.trial = fitted(&plan, &runtimes_of(&plan, runtimes));
    }
    Ok(plan)
}

/// The axis and the ends of the search.
fn range(asked: &CrossoverAsk) -> Result<(&'static Axis, [u64; 2]), PlanError> {
    let known = SEARCHED.iter().find(|(key, ..)| *key == asked.axis);
    let (Some((key, from, to)), Some(axis)) = (known, Axis::of_key(&asked.axis)) else {
        let keys: Vec<&str> = SEARCHED.iter().map(|(key, ..)| *key).collect();
        return Err(Origin::option("--axis").error(unknown("axis to search", &asked.axis, &keys)));
    };
    let end = |option: &str, said: &Option<String>, default: u64| match said {
        None => Ok(default),
        Some(text) => match read(axis, text) {
            Ok(Value::Number(value)) if value > 0 => Ok(value),
            Ok(_) => Err(Origin::option(option).error(format!("{} is no {key}", quote(text)))),
            Err(message) => Err(Origin::option(option).error(message)),
        },
    };
    let from = end("--from", &asked.from, *from)?;
    let to = end("--to", &asked.to, *to)?;
    if from >= to {
        let message = "it has to be greater than --from".to_owned();
        return Err(Origin::option("--to").error(message));
    }
    Ok((axis, [from, to]))
}

/// A value as an option has it.
fn text_of(axis: &Axis, value: u64) -> String {
    match axis.key {
        "gap" => format!("{value}ns"),
        _ => value.to_string(),
    }
}

/// Both ends, and four values an octave of a unit between them, ascending.
fn values(from: u64, to: u64, unit: u64) -> Vec<u64> {
    let powers = (0..u64::BITS).map(|power| (1u64 << power) as f64 * unit as f64);
    let all = powers.flat_map(|power| AN_OCTAVE.map(|multiple| (power * multiple + 0.5) as u64));
    let inner: BTreeSet<u64> = all.filter(|value| from < *value && *value < to).collect();
    [from].into_iter().chain(inner).chain([to]).collect()
}

/// Both ends and powers of two of the unit, or of 4, 8 …, so that they are few enough.
fn coarse(values: &[u64], unit: u64) -> Vec<u32> {
    let last = values.len().saturating_sub(1);
    let of = |octaves: u32| {
        let is_power = |value: u64| {
            let times = value / unit;
            value.is_multiple_of(unit)
                && times.is_power_of_two()
                && times.trailing_zeros().is_multiple_of(octaves)
        };
        let places = (0..)
            .zip(values)
            .filter(|(at, value)| [0, last].contains(&(*at as usize)) || is_power(**value));
        places.map(|(at, _)| at).collect::<Vec<u32>>()
    };
    (1..).map(of).find(|coarse| coarse.len() <= COARSE_MAX / 2).unwrap_or_default()
}

/// The plan with its cases in the order of the values, one each.
fn one_a_value(
    selector: &str,
    mut own: Plan,
    axis: &'static Axis,
    values: &[u64],
) -> Result<Plan, PlanError> {
    let origin = Origin::selector(selector);
    let at =
        |planned: &PlannedCase| planned.known().and_then(|case: &Case| (axis.get)(case)?.number());
    own.cases.sort_by_key(at);
    let found: Vec<Option<u64>> = own.cases.iter().map(at).collect();
    if found.iter().copied().eq(values.iter().map(|value| Some(*value))) {
        return Ok(own);
    }
    if own.cases.len() <= 1 {
        let key = axis.key;
        return Err(origin.error(format!(
            "its {key} cannot be varied: want a case that has one and does not say it itself"
        )));
    }
    let several = own.cases.iter().filter(|case| at(case) == found[0]);
    let named: Vec<String> = several.map(PlannedCase::id).take(NAMED_MAX).collect();
    Err(origin.error(format!(
        "want one case at each {}, and it selects for instance {}; name it",
        axis.key,
        named.join(", ")
    )))
}

/// Both ways at one value; what cannot be measured there leaves out the other too.
fn both((mut first, mut second): (PlannedCase, PlannedCase)) -> [PlannedCase; 2] {
    let other = |reason: &String| format!("the other way is not measured here: {reason}");
    match (&first.skip, &second.skip) {
        (Some(reason), None) => second.skip = Some(other(reason)),
        (None, Some(reason)) => first.skip = Some(other(reason)),
        _ => {}
    }
    [first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_four_values_an_octave_and_begins_with_few() {
        let bytes = values(64, 1 << 20, 1);
        assert_eq!(bytes[..6], [64, 80, 96, 112, 128, 160]);
        assert_eq!((bytes.len(), bytes.last()), (57, Some(&(1 << 20))));
        let first: Vec<u64> = coarse(&bytes, 1).iter().map(|at| bytes[*at as usize]).collect();
        assert_eq!(first, [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1 << 20]);
        assert_eq!(values(1, 4, 1), [1, 2, 3, 4]);
        assert_eq!(values(5, 6, 1), [5, 6]);
        assert_eq!(coarse(&values(1, 16, 1), 1).len(), 5);
        let rates = values(1_000, 1_000_000, 1_000);
        assert_eq!(rates[..6], [1_000, 1_250, 1_500, 1_750, 2_000, 2_500]);
        let first: Vec<u64> = coarse(&rates, 1_000).iter().map(|at| rates[*at as usize]).collect();
        assert_eq!(
            first,
            [
                1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000,
                1_000_000
            ]
        );
        let widest = values(1, u32::MAX.into(), 1);
        assert!(coarse(&widest, 1).len() <= COARSE_MAX && widest.is_sorted());
        assert_eq!(coarse(&widest, 1).last(), Some(&(widest.len() as u32 - 1)));
    }
}
