//! Stored runs beside others: the unit is the run. What differs between them comes first; where
//! nothing does but what was asked for, each case that both sides have is compared by its value as
//! the ladder shows it.

mod facts;
mod summary;

use std::collections::BTreeMap;

use hopcost_model::case::Case;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::raw::{RawRun, YardstickClass};
use hopcost_model::results::{
    Across, Compared, ComparedRun, ComparedRuns, Difference, RunComparison, RunSpread,
};
use hopcost_model::text::count;
use hopcost_stats::compare::{self, Answer, ERROR, LogRatio, RUNS_MIN, Spread};
use hopcost_stats::sample::median;

use crate::comparison::{compared, shift};
use crate::run::Run;
use crate::trial::DECILES;
pub(crate) use facts::Fact;
use summary::CaseSummary;

pub use facts::fingerprint;
pub use summary::RunSummary;

/// What is asked of stored runs.
pub struct Asked<'a> {
    /// Ratios off 1 by no more than this share are those of equals.
    pub margin: f64,
    /// What the runs may differ in.
    pub across: &'a [Across],
    /// How far identical runs of cases of a class lie apart on the runs' machine, where that is known.
    pub spread: &'a dyn Fn(Option<YardstickClass>) -> Option<Spread>,
}

/// The values of a case on both sides, one a run that measured it.
struct Pair<'a> {
    sides: [Vec<&'a CaseSummary>; 2],
}

/// Compares the runs of a baseline with others.
///
/// # Errors
/// What they differ in, besides what was asked for.
pub fn of_runs(
    baseline: &[RunSummary],
    other: &[RunSummary],
    asked: &Asked,
) -> Result<RunComparison, Vec<Difference>> {
    let (pairs, [only_baseline, only_other]) = paired([baseline, other], asked.across);
    let facts = [0, 1].map(|side| {
        let runs = [baseline, other][side].iter().flat_map(|run| &run.facts);
        let cases = pairs.iter().flat_map(move |pair| &pair.sides[side]);
        runs.chain(cases.flat_map(|case| &case.facts)).collect()
    });
    let differences = differences(facts);
    let unasked = unasked(&differences, asked.across);
    if !unasked.is_empty() {
        return Err(unasked);
    }
    let margin = libm::log1p(asked.margin);
    let references = references([baseline, other]);
    let known: Vec<Known> = pairs.iter().filter_map(|p| Known::of(p, &references, asked)).collect();
    let ratios: Vec<&LogRatio> = known.iter().map(|known| &known.ratio).collect();
    let answers = compare::answers(&ratios, margin, ERROR);
    let told = known.iter().zip(answers).map(|(known, answer)| known.told(answer));
    let compared = told.collect();
    let briefly = |runs: &[RunSummary]| -> Vec<ComparedRun> {
        runs.iter()
            .map(|run| ComparedRun { id: run.id.clone(), started: run.started.clone() })
            .collect()
    };
    Ok(RunComparison {
        schema: hopcost_model::SCHEMA.to_owned(),
        margin: asked.margin,
        baseline: briefly(baseline),
        other: briefly(other),
        across: asked.across.to_vec(),
        differences,
        remarks: remarks(&known, baseline.iter().chain(other)),
        compared,
        only_baseline,
        only_other,
        hosts: None,
    })
}

/// What a run that is planned differs in from those of a baseline, besides what it may: as far as
/// that is known before its first trial. `rust` are the mechanisms of this binary.
pub fn differences_before(
    baseline: &[RunSummary],
    planned: &RawRun,
    rust: &[Mechanism],
    across: &[Across],
) -> Vec<Difference> {
    let run = Run::new(planned, rust);
    let cases: Vec<&Case> = planned.plan.live_cases().collect();
    let of_cases = cases.iter().flat_map(|case| Fact::of_case(&run, case));
    let now: Vec<Fact> = Fact::of_run(planned).into_iter().chain(of_cases).collect();
    let then = baseline.iter().flat_map(|run| {
        let planned = run.cases.iter().filter(|case| cases.contains(&&case.case));
        run.facts.iter().chain(planned.flat_map(|case| &case.facts))
    });
    unasked(&differences([then.collect(), now.iter().collect()]), across)
}

