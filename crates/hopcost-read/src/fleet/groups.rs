//! Hosts that have something in common against the others, and what of that cannot be told apart.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::fleet::RawFleet;
use hopcost_model::results::{FleetGroup, Off, SlowFact};
use hopcost_stats::outlier::groups::{Ranked, holm};

use super::measured::Case;

/// Readings by which hosts are grouped, besides their labels.
const GROUPED: [&str; 3] = ["cpu.model", "kernel.release", "virt.hypervisor"];
/// Groups that are told at most, by error.
const TOLD_MAX: usize = 200;
/// The error that is told.
pub(super) const ERROR: f64 = 0.05;
/// Readings of what changes by itself.
const CHANGING: [&str; 3] = ["load.", "stat.", "peer."];
/// The share that two sets of hosts have in common from which they are much the same.
const SAME: f64 = 0.8;
/// Names in a sentence.
const NAMED_MAX: usize = 4;

/// Which hosts have which value of what: only of those that were measured.
pub(super) struct Members {
    /// Hosts that were measured.
    pub measured: BTreeSet<usize>,
    /// By key and value.
    pub of: BTreeMap<(String, String), Vec<usize>>,
}

/// How the label of a host is called beside readings.
fn label(key: &str) -> String {
    format!("label {key}")
}

/// Whether it is a reading of one CPU.
fn is_of_cpu(key: &str) -> bool {
    let rest =
        key.strip_prefix("cpu").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.is_some_and(|rest| rest.starts_with('.') && !key.starts_with("cpu."))
}

impl Members {
    pub fn of(raw: &RawFleet, files: &[Option<usize>]) -> Self {
        let mut of: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        let mut measured = BTreeSet::new();
        let known = files.iter().enumerate().filter_map(|(host, file)| Some((host, (*file)?)));
        for (host, file) in known {
            measured.insert(host);
            let facts = raw.files[file].facts.iter();
            let facts = facts.filter(|(key, _)| {
                !is_of_cpu(key) && !CHANGING.iter().any(|of| key.starts_with(of))
            });
            let facts = facts.map(|(key, value)| (key.to_string(), value.to_string()));
            let labels = raw.hosts[host].labels.iter();
            let labels = labels.map(|(key, value)| (label(key), value.clone()));
            for fact in facts.chain(labels) {
                of.entry(fact).or_default().push(host);
            }
        }
        Self { measured, of }
    }

    /// The hosts that have it.
    fn hosts(&self, key: &str, value: &str) -> BTreeSet<usize> {
        let found = self.of.get(&(key.to_owned(), value.to_owned()));
        found.into_iter().flatten().copied().collect()
    }
}

