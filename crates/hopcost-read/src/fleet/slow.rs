//! What the slow hosts have that the others have not.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{Off, Outlier, SlowFact};
use hopcost_stats::outlier::groups::{fisher, holm};

use super::groups::{ERROR, Members};

/// Slow hosts below which nothing can be in common.
const SLOW_MIN: usize = 2;

/// Looks at every value of every reading and label, and tells the one of each that is commoner than by chance.
pub(super) fn found(members: &Members, outliers: &[Outlier], raw: &RawFleet) -> Vec<SlowFact> {
    let slow: BTreeSet<&str> = outliers
        .iter()
        .filter(|outlier| outlier.off == Off::Slower)
        .map(|outlier| outlier.host.as_str())
        .collect();
    let is_slow = |host: &usize| slow.contains(raw.hosts[*host].name.as_str());
    let n_slow = members.measured.iter().filter(|host| is_slow(host)).count();
    let all = members.measured.len();
    if n_slow < SLOW_MIN || n_slow == all {
        return Vec::new();
    }
    let mut values: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, _) in members.of.keys() {
        *values.entry(key).or_default() += 1;
    }
    // What nearly every host has a value of its own of is its name, and not what it has in common.
    let is_common = |key: &str| values[key] > 1 && 2 * values[key] <= all;
    let fact = |((key, value), hosts): (&(String, String), &Vec<usize>)| {
        let with = hosts.iter().filter(|host| is_slow(host)).count();
        SlowFact {
            key: key.clone(),
            value: value.clone(),
            n_slow_with: with as u32,
            n_slow: n_slow as u32,
            n_others_with: (hosts.len() - with) as u32,
            n_others: (all - n_slow) as u32,
            error: fisher(with as u64, n_slow as u64, hosts.len() as u64, all as u64),
        }
    };
    let mut facts: Vec<SlowFact> =
        members.of.iter().filter(|((key, _), _)| is_common(key)).map(fact).collect();
    let errors: Vec<f64> = facts.iter().map(|fact| fact.error).collect();
    for (fact, error) in facts.iter_mut().zip(holm(&errors)) {
        fact.error = error;
    }
    facts.retain(|fact| fact.error <= ERROR);
    // Of equals the one that people ask for first.
    let asked = ["kernel.release", "label ", "cpu.model", "virt.hypervisor"];
    let place =
        |of: &SlowFact| asked.iter().position(|key| of.key.starts_with(key)).unwrap_or(asked.len());
    facts.sort_by(|a, b| a.error.total_cmp(&b.error).then(place(a).cmp(&place(b))));
    let mut known = BTreeSet::new();
    facts.retain(|fact| known.insert(fact.key.clone()));
    facts
}