pub(crate) fn unasked(differences: &[Difference], across: &[Across]) -> Vec<Difference> {
    differences.iter().filter(|one| !across.contains(&one.across)).cloned().collect()
}

/// The cases that both sides measured, in the order of the first run, and those of one side alone.
fn paired<'a>(
    sides: [&'a [RunSummary]; 2],
    across: &[Across],
) -> (Vec<Pair<'a>>, [Vec<String>; 2]) {
    let by_key = |runs: &'a [RunSummary]| {
        let mut order: Vec<String> = Vec::new();
        let mut cases: BTreeMap<String, Vec<&CaseSummary>> = BTreeMap::new();
        for case in runs.iter().flat_map(|run| &run.cases) {
            let found = cases.entry(case.key(across)).or_default();
            if found.is_empty() {
                order.push(case.key(across));
            }
            found.push(case);
        }
        (order, cases)
    };
    let [(order, first), (other_order, second)] = sides.map(by_key);
    let mut pairs = Vec::new();
    let mut only: [Vec<String>; 2] = Default::default();
    for key in &order {
        let baseline = &first[key];
        match second.get(key) {
            None => only[0].extend(ids(baseline)),
            Some(other) if ids(baseline).len() == 1 && ids(other).len() == 1 => {
                pairs.push(Pair { sides: [baseline.clone(), other.clone()] });
            }
            // What differs in the axis asked for is told apart again where a side has several.
            Some(other) => {
                let all = [baseline, other];
                for id in ids(baseline) {
                    let own = all.map(|side| {
                        side.iter().filter(|case| case.id == id).copied().collect::<Vec<_>>()
                    });
                    match own[1].is_empty() {
                        true => only[0].push(id),
                        false => pairs.push(Pair { sides: own }),
                    }
                }
                only[1].extend(ids(other).into_iter().filter(|id| !ids(baseline).contains(id)));
            }
        }
    }
    let alone = other_order.iter().filter(|key| !first.contains_key(*key));
    only[1].extend(alone.flat_map(|key| ids(&second[key])));
    (pairs, only)
}