/// Compares each group in each case, and how many comparisons that were.
pub(super) fn compared(members: &Members, cases: &[Case], margin: f64) -> (Vec<FleetGroup>, u32) {
    let is_group = |key: &str| GROUPED.contains(&key) || key.starts_with("label ");
    let groups: Vec<_> = members.of.iter().filter(|((key, _), _)| is_group(key)).collect();
    let mut tried: Vec<(FleetGroup, Vec<usize>)> = Vec::new();
    let logs: Vec<Vec<f64>> =
        cases.iter().map(|case| case.hosts.iter().map(|one| one.log).collect()).collect();
    let ranked: Vec<Ranked> = logs.iter().map(|logs| Ranked::of(logs)).collect();
    for (at, (case, ranked)) in cases.iter().zip(&ranked).enumerate() {
        let place: BTreeMap<usize, usize> =
            case.hosts.iter().enumerate().map(|(place, one)| (one.host, place)).collect();
        for ((key, value), hosts) in &groups {
            let own: Vec<usize> =
                hosts.iter().filter_map(|host| place.get(host).copied()).collect();
            let (n, all) = (own.len() as u32, case.hosts.len() as u32);
            // More than half are the others of every other group.
            let Some(error) = ranked.error(&own).filter(|_| 2 * n <= all) else { continue };
            let group = FleetGroup {
                key: key.clone(),
                value: value.clone(),
                n,
                n_others: all - n,
                case: at as u32,
                ratio: 1.0,
                low: None,
                high: None,
                error,
                off: None,
            };
            tried.push((group, own));
        }
    }
    let n = tried.len() as u32;
    let errors: Vec<f64> = tried.iter().map(|(group, _)| group.error).collect();
    for ((group, _), error) in tried.iter_mut().zip(holm(&errors)) {
        group.error = error;
    }
    tried.sort_by(|a, b| a.0.error.total_cmp(&b.0.error));
    tried.truncate(TOLD_MAX);
    for (group, own) in &mut tried {
        let Some(shift) = ranked[group.case as usize].shift(own) else { continue };
        group.ratio = libm::exp(shift.point);
        group.low = shift.interval.map(|(low, _)| libm::exp(low));
        group.high = shift.interval.map(|(_, high)| libm::exp(high));
        let is_off = group.error <= ERROR && shift.point.abs() > libm::log1p(margin);
        group.off = is_off.then_some(if shift.point > 0.0 { Off::Slower } else { Off::Faster });
    }
    let mut groups: Vec<FleetGroup> = tried.into_iter().map(|(group, _)| group).collect();
    groups.sort_by(|a, b| {
        let far = |of: &FleetGroup| (of.off.is_none(), -libm::log(of.ratio).abs());
        let ((a_none, a_far), (b_none, b_far)) = (far(a), far(b));
        a_none.cmp(&b_none).then(a_far.total_cmp(&b_far))
    });
    (groups, n)
}

/// What is told of nearly the same hosts, so that nobody can say which of it matters.
pub(super) fn confounded(
    members: &Members,
    groups: &[FleetGroup],
    slow: &[SlowFact],
) -> Vec<String> {
    let groups = groups.iter().filter(|group| group.off.is_some()).map(|of| (&of.key, &of.value));
    let mut told: Vec<((&String, &String), BTreeSet<usize>)> = Vec::new();
    for (key, value) in slow.iter().map(|of| (&of.key, &of.value)).chain(groups) {
        if told.iter().all(|((known, _), _)| *known != key) {
            told.push(((key, value), members.hosts(key, value)));
        }
    }
    let mut sentences = Vec::new();
    while let Some(((key, value), hosts)) = (!told.is_empty()).then(|| told.remove(0)) {
        let is_same = |other: &BTreeSet<usize>| {
            let both = hosts.intersection(other).count() as f64;
            both >= SAME * hosts.union(other).count() as f64
        };
        let (same, rest): (Vec<_>, Vec<_>) = told.into_iter().partition(|(_, of)| is_same(of));
        told = rest;
        // What one reading says another of its section says too.
        let mut sections: BTreeSet<&str> = BTreeSet::from([section(key)]);
        let other: Vec<_> =
            same.iter().filter(|((key, _), _)| sections.insert(section(key))).collect();
        if other.is_empty() {
            continue;
        }
        let is_one = other.iter().all(|(_, of)| *of == hosts);
        let mut names: Vec<String> = vec![format!("{key} {value}")];
        names.extend(
            other.iter().take(NAMED_MAX - 1).map(|((key, value), _)| format!("{key} {value}")),
        );
        let more = (other.len() + 1).saturating_sub(NAMED_MAX);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let last = names.pop().unwrap_or_default();
        let same = if is_one { "the same hosts" } else { "much the same hosts" };
        sentences.push(format!(
            "{} and {last} are of {same}: which of them makes the difference, this fleet cannot tell.",
            names.join(", ")
        ));
    }
    sentences
}

/// The part of a key before its first dot; a label stands for itself.
fn section(key: &str) -> &str {
    if key.starts_with("label ") { key } else { key.split('.').next().unwrap_or(key) }
}
