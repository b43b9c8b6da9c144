//! Findings about what a case's ends did on their CPUs.

use hopcost_model::{
    Code, EndCounters, Finding, Placement, RawTrial, Role, Severity, WaitKind, Workload,
};
use hopcost_stats::sample::median;

use super::make::{Seen, WORSE_THAN_RUN, finding, in_trials, share_of_run, suspect_if};
use super::stalled;
use crate::case::Reading;
use crate::format;
use crate::run::Run;
use crate::sums::{
    Whose, delayed_ns, handled, is_never_idle, own_cpu_ns, own_switches, per, total, withheld_ns,
};

/// Share of a typical trial that foreign tasks may take.
const FOREIGN_SUSPECT: f64 = 0.02;
/// Share of a single trial above which it is counted.
const FOREIGN_NOTE: f64 = 0.05;
/// Delay that every wake-up may have without anything foreign about it: some
/// kernels count the interrupt that reaches the sleeper's CPU as waiting.
const WAKE_UP_ALLOWED_NS: u64 = 1_000;
/// How far below its stated least the switches may fall, for what runs once.
const SWITCHES_TOLERANCE: f64 = 0.10;
/// Voluntary switches per operation above which a spinning end slept.
const SPINNER_VOLUNTARY_MAX: f64 = 0.01;

/// Each end of a trial with the CPU it was to be pinned to. Where there are more ends
/// than CPUs asked for, those of all flows share the CPU of their role.
fn ends(trial: &RawTrial) -> impl Iterator<Item = (&EndCounters, Option<u32>)> {
    let shared = trial.cpus_asked.len() == 2 && trial.ends.len() > 2;
    trial.ends.iter().enumerate().map(move |(i, end)| {
        let i = if shared { usize::from(end.role == Role::Callee) } else { i };
        (end, trial.cpus_asked.get(i).copied().flatten())
    })
}

pub fn migrated(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let moved = |end: &EndCounters| end.cpu_changes > 0 || end.cpu_before != end.cpu_after;
    let has_moved = |trial: &RawTrial, pinned: bool| {
        let mut own = ends(trial).filter(|(end, _)| of.reading.is_thread(end.role));
        own.any(|(end, asked)| match asked {
            Some(cpu) => pinned && (moved(end) || end.cpu_after != cpu),
            None => !pinned && moved(end),
        })
    };
    let count = |pinned: bool| trials.iter().filter(|trial| has_moved(trial, pinned)).count();
    let (pinned, free) = (count(true), count(false));
    let (severity, n, which) = match (pinned, free) {
        (0, 0) => return None,
        (0, free) => (Severity::Note, free, "a free end"),
        (pinned, _) => (Severity::Invalid, pinned, "a pinned end"),
    };
    let (of, what) = ((n, trials.len()), format!("{which} changed its CPU."));
    let share = n as f64 / trials.len() as f64;
    Some(in_trials(Code::Migrated, severity, of, what, &[("share", share)]))
}

pub fn pinning_failed(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let failed = |trial: &&&RawTrial| {
        let lost = |(end, asked): (&EndCounters, Option<u32>)| {
            asked.is_some() && !end.pinned && of.reading.is_thread(end.role)
        };
        !trial.pin_errors.is_empty() || ends(trial).any(lost)
    };
    let n = trials.iter().filter(failed).count();
    let why = trials.iter().flat_map(|trial| &trial.pin_errors).next();
    let why = why.map_or("its affinity mask was changed", String::as_str);
    let (of, what) = ((n, trials.len()), format!("an end was not pinned: {why}."));
    (n > 0).then(|| in_trials(Code::PinningFailed, Severity::Invalid, of, what, &[]))
}

/// Ends that are no threads cannot be pinned each to its own CPU: their process is
/// confined to both, and may have run them on one.
pub fn confined_together(of: &Seen) -> Option<Finding> {
    let two_cpus = of.case.placement?.is_two_cpu();
    let says = format!(
        "An end in {} is no thread of its own and was confined to the two CPUs together, so both ends \
         may have run on one of them.",
        of.case.runtimes
    );
    (two_cpus && !of.reading.are_threads())
        .then(|| finding(Code::PinningFailed, Severity::Suspect, says, &[]))
}