/// What is not the same in all runs that know of it.
pub(crate) fn differences(sides: [Vec<&Fact>; 2]) -> Vec<Difference> {
    let mut differences: Vec<Difference> = Vec::new();
    for (side, fact) in
        (0..).zip(&sides).flat_map(|(side, facts)| facts.iter().map(move |fact| (side, fact)))
    {
        let known = |one: &Difference| one.across == fact.across && one.what == fact.what;
        let at = differences.iter().position(known).unwrap_or_else(|| {
            differences.push(Difference {
                across: fact.across,
                what: fact.what.clone(),
                baseline: Vec::new(),
                other: Vec::new(),
            });
            differences.len() - 1
        });
        let difference = &mut differences[at];
        let values = if side == 0 { &mut difference.baseline } else { &mut difference.other };
        if !values.contains(&fact.value) {
            values.push(fact.value.clone());
        }
    }
    let differs = |one: &Difference| {
        let mut values = one.baseline.iter().chain(&one.other);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    differences.retain(differs);
    let place = |of: &Difference| Across::ALL.iter().position(|across| *across == of.across);
    differences.sort_by_key(place);
    differences
}

/// The cases, each once.
fn ids(cases: &[&CaseSummary]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for case in cases {
        if !ids.contains(&case.id) {
            ids.push(case.id.clone());
        }
    }
    ids
}

/// The level of each yardstick that values are put in relation to: that of the first run that has
/// it, so that a level which was learnt anew in between does not look like a change.
fn references(sides: [&[RunSummary]; 2]) -> BTreeMap<String, f64> {
    let mut levels = BTreeMap::new();
    for case in sides.into_iter().flatten().flat_map(|run| &run.cases) {
        if let Some((yardstick, level_ns)) = &case.reference {
            levels.entry(yardstick.clone()).or_insert(*level_ns);
        }
    }
    levels
}

/// What is known of a pair.
struct Known {
    case: String,
    baseline: Option<String>,
    /// The middle of either side's values.
    middles_ns: [Option<f64>; 2],
    runs: [usize; 2],
    ratio: LogRatio,
    spread: RunSpread,
    deciles: Vec<(f64, LogRatio)>,
    is_mixed: bool,
    is_invalid: bool,
}

impl Known {
    /// `None` where no run of a side has a value that stands in one column with the others.
    fn of(pair: &Pair, references: &BTreeMap<String, f64>, asked: &Asked) -> Option<Self> {
        let [first, second] = [pair.sides[0].first()?, pair.sides[1].first()?];
        let all = || pair.sides.iter().flatten();
        let at_reference = all().all(|case| case.reference.is_some());
        let is_mixed = !at_reference && all().any(|case| case.reference.is_some());
        let factor = |case: &CaseSummary| match &case.reference {
            Some((yardstick, level_ns)) if at_reference => references[yardstick] / level_ns,
            _ => 1.0,
        };
        let values = |of: &dyn Fn(&CaseSummary) -> Option<f64>| {
            [0, 1].map(|side| {
                let cases = pair.sides[side].iter();
                let value = |case: &&CaseSummary| Some(of(case)? * factor(case));
                let values = cases.filter_map(value).filter(|ns| *ns > 0.0 && ns.is_finite());
                values.collect::<Vec<f64>>()
            })
        };
        let own = move |case: &CaseSummary| match at_reference {
            true => case.at_reference,
            false => case.as_met,
        };
        let spread = (first.class == second.class).then(|| (asked.spread)(first.class)).flatten();
        let ratio = |values: [Vec<f64>; 2]| {
            let logs = values.map(|side| side.into_iter().map(libm::log).collect::<Vec<f64>>());
            LogRatio::of_runs(&logs[0], &logs[1], spread)
        };
        // Single operations and batches share no column.
        let headline =
            values(&|case| (case.statistic == first.statistic).then(|| own(case).value_ns));
        let decile = |(at, q): (usize, &f64)| {
            Some((*q, ratio(values(&|case| Some(own(case).deciles_ns?[at])))?))
        };
        let runs = [headline[0].len(), headline[1].len()];
        Some(Self {
            case: second.id.clone(),
            baseline: (first.id != second.id).then(|| first.id.clone()),
            middles_ns: [median(&headline[0]), median(&headline[1])],
            ratio: ratio(headline)?,
            spread: match spread {
                _ if runs.iter().all(|n| *n >= RUNS_MIN) => RunSpread::Runs,
                Some(_) => RunSpread::Machine,
                None => RunSpread::Unknown,
            },
            runs,
            deciles: DECILES.iter().enumerate().filter_map(decile).collect(),
            is_mixed,
            is_invalid: all().any(|case| case.is_invalid),
        })
    }

    fn told(&self, answer: Answer) -> Compared {
        Compared {
            value_ns: self.middles_ns[1],
            deciles: self.deciles.iter().map(|(q, ratio)| shift(*q, ratio)).collect(),
            blocks_to_decide: None,
            n_blocks: 0,
            runs: Some(ComparedRuns {
                baseline: self.baseline.clone(),
                baseline_ns: self.middles_ns[0],
                n_baseline: self.runs[0] as u32,
                n_other: self.runs[1] as u32,
                spread: self.spread,
                runs_to_decide: answer.n_to_decide,
            }),
            ..compared(self.case.clone(), Some(&self.ratio), Some(answer))
        }
    }
}

fn remarks<'a>(known: &[Known], runs: impl Iterator<Item = &'a RunSummary>) -> Vec<String> {
    let of = |has: fn(&Known) -> bool| known.iter().filter(|known| has(known)).count();
    let (mixed, invalid) = (of(|known| known.is_mixed), of(|known| known.is_invalid));
    let cut_off: Vec<&str> = runs.filter(|run| run.is_cut_off).map(|run| run.id.as_str()).collect();
    let mixed = (mixed > 0).then(|| {
        format!(
            "{} compared as met: not every run could put its values in relation to the machine's \
             reference speed.",
            count(mixed, "case")
        )
    });
    let invalid = (invalid > 0).then(|| {
        format!(
            "{} invalid in one of these runs: `hopcost report` of it says why.",
            count(invalid, "case")
        )
    });
    let cut_off = (!cut_off.is_empty()).then(|| format!("Cut off: {}.", cut_off.join(", ")));
    [mixed, invalid, cut_off].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
