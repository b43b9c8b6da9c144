//! What `hopcost doctor` has measured and read of a machine, and what follows from it.

mod judge;

use std::collections::BTreeMap;

use hopcost_model::case::{Placement, Workload};
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::results::{Checkup, CpuGaps, CpuLine, Handover, QuietSpeed, Right};
use hopcost_stats::sample::{median, quantile_sorted};

use crate::run::Run;
use crate::sums::total;

/// What is known besides the run.
pub struct Besides {
    /// CPUs that this process may use.
    pub cpus_allowed: Vec<u32>,
    /// What runs have taught of this machine.
    pub speeds: Vec<QuietSpeed>,
    /// What hopcost may do here.
    pub rights: Vec<Right>,
    /// How long it took.
    pub took_s: f64,
}

/// From the trials of a doctor to what it says.
pub fn checkup(raw: &RawRun, besides: Besides) -> Checkup {
    let of = |workload, mechanism: &'static str| {
        let fits = move |trial: &&RawTrial| {
            let case = raw.plan.case(trial.case);
            case.is_some_and(|case| case.workload == workload && case.mechanism == mechanism)
        };
        raw.trials.iter().filter(|trial| trial.error.is_none()).filter(fits)
    };
    let lines = lines(raw, of(Workload::Roundtrip, "flag"));
    let (pipes, wakes) = (of(Workload::Roundtrip, "pipe"), of(Workload::Wake, "pipe"));
    let mut found = Checkup {
        about: raw.about.clone(),
        took_s: besides.took_s,
        cpus_allowed: besides.cpus_allowed,
        cpus: raw.plan.cpus.clone(),
        host: raw.host_before.clone(),
        clocks: raw.clocks.clone(),
        gaps: of(Workload::Roundtrip, "gaps").filter_map(|trial| gaps(raw, trial)).collect(),
        handovers: handovers(raw, &lines, pipes.chain(wakes)),
        lines,
        speeds: besides.speeds,
        rights: besides.rights,
        failures: failures(raw),
        findings: Vec::new(),
        first: String::new(),
    };
    found.findings = judge::findings(&Run::new(raw, &[]), &found);
    found.first = judge::first(&found);
    found
}

/// Each reason once, with its first case, and what was skipped.
fn failures(raw: &RawRun) -> Vec<String> {
    let skipped = raw.plan.cases.iter().filter_map(|case| Some((case.skip.clone()?, case.id())));
    let failed = raw.trials.iter().filter_map(|trial| {
        Some((trial.error.clone()?, raw.plan.cases.get(trial.case as usize)?.id()))
    });
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (why, id) in skipped.chain(failed) {
        let case = id.split('?').next().unwrap_or(&id).to_owned();
        all.entry(why).or_insert(case);
    }
    // That there is no pair of some relation is no failure.
    let is_plain = |why: &str| why.starts_with("no two CPUs here") || why.starts_with("needs two");
    let all = all.into_iter().filter(|(why, _)| !is_plain(why));
    all.map(|(why, case)| format!("{case}: {why}")).collect()
}

/// The CPUs of a trial's ends.
fn cpus_of(trial: &RawTrial) -> Option<(u32, u32)> {
    let caller = trial.cpus_asked.first().copied().flatten()?;
    Some((caller, trial.cpus_asked.get(1).copied().flatten().unwrap_or(caller)))
}

/// What an operation of each sample took, ascending.
fn operations_ns(raw: &RawRun, trial: &RawTrial) -> Option<Vec<f64>> {
    let operations = match trial.stamp? {
        Stamp::Batch { n } | Stamp::TwoLengths { n } => n.max(1),
        _ => 1,
    };
    let ticks_per_ns = raw.ticks_per_second(trial)? / 1e9 * operations as f64;
    let mut all: Vec<f64> = trial.samples.iter().map(|t| *t as f64 / ticks_per_ns).collect();
    all.sort_by(f64::total_cmp);
    (!all.is_empty()).then_some(all)
}

fn gaps(raw: &RawRun, trial: &RawTrial) -> Option<CpuGaps> {
    let (cpu, _) = cpus_of(trial)?;
    let watched_ns = Some(trial.phases_ns).filter(|ns| *ns > 0)?;
    let per_s = |least_ns: u64| {
        let many = trial.samples.iter().filter(|ns| **ns >= least_ns).count();
        many as f64 * 1e9 / watched_ns as f64
    };
    let lost_ns = total(trial.samples.iter().copied());
    let accounted = raw.accounting.iter().find(|row| row.cpu == cpu && row.wall_ns > 0);
    Some(CpuGaps {
        cpu,
        watched_ns,
        over_1us_per_s: per_s(1_000),
        over_10us_per_s: per_s(10_000),
        over_100us_per_s: per_s(100_000),
        lost_share: (lost_ns as f64 / watched_ns as f64).min(1.0),
        longest_ns: trial.samples.iter().max().copied().unwrap_or(0),
        steal_share: accounted.map(|row| row.steal_ns as f64 / row.wall_ns as f64),
    })
}

/// Of each pair the least of its visits: whatever else runs makes a visit longer, and none shorter.
fn lines<'a>(raw: &RawRun, trials: impl Iterator<Item = &'a RawTrial>) -> Vec<CpuLine> {
    let mut found: BTreeMap<(u32, u32), CpuLine> = BTreeMap::new();
    for trial in trials {
        let visit = cpus_of(trial).zip(operations_ns(raw, trial).and_then(|all| median(&all)));
        let relation = raw.plan.case(trial.case).and_then(|case| case.placement);
        let Some(((cpus, roundtrip_ns), relation)) = visit.zip(relation) else { continue };
        let line = CpuLine { cpus, relation, roundtrip_ns };
        let least = found.entry(cpus).or_insert(line);
        least.roundtrip_ns = least.roundtrip_ns.min(roundtrip_ns);
    }
    found.into_values().collect()
}

fn handovers<'a>(
    raw: &RawRun,
    lines: &[CpuLine],
    trials: impl Iterator<Item = &'a RawTrial>,
) -> Vec<Handover> {
    let mut found: BTreeMap<Placement, Handover> = BTreeMap::new();
    for trial in trials {
        let case = raw.plan.case(trial.case);
        let relation = case.and_then(|case| case.placement);
        let Some(((case, relation), cpus)) = case.zip(relation).zip(cpus_of(trial)) else {
            continue;
        };
        let row = found.entry(relation).or_insert_with(|| Handover {
            relation,
            cpus,
            spinning_ns: lines.iter().find(|l| l.cpus == cpus).map(|line| line.roundtrip_ns),
            blocking_ns: None,
            after_idling_ns: None,
            after_idling_p90_ns: None,
        });
        let Some(all) = operations_ns(raw, trial) else { continue };
        match case.workload {
            Workload::Wake => {
                row.after_idling_ns = quantile_sorted(&all, 0.5);
                row.after_idling_p90_ns = quantile_sorted(&all, 0.9);
            }
            _ => row.blocking_ns = quantile_sorted(&all, 0.5),
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests;