/// Ends that do not block share a CPU: by placement, or because there is but one.
/// A spinner holds it for its whole time slice (invalid), a limited spinner for
/// its budget (suspect), a yielding one hands it over (to be known).
pub fn oversubscribed(of: &Seen) -> Option<Finding> {
    let waits = of.case.waits?;
    let one_cpu = match of.case.placement? {
        Placement::SameCpu => true,
        Placement::Free => of.run.raw.plan.cpus.len() == 1,
        _ => false,
    };
    let severity = match () {
        () if waits.any(WaitKind::Spin) => Severity::Invalid,
        () if waits.any(WaitKind::SpinThenBlock) => Severity::Suspect,
        () if waits.any(WaitKind::Yield) => Severity::Note,
        () => return None,
    };
    let evidence = format!("Both ends share one CPU and wait by `{waits}`.");
    one_cpu.then(|| finding(Code::Oversubscribed, severity, evidence, &[]))
}

/// The share of a trial that went to foreign tasks. On one CPU, a closed loop is
/// never idle: what neither end ran nor the hypervisor took was foreign. On two,
/// it is the time an end was ready and did not run, beyond that of its wake-ups.
/// What the quota of the control group withheld was not foreign either, nor while both were stopped,
/// nor while none was ready: they waited for a device.
/// A wake-up idles through its gap and a stream may wait for its transport, so on one
/// CPU nothing is known of them; nor of several flows, which wait for each other; nor
/// where the scheduler chose the CPUs, an end's counter is missing, or on two CPUs an
/// end is no thread.
fn foreign_share(run: &Run, reading: &Reading, trial: &RawTrial) -> Option<f64> {
    let case = reading.case;
    if trial.wall_ns == 0 || trial.ends.len() != 2 {
        return None;
    }
    let wall = trial.wall_ns as f64;
    match case.placement? {
        Placement::Free => None,
        Placement::SameCpu if !is_never_idle(case) => None,
        Placement::SameCpu => {
            let own = own_cpu_ns(trial) as f64 / wall;
            let cpu = trial.cpus_asked.first().copied().flatten()?;
            let withheld = withheld_ns(trial) as f64 / wall;
            let stopped = stalled::stopped_ns(run, case, trial).unwrap_or(0.0) / wall;
            let most = delayed_ns(trial, Whose::All) as f64 / wall;
            Some((1.0 - own - stolen(run, trial, cpu) - withheld - stopped).max(0.0).min(most))
        }
        _ if !reading.are_threads() => None,
        // The ends of two hosts that are one may have one CPU, and then wait for each other.
        Placement::Pinned if run.raw.host_before.is_its_peer() => None,
        _ => trial
            .ends
            .iter()
            .map(|end| {
                // A mechanism's own I/O threads run on its ends' CPUs and are not foreign.
                let threads = total(trial.ends.iter().map(|end| end.thread_cpu_ns));
                let helpers = trial.cpu_ns.saturating_sub(threads);
                let wake_ups = end.voluntary.saturating_mul(WAKE_UP_ALLOWED_NS);
                let allowed = wake_ups.saturating_add(helpers).saturating_add(withheld_ns(trial));
                end.run_delay_ns.map(|delay| delay.saturating_sub(allowed) as f64 / wall)
            })
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .max_by(f64::total_cmp),
    }
}

/// What the hypervisor took of a CPU during a trial: as counted beside the trial, or else of
/// the run as a whole.
fn stolen(run: &Run, trial: &RawTrial, cpu: u32) -> f64 {
    let counted = trial.cpu_uses.iter().find(|used| used.cpu == cpu);
    match counted.and_then(|used| used.steal_ns) {
        Some(steal_ns) if trial.watched_ns > 0 => steal_ns as f64 / trial.watched_ns as f64,
        _ => run.steal.get(&cpu).map_or(0.0, |steal| steal.share()),
    }
}

/// What foreign tasks took of a typical trial of the typical case, where that is much.
pub fn preempted_run(run: &Run, readings: &[Reading]) -> Option<Finding> {
    let typical = readings.iter().filter(|of| !run.is_engine(of.case));
    let typical = typical.filter_map(|reading| median(foreign_shares(run, reading)));
    let shares: Vec<f64> = typical.collect();
    let share = median(&shares).filter(|share| *share > FOREIGN_SUSPECT)?;
    let evidence = format!(
        "Other tasks took <median_share %> of a typical trial ({} in the worst of {}).",
        format::percent(shares.iter().copied().fold(share, f64::max)),
        format::count(shares.len(), "case")
    );
    let values = [(RUN_SHARE, share), ("cases", shares.len() as f64)];
    Some(finding(Code::Preempted, Severity::Suspect, evidence, &values))
}

/// Under this name the finding of the run holds the share of its typical case.
const RUN_SHARE: &str = "median_share";

fn foreign_shares(run: &Run, reading: &Reading) -> Vec<f64> {
    reading.trials.iter().filter_map(|trial| foreign_share(run, reading, trial)).collect()
}

