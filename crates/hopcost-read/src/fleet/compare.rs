//! Two fleets host by host: a host is a block, its run before and its run after are what is compared.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{
    Across, Compared, ComparedFleets, ComparedRun, ComparedRuns, Difference, RunComparison,
};
use hopcost_stats::compare::{self, Answer, BLOCKS_MAX, ERROR, LogRatio};
use hopcost_stats::sample::median;

use super::measured::{self, Case};
use crate::comparison;
use crate::stored::{Fact, unasked};

/// A case on both sides: the logarithms of the ratio, and the values.
struct Pair {
    case: String,
    logs: Vec<f64>,
    values: [Vec<f64>; 2],
}

/// Compares a fleet with a baseline.
///
/// # Errors
/// What hosts differ in from themselves, besides what was asked for.
pub fn of_fleets(
    baseline: &RawFleet,
    other: &RawFleet,
    margin: f64,
    across: &[Across],
) -> Result<RunComparison, Vec<Difference>> {
    let sides = [baseline, other];
    let files = sides.map(|side| measured::files(side).of_hosts);
    let hosts = [0, 1].map(|side| hosts(sides[side], &files[side]));
    let both: Vec<&str> =
        hosts[0].keys().filter(|name| hosts[1].contains_key(*name)).copied().collect();
    let differences = differences(sides, &hosts, &both);
    let unasked = unasked(&differences, across);
    if !unasked.is_empty() {
        return Err(unasked);
    }
    let cases = [0, 1].map(|side| measured::cases(sides[side], &files[side]));
    let (pairs, [only_baseline, only_other]) = paired(sides, &cases);
    let known: Vec<(Pair, LogRatio)> = pairs
        .into_iter()
        .filter_map(|pair| Some((blocks(&pair.logs)?, pair)))
        .map(|(of, pair)| (pair, of))
        .collect();
    let ratios: Vec<&LogRatio> = known.iter().map(|(_, ratio)| ratio).collect();
    let answers = compare::answers(&ratios, libm::log1p(margin), ERROR);
    let found = known.iter().zip(answers);
    let compared = found.map(|((pair, ratio), answer)| told(pair, ratio, answer)).collect();
    let alone = |side: usize| -> Vec<String> {
        let own = hosts[side].keys().filter(|name| !hosts[1 - side].contains_key(*name));
        own.map(|name| name.to_string()).collect()
    };
    let fleet = |side: &RawFleet| {
        let word = |key: &str| side.about.get(key).cloned().unwrap_or_default();
        vec![ComparedRun { id: word("id"), started: word("created") }]
    };
    let hosts = ComparedFleets {
        n_hosts: both.len() as u32,
        only_baseline: alone(0),
        only_other: alone(1),
    };
    Ok(RunComparison {
        schema: hopcost_model::SCHEMA.to_owned(),
        margin,
        baseline: fleet(baseline),
        other: fleet(other),
        across: across.to_vec(),
        differences,
        remarks: sides.iter().flat_map(|side| &side.left_out).cloned().collect(),
        compared,
        only_baseline,
        only_other,
        hosts: Some(hosts),
        along: None,
    })
}

/// The hosts that were measured, with their files.
fn hosts<'a>(raw: &'a RawFleet, files: &[Option<usize>]) -> BTreeMap<&'a str, usize> {
    let known = raw.hosts.iter().zip(files);
    known.filter_map(|(host, file)| Some((host.name.as_str(), (*file)?))).collect()
}

