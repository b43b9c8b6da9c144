//! Two fleets host by host: a host is a block, its run before and its run after are what is
//! compared. What a fleet measured by itself is reported in Python (`fleet/hopcost_fleet`).

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{HEADLINE, IndexedEstimate, IndexedRun, RawFleet};
use hopcost_stats::contrast::{ERROR, LogRatio, Region, contrasts};
use hopcost_stats::dependence::SerialDependence;
use hopcost_stats::sample::median;

use crate::comparison::Compared;
use crate::ratio::shown;
use crate::stored::facts::{Across, Difference};
use crate::stored::{self, ComparedFleets, ComparedRun, Fact, RunComparison, refuse_unasked};

/// A case on both sides: the logarithms of the ratio, and the values.
#[derive(Default)]
struct Pair {
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
) -> stored::Result<RunComparison> {
    let differences = differences(baseline, other);
    refuse_unasked(&differences, across)?;
    let pairs = paired(baseline, other);
    let only = |own: &RawFleet| -> Vec<String> {
        let all = own.hosts.values().flat_map(|run| &run.estimates);
        let ids: BTreeSet<&str> = all.filter_map(|of| of.headline().map(|_| &*of.case)).collect();
        ids.into_iter().filter(|id| !pairs.contains_key(id)).map(str::to_owned).collect()
    };
    let (ids, ratios): (Vec<&&str>, Vec<LogRatio>) = pairs
        .iter()
        // Hosts come in no order, so that none depends on the one before.
        .filter_map(|(id, of)| Some((id, LogRatio::of_units(&of.logs, SerialDependence::NONE)?)))
        .unzip();
    let region = Region::around(libm::log1p(margin));
    let found = contrasts(&ratios.iter().collect::<Vec<_>>(), region, ERROR);
    let compared = ids.into_iter().zip(&found).map(|(id, found)| Compared {
        contrast: Some(shown(found)),
        value_ns: median(&pairs[id].values[1]),
        baseline_ns: median(&pairs[id].values[0]),
        ..Compared::unmeasured(id)
    });
    let compared = compared.collect();
    let fleet = |side, of: &RawFleet| vec![ComparedRun::new(side, &of.id, &of.created)];
    let hosts = ComparedFleets {
        n_hosts: both(baseline, other).count() as u32,
        only_baseline: alone(baseline, other),
        only_other: alone(other, baseline),
    };
    Ok(RunComparison {
        margin,
        baseline: fleet("baseline", baseline),
        other: fleet("other", other),
        across: across.to_vec(),
        differences,
        compared,
        only_baseline: only(baseline),
        only_other: only(other),
        hosts: Some(hosts),
        ..RunComparison::default()
    })
}

/// The runs of hosts that both fleets have measured.
fn both<'a>(
    a: &'a RawFleet,
    b: &'a RawFleet,
) -> impl Iterator<Item = (&'a IndexedRun, &'a IndexedRun)> {
    a.hosts.iter().filter_map(|(name, run)| Some((run, b.hosts.get(name)?)))
}

/// The hosts that only one fleet has measured.
fn alone(of: &RawFleet, other: &RawFleet) -> Vec<String> {
    of.hosts.keys().filter(|name| !other.hosts.contains_key(*name)).cloned().collect()
}

/// What hosts differ in from themselves: they may differ from each other.
fn differences(baseline: &RawFleet, other: &RawFleet) -> Vec<Difference> {
    let mut changed: [Vec<Fact>; 2] = Default::default();
    for (before, after) in both(baseline, other) {
        let facts = [before, after].map(facts);
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

/// What has to be the same of a host before and after.
fn facts(run: &IndexedRun) -> BTreeMap<(Across, String), Fact> {
    let facts = run.facts.iter().filter_map(|(key, value)| Fact::of_fingerprint(key, value));
    facts.map(|fact| ((fact.across, fact.what.clone()), fact)).collect()
}

/// The cases that hosts have measured on both sides, each by the first statistic that one has.
fn paired<'a>(baseline: &'a RawFleet, other: &'a RawFleet) -> BTreeMap<&'a str, Pair> {
    let mut pairs: BTreeMap<&str, BTreeMap<usize, Pair>> = BTreeMap::new();
    for (before, after) in both(baseline, other) {
        for of in &before.estimates {
            let is_same =
                |now: &&IndexedEstimate| now.case == of.case && now.statistic == of.statistic;
            let now = after.estimates.iter().find(is_same).and_then(IndexedEstimate::headline);
            let Some(((statistic, value), (_, now))) = of.headline().zip(now) else { continue };
            let sign = if HEADLINE[statistic].1 { -1.0 } else { 1.0 };
            let pair = pairs.entry(&of.case).or_default().entry(statistic).or_default();
            pair.logs.push(sign * (libm::log(now) - libm::log(value)));
            pair.values[0].push(value);
            pair.values[1].push(now);
        }
    }
    pairs.into_iter().filter_map(|(id, of)| Some((id, of.into_values().next()?))).collect()
}
