//! What was measured where: which run file counts for each host and pair, and each case over all of them.

use std::collections::BTreeMap;

use hopcost_model::fleet::{IndexedEstimate, RawFleet, RawTask};
use hopcost_model::text::count;

/// Statistics by which hosts are compared, the first that a case has; and whether more of it is better.
const HEADLINE: [(&str, bool); 3] =
    [("aggregate_gbps", true), ("cost_ns", false), ("p50_ns", false)];
/// Half of an interval of 95 % in standard errors.
const HALF: f64 = 1.959_963_984_540_054;

/// Pairs without a run that are named.
const PAIRS_NAMED: usize = 3;

/// The task of each host and pair that counts, of so many.
pub(super) type Best<'a> = BTreeMap<(&'a str, Option<&'a str>), (&'a RawTask, usize)>;

/// The run files that count.
pub(super) struct Files {
    pub of_hosts: Vec<Option<usize>>,
    /// Near end, far end, and file of each pair.
    pub of_pairs: Vec<(String, String, usize)>,
    /// Why pairs have no run.
    pub failed_pairs: Vec<String>,
    /// What is to be known of them.
    pub remarks: Vec<String>,
}

/// Of several attempts the one that counts, and how many there are: one that failed may have left trials all the same, and one
/// that was done goes first.
pub(super) fn best<'a>(tasks: impl Iterator<Item = &'a RawTask>) -> Best<'a> {
    let rank = |task: &RawTask| (task.state == "done", task.attempt);
    let mut best: Best = BTreeMap::new();
    for task in tasks {
        let known = best.entry((&task.a, task.b.as_deref())).or_insert((task, 0));
        known.1 += 1;
        if rank(task) >= rank(known.0) {
            known.0 = task;
        }
    }
    best
}

/// Finds them: of several the last that was done.
pub(super) fn files(raw: &RawFleet) -> Files {
    let readable = |task: &&RawTask| task.file.is_some_and(|file| raw.files[file].error.is_none());
    let best = best(raw.tasks.iter().filter(readable));
    let of_host = |name: &str| best.get(&(name, None)).and_then(|(task, _)| task.file);
    let of_hosts: Vec<Option<usize>> = raw.hosts.iter().map(|host| of_host(&host.name)).collect();
    let of_pair = |((a, b), (task, _)): (&(&str, Option<&str>), &(&RawTask, usize))| {
        Some((a.to_string(), b.as_ref()?.to_string(), task.file?))
    };
    let several = best.values().filter(|(_, n)| *n > 1).count();
    let is_known =
        |name: &str| raw.hosts.binary_search_by(|host| host.name.as_str().cmp(name)).is_ok();
    let strangers = best.keys().filter(|(a, b)| b.is_none() && !is_known(a)).count();
    let broken = raw.files.iter().filter(|file| file.error.is_some()).count();
    let remarks = [
        remark(several, "task", "measured more than once: the last run counts."),
        remark(strangers, "run", "of hosts that the table of hosts does not have: left out."),
        remark(broken, "run file", "that cannot be read: `error` in the table run_file says why."),
    ];
    let remarks = remarks.into_iter().flatten().collect();
    let of_pairs = best.iter().filter_map(of_pair).collect();
    Files { of_hosts, of_pairs, failed_pairs: failed_pairs(raw, &best), remarks }
}

/// Why pairs have no run, a few of them.
fn failed_pairs(raw: &RawFleet, best: &Best) -> Vec<String> {
    let has_none = |task: &&RawTask| {
        let is_over = ["failed", "skipped"].contains(&task.state.as_str());
        task.b.is_some() && is_over && !best.contains_key(&(&*task.a, task.b.as_deref()))
    };
    let failed: Vec<&RawTask> = raw.tasks.iter().filter(has_none).collect();
    let one = |task: &&RawTask| {
        let (b, reason) = (task.b.as_deref().unwrap_or(""), task.reason.as_deref());
        format!(
            "Pair {} to {b} {}: {}.",
            task.a,
            task.state,
            reason.unwrap_or("no reason is given")
        )
    };
    let mut said: Vec<String> = failed.iter().take(PAIRS_NAMED).map(one).collect();
    let more = failed.len().saturating_sub(PAIRS_NAMED);
    said.extend(remark(
        more,
        "more pair",
        "failed or skipped: `reason` in the table task says why.",
    ));
    said
}

/// A value of a case.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    /// Index of the host, or of the pair.
    pub host: usize,
    /// As the index has it.
    pub estimate: &'a IndexedEstimate,
    pub value: f64,
    /// Its logarithm as a time: greater is slower.
    pub log: f64,
    /// The standard error of this, by its own interval; 0 where there is none.
    pub error: f64,
}

impl Measured<'_> {
    /// Its time over that of a middle.
    pub fn ratio(&self, middle_log: f64) -> f64 {
        libm::exp(self.log - middle_log)
    }
}

/// A case over all that measured it.
pub(super) struct Case<'a> {
    /// Index in the fleet.
    pub index: usize,
    pub statistic: &'static str,
    pub is_rate: bool,
    pub hosts: Vec<Measured<'a>>,
}

impl Case<'_> {
    pub fn unit(&self) -> String {
        self.hosts.first().map_or_else(String::new, |one| one.estimate.unit.to_string())
    }

    /// What a logarithm of a time is in the unit of the values.
    pub fn value(&self, log: f64) -> f64 {
        libm::exp(if self.is_rate { -log } else { log })
    }
}

/// The cases of these files, in the order of their spellings. What its run calls invalid is no value of the case.
pub(super) fn cases<'a>(raw: &'a RawFleet, files: &[Option<usize>]) -> Vec<Case<'a>> {
    let mut found: BTreeMap<&str, [Vec<Measured>; HEADLINE.len()]> = BTreeMap::new();
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for (host, file) in files.iter().enumerate().filter_map(|(host, file)| Some((host, (*file)?))) {
        for estimate in &raw.files[file].estimates {
            let at = HEADLINE.iter().position(|(known, _)| *known == &*estimate.statistic);
            let (Some(at), Some(value)) = (at, estimate.value()) else { continue };
            let id = raw.cases[estimate.case].as_str();
            indices.insert(id, estimate.case);
            found.entry(id).or_default()[at].push(measured(host, estimate, value, HEADLINE[at].1));
        }
    }
    let case = |(id, by_statistic): (&str, [Vec<Measured<'a>>; HEADLINE.len()])| {
        let (at, hosts) =
            by_statistic.into_iter().enumerate().find(|(_, hosts)| !hosts.is_empty())?;
        let (statistic, is_rate) = HEADLINE[at];
        Some(Case { index: indices[id], statistic, is_rate, hosts })
    };
    found.into_iter().filter_map(case).collect()
}

fn measured(host: usize, estimate: &IndexedEstimate, value: f64, is_rate: bool) -> Measured<'_> {
    let log = libm::log(value);
    let ends = estimate.low.zip(estimate.high).filter(|(low, _)| *low > 0.0);
    let error = ends.map_or(0.0, |(low, high)| libm::log(high / low) / (2.0 * HALF));
    Measured { host, estimate, value, log: if is_rate { -log } else { log }, error }
}

/// `3 hosts` and the rest of the sentence, where there are any.
pub(super) fn remark(n: usize, what: &str, rest: &str) -> Option<String> {
    (n > 0).then(|| format!("{} {rest}", count(n, what)))
}
