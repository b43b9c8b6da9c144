//! Findings about what a case's ends did on their CPUs.

use hopcost_model::case::{Case, Placement, Role, WaitKind, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::RawTrial;
use hopcost_stats::sample::median;

use super::make::{WORSE_THAN_RUN, finding, of_trials, share_of_run};
use super::stalled;
use crate::case::{Reading, known};
use crate::disturbed::is_never_idle;
use crate::run::Run;
use crate::sums::{Whose, delayed_ns, handled, own_cpu_ns, own_switches, per, total, withheld_ns};
use crate::{format, threads};

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

/// All of them for one case, given those of the run.
pub fn findings(run: &Run, case: &Case, reading: &Reading, run_wide: &[Finding]) -> Vec<Finding> {
    let trials = &reading.trials;
    let threads = Threads { case, reading };
    let mut found = vec![
        migrated(&threads, trials),
        pinning_failed(&threads, trials),
        confined_together(&threads),
        oversubscribed(run, case),
    ];
    if !run.is_engine(case) {
        found.extend([
            preempted(run, &threads, trials, run_wide),
            never_slept(run, &threads),
            spinner_slept(&threads, trials),
        ]);
        found.extend(stalled::findings(run, case, trials));
    }
    found.into_iter().flatten().collect()
}

/// Which ends are threads, so that what was counted of a thread is that of an end.
struct Threads<'a> {
    case: &'a Case,
    reading: &'a Reading<'a>,
}

impl Threads<'_> {
    fn has(&self, role: Role) -> bool {
        !threads::is_no_thread(self.case, &self.reading.result.threads, role)
    }
    fn both(&self) -> bool {
        self.has(Role::Caller) && self.has(Role::Callee)
    }
}

/// Each end of a trial with the CPU it was to be pinned to. Where there are more ends
/// than CPUs asked for, those of all flows share the CPU of their role.
fn ends(trial: &RawTrial) -> impl Iterator<Item = (&EndCounters, Option<u32>)> {
    let shared = trial.cpus_asked.len() == 2 && trial.ends.len() > 2;
    trial.ends.iter().enumerate().map(move |(i, end)| {
        let i = if shared { usize::from(end.role == Role::Callee) } else { i };
        (end, trial.cpus_asked.get(i).copied().flatten())
    })
}