/// What hosts are not what they were in: hosts may differ from each other, for each is its own block.
fn differences(
    sides: [&RawFleet; 2],
    hosts: &[BTreeMap<&str, usize>; 2],
    both: &[&str],
) -> Vec<Difference> {
    let mut all: Vec<Difference> = Vec::new();
    let mut known: BTreeMap<(Across, String), usize> = BTreeMap::new();
    for host in both {
        let facts = [0, 1].map(|side| {
            let file = &sides[side].files[hosts[side][host]];
            let of = |(key, value): &(std::sync::Arc<str>, std::sync::Arc<str>)| {
                Fact::of_fingerprint(key, value).map(|fact| ((fact.across, fact.what), fact.value))
            };
            file.facts.iter().filter_map(of).collect::<BTreeMap<_, _>>()
        });
        let [before, after] = facts;
        for (what, value) in &before {
            let Some(now) = after.get(what).filter(|now| *now != value) else { continue };
            let at = *known.entry(what.clone()).or_insert_with(|| {
                let (across, what) = what.clone();
                all.push(Difference { across, what, baseline: Vec::new(), other: Vec::new() });
                all.len() - 1
            });
            let Difference { baseline, other, .. } = &mut all[at];
            for (values, value) in [(baseline, value), (other, now)] {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
    }
    let place = |of: &Difference| Across::ALL.iter().position(|across| *across == of.across);
    all.sort_by_key(place);
    all
}

/// The cases of both sides with the hosts that measured them on both, and the cases of one side alone.
fn paired(sides: [&RawFleet; 2], cases: &[Vec<Case>; 2]) -> (Vec<Pair>, [Vec<String>; 2]) {
    let by_id = [0, 1].map(|side| {
        let id = |case: &Case| sides[side].cases[case.index].clone();
        cases[side].iter().map(|case| (id(case), case)).collect::<BTreeMap<_, _>>()
    });
    let mut pairs = Vec::new();
    for (id, before) in &by_id[0] {
        let Some(after) = by_id[1].get(id).filter(|one| one.statistic == before.statistic) else {
            continue;
        };
        let after: BTreeMap<&str, (f64, f64)> = after
            .hosts
            .iter()
            .map(|one| (sides[1].hosts[one.host].name.as_str(), (one.log, one.value)))
            .collect();
        let mut pair = Pair { case: id.clone(), logs: Vec::new(), values: Default::default() };
        for one in &before.hosts {
            let now = after.get(sides[0].hosts[one.host].name.as_str());
            let Some((log, value)) = now.filter(|(log, _)| (log - one.log).is_finite()) else {
                continue;
            };
            pair.logs.push(log - one.log);
            pair.values[0].push(one.value);
            pair.values[1].push(*value);
        }
        if !pair.logs.is_empty() {
            pairs.push(pair);
        }
    }
    let known: BTreeSet<&String> = pairs.iter().map(|pair| &pair.case).collect();
    let alone = |side: usize| -> Vec<String> {
        by_id[side].keys().filter(|id| !known.contains(id)).cloned().collect()
    };
    let only = [alone(0), alone(1)];
    (pairs, only)
}

/// Hosts as blocks; where there are more than a comparison takes, the means of a few each, which are as
/// likely to lie on either side where nothing has changed.
fn blocks(logs: &[f64]) -> Option<LogRatio> {
    let most = BLOCKS_MAX as usize;
    if logs.len() <= most {
        return LogRatio::of_blocks(logs);
    }
    let mean = |first: usize| {
        let own: Vec<f64> = logs.iter().skip(first).step_by(most).copied().collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    LogRatio::of_blocks(&(0..most).map(mean).collect::<Vec<_>>())
}

fn told(pair: &Pair, ratio: &LogRatio, answer: Answer) -> Compared {
    let n = pair.logs.len() as u32;
    let runs = ComparedRuns {
        baseline: None,
        baseline_ns: median(&pair.values[0]),
        n_baseline: n,
        n_other: n,
        met_ratio: None,
        runs_to_decide: answer.n_to_decide,
    };
    Compared {
        value_ns: median(&pair.values[1]),
        blocks_to_decide: None,
        n_blocks: n,
        runs: Some(runs),
        ..comparison::compared(pair.case.clone(), Some(ratio), Some(answer))
    }
}
