//! The trials of `hopcost doctor`: short ones of given counts, on every CPU and between every two.

use std::time::{Duration, Instant};

use anyhow::Result;
use hopcost_machine::{Root, Topology, steal_ns};
use hopcost_model::{
    Case, CpuAccounting, Placement, Plan, RawTrial, Sched, Stamp, TrialShape, Workload,
};

use super::runtimes::Workers;
use super::setup::Setup;
use super::trial;
use super::trial::spec::TrialSpec;
use super::yardstick::Beside;

/// What has every kind of trial on every relation of CPUs: a case a line.
pub const CASES: &str = include_str!("doctor.txt");

/// CPUs that are looked at at most.
pub const CPUS_MAX: usize = 32;

/// How long all CPUs together are watched for gaps, and one at most.
const GAPS: Duration = Duration::from_secs(4);
const GAPS_A_CPU: Duration = Duration::from_secs(1);
/// The time that an operation of the gaps' engine has.
const WINDOW: Duration = Duration::from_micros(100);
/// How long pairs of CPUs are visited, and how often one is at most.
const PAIRS: Duration = Duration::from_secs(5);
const VISITS_MAX: u32 = 3;
/// Operations of a trial: of the warm-up and of the measurement.
const LINE: (u64, u64) = (1_000, 5_000);
const PIPE: (u64, u64) = (100, 1_000);
const WAKE: (u64, u64) = (10, 100);
const CLOCKS: (u64, u64) = (0, 10);
/// Round trips between two stamps: many times as long as a stamp.
const LINE_BATCH: u64 = 100;
/// A trial that takes longer is killed.
const DEADLINE_MS: u64 = 5_000;

/// Who measures, and what there is by now.
struct Doctor<'a> {
    plan: &'a Plan,
    setup: &'a Setup,
    started: Instant,
    /// In time order.
    trials: Vec<RawTrial>,
    /// Of each CPU while it was watched.
    accounting: Vec<CpuAccounting>,
}

/// All trials, on the CPUs of the plan, and how these were used. The only error is that the user
/// interrupted.
pub fn measure(
    plan: &Plan,
    setup: &Setup,
    topology: &Topology,
) -> Result<(Vec<RawTrial>, Vec<CpuAccounting>)> {
    let (started, trials, accounting) = (Instant::now(), Vec::new(), Vec::new());
    let mut doctor = Doctor { plan, setup, started, trials, accounting };
    doctor.gaps()?;
    doctor.pairs(topology)?;
    doctor.rings()?;
    doctor.handovers()?;
    Ok((doctor.trials, doctor.accounting))
}

impl Doctor<'_> {
    fn gaps(&mut self) -> Result<()> {
        let (plan, gaps) = (self.plan, "gaps");
        let each = GAPS_A_CPU.min(GAPS / plan.cpus.len().max(1) as u32);
        let count = (each.as_nanos() / WINDOW.as_nanos()).max(1) as u64;
        for &cpu in &plan.cpus {
            let (before, watch) = (steal_ns(&Root::default(), cpu), Instant::now());
            let usual = |case: &Case| case.mechanism == gaps && case.sched == Sched::Other;
            self.trial(usual, (cpu, cpu), (0, count), Stamp::Each)?;
            let wall_ns = watch.elapsed().as_nanos() as u64;
            if let Some((before, after)) = before.zip(steal_ns(&Root::default(), cpu)) {
                let steal_ns = after.saturating_sub(before);
                let row = CpuAccounting { round: 0, cpu, wall_ns, steal_ns };
                self.accounting.push(row);
            }
        }
        let first = plan.cpus.first().copied().unwrap_or(0);
        let real_time = |case: &Case| case.mechanism == gaps && case.sched != Sched::Other;
        self.trial(real_time, (first, first), (0, 1), Stamp::Each)
    }

    /// Every pair, again and again as long as there is time; those of the first CPU come first, and
    /// have their clocks compared.
    fn pairs(&mut self, topology: &Topology) -> Result<()> {
        let cpus = &self.plan.cpus;
        let pairs = cpus.iter().enumerate().flat_map(|(at, a)| {
            cpus[at + 1..].iter().map(move |b| (*a, *b, topology.relation(*a, *b)))
        });
        let pairs: Vec<(u32, u32, Placement)> = pairs.collect();
        let started = Instant::now();
        for visit in 0..VISITS_MAX {
            for &(a, b, relation) in &pairs {
                if started.elapsed() > PAIRS {
                    return Ok(());
                }
                let of = |workload| plays(workload, "flag", relation);
                let batches = Stamp::Batch { n: LINE_BATCH };
                self.trial(of(Workload::Roundtrip), (a, b), LINE, batches)?;
                if visit == 0 && cpus.first() == Some(&a) {
                    self.trial(of(Workload::Wake), (a, b), CLOCKS, Stamp::Each)?;
                }
            }
        }
        Ok(())
    }

    /// Messages that fill one cache line and two, in turn.
    fn rings(&mut self) -> Result<()> {
        let (Some(caller), Some(callee)) = self.plan.cpus_for(self.plan.relation) else {
            return Ok(());
        };
        for visit in 0..2 * VISITS_MAX {
            let bytes = if visit % 2 == 0 { 56 } else { 120 };
            let of = move |case: &Case| {
                case.mechanism == "shm-ring" && case.payload_bytes == Some(bytes)
            };
            self.trial(of, (caller, callee), LINE, Stamp::Batch { n: LINE_BATCH })?;
        }
        Ok(())
    }

    fn handovers(&mut self) -> Result<()> {
        for relation in Placement::ALL {
            let (Some(caller), Some(callee)) = self.plan.cpus_for(Some(*relation)) else {
                continue;
            };
            for (workload, counts) in [(Workload::Roundtrip, PIPE), (Workload::Wake, WAKE)] {
                let of = plays(workload, "pipe", *relation);
                self.trial(of, (caller, callee), counts, Stamp::Each)?;
            }
        }
        Ok(())
    }

    /// A trial of the case that fits, if it can be measured here.
    fn trial(
        &mut self,
        fits: impl Fn(&Case) -> bool,
        (caller, callee): (u32, u32),
        counts: (u64, u64),
        stamp: Stamp,
    ) -> Result<()> {
        let live = self.plan.live().map(|(index, planned)| (index, &planned.case));
        let Some((index, case)) = live.into_iter().find(|(_, case)| fits(case)) else {
            return Ok(());
        };
        let started_ns = self.started.elapsed().as_nanos() as u64;
        let mut trial = match Workers::assemble(case, &self.setup.runtimes) {
            Err(why) => RawTrial { error: Some(format!("{why:#}")), ..RawTrial::default() },
            Ok(workers) => {
                let cpus = (Some(caller), Some(callee));
                let spec = TrialSpec::exactly(self.setup, case.clone(), workers, cpus, counts);
                let shape = TrialShape { deadline_ms: DEADLINE_MS, ..spec.shape };
                let spec = TrialSpec { shape, stamp: Some(stamp), ..spec };
                trial::run(&spec, Beside::NONE)?
            }
        };
        (trial.case, trial.started_ns) = (index as u32, started_ns);
        self.trials.push(trial);
        Ok(())
    }
}

/// Which case is of a workload of a mechanism, between CPUs of a relation.
fn plays(
    workload: Workload,
    mechanism: &'static str,
    relation: Placement,
) -> impl Fn(&Case) -> bool {
    move |case| {
        (case.workload, case.placement) == (workload, Some(relation)) && case.mechanism == mechanism
    }
}
