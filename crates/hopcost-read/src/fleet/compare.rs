//! Two fleets host by host: a host is a block, its run before and its run after are what is compared.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{
    Across, Compared, ComparedFleets, ComparedRun, Difference, RunComparison,
};
use hopcost_stats::contrast::{ERROR, LogRatio, Region, contrasts};
use hopcost_stats::next_run::Autocorrelation;
use hopcost_stats::sample::median;

use super::measured::{self, Case};
use crate::comparison;
use crate::stored::{self, Fact, unasked};

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
    // Hosts come in no order, so that none depends on the one before.
    let ratio = |pair: &Pair| LogRatio::of_units(&pair.logs, Autocorrelation::NONE);
    let ratios: Vec<LogRatio> = pairs.iter().filter_map(ratio).collect();
    let region = Region::around(libm::log1p(margin));
    let found = contrasts(&ratios.iter().collect::<Vec<_>>(), region, ERROR);
    let compared = pairs.iter().zip(&found).map(|(pair, found)| Compared {
        baseline: pair.case.clone(),
        contrast: Some(comparison::shown(found)),
        value_ns: median(&pair.values[1]),
        baseline_ns: median(&pair.values[0]),
        ..Compared::unmeasured(&pair.case)
    });
    let compared = compared.collect();
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

/// What hosts differ in from themselves: they may differ from each other.
fn differences(
    sides: [&RawFleet; 2],
    hosts: &[BTreeMap<&str, usize>; 2],
    both: &[&str],
) -> Vec<Difference> {
    let mut changed: [Vec<Fact>; 2] = Default::default();
    for host in both {
        let facts = [0, 1].map(|side| {
            let facts = sides[side].files[hosts[side][host]].facts.iter();
            let facts = facts.filter_map(|(key, value)| Fact::of_fingerprint(key, value));
            facts.map(|fact| ((fact.across, fact.what.clone()), fact)).collect::<BTreeMap<_, _>>()
        });
        for side in [0, 1] {
            let is_other = |(what, fact): &(&_, &Fact)| {
                facts[1 - side].get(*what).is_some_and(|other| other.value != fact.value)
            };
            let own = facts[side].iter().filter(is_other);
            changed[side].extend(own.map(|(_, fact)| fact.clone()));
        }
    }
    stored::differences(changed.each_ref().map(|facts| facts.iter().collect()))
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