fn migrated(threads: &Threads, trials: &[&RawTrial]) -> Option<Finding> {
    let moved = |end: &EndCounters| end.cpu_changes > 0 || end.cpu_before != end.cpu_after;
    let has_moved = |trial: &RawTrial, pinned: bool| {
        ends(trial).filter(|(end, _)| threads.has(end.role)).any(|(end, asked)| match asked {
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
    let evidence = format!("In {}, {which} changed its CPU.", of_trials(n, trials.len()));
    let values = [("trials", n as f64), ("share", n as f64 / trials.len() as f64)];
    Some(finding(Code::Migrated, severity, evidence, &values))
}

fn pinning_failed(threads: &Threads, trials: &[&RawTrial]) -> Option<Finding> {
    let failed = |trial: &&&RawTrial| {
        let lost = |(end, asked): (&EndCounters, Option<u32>)| {
            asked.is_some() && !end.pinned && threads.has(end.role)
        };
        !trial.pin_errors.is_empty() || ends(trial).any(lost)
    };
    let n = trials.iter().filter(failed).count();
    if n == 0 {
        return None;
    }
    let why = trials.iter().flat_map(|trial| &trial.pin_errors).next();
    let why = why.map_or("its affinity mask was changed", String::as_str);
    let evidence = format!("In {}, an end was not pinned: {why}.", of_trials(n, trials.len()));
    Some(finding(Code::PinningFailed, Severity::Invalid, evidence, &[("trials", n as f64)]))
}

/// Ends that are no threads cannot be pinned each to its own CPU: their process is
/// confined to both, and may have run them on one.
fn confined_together(threads: &Threads) -> Option<Finding> {
    let two_cpus = threads.case.placement?.is_two_cpu();
    (two_cpus && !threads.both()).then(|| {
        let evidence = format!(
            "An end in {} is no thread of its own and was confined to the two CPUs together, so \
             both ends may have run on one of them.",
            threads.case.runtimes
        );
        finding(Code::PinningFailed, Severity::Suspect, evidence, &[])
    })
}

/// Ends that do not block share a CPU: by placement, or because there is but one.
/// A spinner holds it for its whole time slice (invalid), a limited spinner for
/// its budget (suspect), a yielding one hands it over (to be known).
fn oversubscribed(run: &Run, case: &Case) -> Option<Finding> {
    let waits = case.waits?;
    let one_cpu = match case.placement? {
        Placement::SameCpu => true,
        Placement::Free => run.raw.plan.cpus.len() == 1,
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
fn foreign_share(run: &Run, threads: &Threads, trial: &RawTrial) -> Option<f64> {
    let case = threads.case;
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
        _ if !threads.both() => None,
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
    let typical = known(readings).filter(|(case, _)| !run.is_engine(case));
    let typical = typical.filter_map(|(case, reading)| {
        let threads = Threads { case, reading };
        median(&foreign_shares(run, &threads, &reading.trials))
    });
    let shares: Vec<f64> = typical.collect();
    let share = median(&shares).filter(|share| *share > FOREIGN_SUSPECT)?;
    let evidence = format!(
        "Other tasks took {} of a typical trial ({} in the worst of {}).",
        format::percent(share),
        format::percent(shares.iter().copied().fold(share, f64::max)),
        format::count(shares.len(), "case")
    );
    let values = [(RUN_SHARE, share), ("cases", shares.len() as f64)];
    Some(finding(Code::Preempted, Severity::Suspect, evidence, &values))
}

/// Under this name the finding of the run holds the share of its typical case.
const RUN_SHARE: &str = "median_share";

fn foreign_shares(run: &Run, threads: &Threads, trials: &[&RawTrial]) -> Vec<f64> {
    trials.iter().filter_map(|trial| foreign_share(run, threads, trial)).collect()
}

/// Suspect is a case only where foreign tasks took more of it than of its run.
fn preempted(
    run: &Run,
    threads: &Threads,
    trials: &[&RawTrial],
    run_wide: &[Finding],
) -> Option<Finding> {
    let shares = foreign_shares(run, threads, trials);
    let typical = median(&shares)?;
    let of_run = share_of_run(run_wide, Code::Preempted, RUN_SHARE);
    let limit = of_run.map_or(FOREIGN_SUSPECT, |share| WORSE_THAN_RUN * share);
    let worst = shares.iter().copied().max_by(f64::total_cmp)?;
    let hit = shares.iter().filter(|share| **share > FOREIGN_NOTE).count();
    let values =
        [("median_share", typical), ("worst_share", worst), ("trials_above_5_percent", hit as f64)];
    let (severity, evidence) = match typical > limit {
        true => (
            Severity::Suspect,
            format!(
                "Other tasks took {} of a typical trial ({} of the worst of {}).",
                format::percent(typical),
                format::percent(worst),
                format::count(shares.len(), "trial")
            ),
        ),
        false if hit > 0 && of_run.is_none() => (
            Severity::Note,
            format!(
                "In {}, other tasks took more than {} (up to {}).",
                of_trials(hit, shares.len()),
                format::percent(FOREIGN_NOTE),
                format::percent(worst)
            ),
        ),
        false => return None,
    };
    Some(finding(Code::Preempted, severity, evidence, &values))
}

/// Only of round trips where both ends sleep the same way, since that is what the
/// stated range is for; a stream need not sleep, and a wake-up has its own rule. Where
/// the scheduler chose the CPUs, the lower of both ranges holds. The range is of ends that
/// are threads.
fn never_slept(run: &Run, threads: &Threads) -> Option<Finding> {
    let (case, reading) = (threads.case, threads.reading);
    if !threads.both() {
        return None;
    }
    let waits = case.waits.filter(|waits| waits.caller == waits.callee)?;
    let is_plain = case.workload == Workload::Roundtrip && case.is_one_by_one();
    if !is_plain || !waits.caller.sleeps() {
        return None;
    }
    let facts = run.facts(case)?.wait(waits.caller)?;
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
        false => median(&reading.trials.iter().filter_map(own).collect::<Vec<_>>())?,
    };
    (seen < least * (1.0 - SWITCHES_TOLERANCE)).then(|| {
        let evidence = format!(
            "Both ends together switched context {} times a round trip; sleeping on every message \
             takes at least {}.",
            format::three(seen),
            format::three(least)
        );
        let values = [("switches_per_operation", seen), ("least", least)];
        finding(Code::NeverSlept, Severity::Suspect, evidence, &values)
    })
}

/// Whether threads that play no end did much of the work and their switches are not known.
fn has_unseen_threads(trial: &RawTrial) -> bool {
    let own_ns = total(trial.ends.iter().map(|end| end.thread_cpu_ns));
    trial.threads.is_empty() && trial.cpu_ns / 3 > own_ns / 2
}

fn spinner_slept(threads: &Threads, trials: &[&RawTrial]) -> Option<Finding> {
    let case = threads.case;
    let waits = case.waits?;
    let typical = |role: Role| {
        let counts = trials.iter().filter(|trial| trial.operations > 0).map(|trial| {
            let ends = trial.ends.iter().filter(|end| end.role == role);
            total(ends.map(|end| end.voluntary)) as f64 / trial.operations as f64
        });
        median(&counts.collect::<Vec<_>>())
    };
    // The sender of a wake-up sleeps for the gap.
    let waits_by_spinning = |role: &Role| {
        *waits.of(*role) == WaitKind::Spin
            && threads.has(*role)
            && !(case.workload == Workload::Wake && *role == Role::Caller)
    };
    let (role, seen) = [Role::Caller, Role::Callee]
        .into_iter()
        .filter(waits_by_spinning)
        .filter_map(|role| Some((role, typical(role)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (seen > SPINNER_VOLUNTARY_MAX).then(|| {
        let evidence = format!(
            "The {role} made {} voluntary context switches per operation although its wait policy \
             is spin.",
            format::three(seen)
        );
        let values = [("voluntary_per_operation", seen)];
        finding(Code::SpinnerSlept, Severity::Suspect, evidence, &values)
    })
}

#[cfg(test)]
mod tests;