/// Suspect is a case only where foreign tasks took more of it than of its run.
pub fn preempted(of: &Seen) -> Option<Finding> {
    let shares = foreign_shares(of.run, of.reading);
    let typical = median(&shares)?;
    let of_run = share_of_run(of.run_wide, Code::Preempted, RUN_SHARE);
    let limit = of_run.map_or(FOREIGN_SUSPECT, |share| WORSE_THAN_RUN * share);
    let worst = shares.iter().copied().max_by(f64::total_cmp)?;
    let hit = shares.iter().filter(|share| **share > FOREIGN_NOTE).count();
    let all = format::count(shares.len(), "trial");
    let says = match typical > limit {
        true => format!(
            "Other tasks took <median_share %> of a typical trial (<worst_share %> of the worst of {all})."
        ),
        false if hit > 0 && of_run.is_none() => format!(
            "In {hit} of {all}, other tasks took more than {} (up to <worst_share %>).",
            format::percent(FOREIGN_NOTE)
        ),
        false => return None,
    };
    let values =
        [(RUN_SHARE, typical), ("worst_share", worst), ("trials_above_5_percent", hit as f64)];
    Some(finding(Code::Preempted, suspect_if(typical > limit), says, &values))
}

/// Only of round trips where both ends sleep the same way, since that is what the
/// stated range is for; a stream need not sleep, and a wake-up has its own rule. Where
/// the scheduler chose the CPUs, the lower of both ranges holds. The range is of ends that
/// are threads.
pub fn never_slept(of: &Seen) -> Option<Finding> {
    let (case, reading) = (of.case, of.reading);
    let waits = case.waits.filter(|waits| waits.caller == waits.callee)?;
    let is_plain = case.workload == Workload::Roundtrip && case.is_one_by_one();
    if !is_plain || !waits.caller.sleeps() || !reading.are_threads() {
        return None;
    }
    let facts = of.run.facts(case)?.wait(waits.caller)?;
    let (one, two) = (facts.switches_one_cpu.least, facts.switches_two_cpus.least);
    let least = match case.placement? {
        Placement::SameCpu => one,
        Placement::Free => one.min(two),
        _ => two,
    };
    if case.runtimes.are_rust() && reading.trials.iter().any(|trial| has_unseen_threads(trial)) {
        return None;
    }
    let own = |trial: &&RawTrial| per(own_switches(trial, Whose::All) as f64, handled(case, trial));
    let seen = match case.runtimes.are_rust() {
        true => reading.result.switches_per_operation?,
        // A runtime's other threads switch besides, and the row knows nothing of them.
        false => median(reading.trials.iter().filter_map(own))?,
    };
    let says = "Both ends together switched context <switches_per_operation> times a round trip; \
                sleeping on every message takes at least <least>.";
    let values = [("switches_per_operation", seen), ("least", least)];
    (seen < least * (1.0 - SWITCHES_TOLERANCE))
        .then(|| finding(Code::NeverSlept, Severity::Suspect, says, &values))
}

/// Whether threads that play no end did much of the work and their switches are not known.
fn has_unseen_threads(trial: &RawTrial) -> bool {
    let own_ns = total(trial.ends.iter().map(|end| end.thread_cpu_ns));
    trial.threads.is_empty() && trial.cpu_ns / 3 > own_ns / 2
}

pub fn spinner_slept(of: &Seen) -> Option<Finding> {
    let waits = of.case.waits?;
    let typical = |role: Role| {
        median(of.reading.trials.iter().filter(|trial| trial.operations > 0).map(|trial| {
            let ends = trial.ends.iter().filter(|end| end.role == role);
            total(ends.map(|end| end.voluntary)) as f64 / trial.operations as f64
        }))
    };
    // The sender of a wake-up sleeps for the gap.
    let waits_by_spinning = |role: &Role| {
        *waits.of(*role) == WaitKind::Spin
            && of.reading.is_thread(*role)
            && !(of.case.workload == Workload::Wake && *role == Role::Caller)
    };
    let (role, seen) = [Role::Caller, Role::Callee]
        .into_iter()
        .filter(waits_by_spinning)
        .filter_map(|role| Some((role, typical(role)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let says = format!(
        "The {role} made <voluntary_per_operation> voluntary context switches per operation although its \
         wait policy is spin."
    );
    let values = [("voluntary_per_operation", seen)];
    (seen > SPINNER_VOLUNTARY_MAX)
        .then(|| finding(Code::SpinnerSlept, Severity::Suspect, says, &values))
}

#[cfg(test)]
mod tests;
