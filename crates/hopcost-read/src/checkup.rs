//! What `hopcost doctor` has measured and read of a machine, and what follows from it.

use std::collections::BTreeMap;

use hopcost_model::text::listed;
use hopcost_model::{
    ClockReading, Code, Finding, Host, Placement, RawRun, RawTrial, RunAbout, Severity, Stamp,
    Workload, document,
};
use hopcost_stats::sample::{median, quantile_sorted};

use crate::findings::{finding, of_host};
use crate::format;
use crate::run::Run;
use crate::sums::total;

document! {
    /// What `doctor --format json` prints.
    #[derive(Default)]
    pub struct Checkup {
        /// Who looked, when and how.
        pub about: RunAbout,
        /// How long it took.
        pub took_s: f64,
        /// CPUs that this process may use.
        pub cpus_allowed: Vec<u32>,
        /// Those that were looked at: all, or on a larger machine some of every last-level cache.
        pub cpus: Vec<u32>,
        /// The host before anything was measured.
        pub host: Host,
        /// The clock of each CPU.
        pub clocks: Vec<ClockReading>,
        /// What interrupts a loop on each CPU.
        pub gaps: Vec<CpuGaps>,
        /// The round trip of a cache line between two CPUs, both ends spinning.
        pub lines: Vec<CpuLine>,
        /// A spinning round trip of messages that fill one cache line, and two: the least of several
        /// visits. Where adjacent lines are prefetched, the second one costs nothing.
        pub one_and_two_lines_ns: Option<(f64, f64)>,
        /// A hand-over between two processes, by how their CPUs are related.
        pub handovers: Vec<Handover>,
        /// What hopcost may do here.
        pub rights: Vec<Right>,
        /// What could not be measured, and why.
        pub failures: Vec<String>,
        /// What was found wrong, the worst first.
        pub findings: Vec<Finding>,
        /// What to do first.
        pub first: String,
    }

    /// Gaps between two readings of the clock in a loop that does nothing else.
    #[derive(Copy)]
    pub struct CpuGaps {
        /// The CPU.
        pub cpu: u32,
        /// How long the loop ran.
        pub watched_ns: u64,
        /// Gaps of 1 µs and longer, a second.
        pub over_1us_per_s: f64,
        /// Of 10 µs and longer.
        pub over_10us_per_s: f64,
        /// Of 100 µs and longer.
        pub over_100us_per_s: f64,
        /// Share of the time that went to gaps of 1 µs and longer.
        pub lost_share: f64,
        /// The longest.
        pub longest_ns: u64,
        /// Share of the time that the hypervisor took, by /proc/stat; absent where that is unknown.
        pub steal_share: Option<f64>,
    }

    /// A round trip between two CPUs.
    #[derive(Copy)]
    pub struct CpuLine {
        /// The CPUs.
        pub cpus: (u32, u32),
        /// What /sys claims their relation to be.
        pub relation: Placement,
        /// The median over batches, the least of several visits.
        pub roundtrip_ns: f64,
    }

    /// What it takes to hand something to another process.
    #[derive(Copy)]
    pub struct Handover {
        /// How the two CPUs are related.
        pub relation: Placement,
        /// The CPUs.
        pub cpus: (u32, u32),
        /// Round trip of a cache line, both ends spinning: p50.
        pub spinning_ns: Option<f64>,
        /// Round trip through a pipe, both ends asleep: p50.
        pub blocking_ns: Option<f64>,
        /// From the write into a pipe to the reader, whose CPU has idled for 10 ms: p50.
        pub after_idling_ns: Option<f64>,
        /// Its 90th percentile.
        pub after_idling_p90_ns: Option<f64>,
    }

    /// Something that hopcost may or may not do.
    #[derive(Eq)]
    pub struct Right {
        /// What hopcost needs it for.
        pub what: String,
        /// Why not; absent if it may.
        pub missing: Option<String>,
    }
}

/// From the trials of a doctor to what it says; `known` is what is known besides: the CPUs that this process
/// may use, what hopcost may do here, and how long it took.
pub fn checkup(raw: &RawRun, known: Checkup) -> Checkup {
    let of = |workload, mechanism: &'static str| {
        let fits = move |trial: &&RawTrial| {
            let case = raw.plan.case(trial.case);
            case.is_some_and(|case| case.workload == workload && case.mechanism == mechanism)
        };
        raw.trials.iter().filter(|trial| trial.error.is_none()).filter(fits)
    };
    let lines = lines(raw, of(Workload::Roundtrip, "flag"));
    let ring = |bytes: u32| {
        let is_it = |trial: &&RawTrial| {
            raw.plan.case(trial.case).is_some_and(|case| case.payload_bytes == Some(bytes))
        };
        let rings = of(Workload::Roundtrip, "shm-ring").filter(is_it);
        rings.filter_map(|trial| median(&operations_ns(raw, trial)?)).reduce(f64::min)
    };
    let (pipes, wakes) = (of(Workload::Roundtrip, "pipe"), of(Workload::Wake, "pipe"));
    let mut found = Checkup {
        about: raw.about.clone(),
        cpus: raw.plan.cpus.clone(),
        host: raw.host_before.clone(),
        clocks: raw.clocks.clone(),
        gaps: of(Workload::Roundtrip, "gaps").filter_map(|trial| gaps(raw, trial)).collect(),
        handovers: handovers(raw, &lines, pipes.chain(wakes)),
        one_and_two_lines_ns: ring(56).zip(ring(120)),
        lines,
        failures: failures(raw),
        ..known
    };
    found.findings = found_wrong(&Run::new(raw, &[]), &found);
    found.first = first(&found);
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

/// Share of a loop's time in gaps, the hypervisor's left out, from which on others use the CPU.
const LOST_MAX: f64 = 0.02;
/// How far apart round trips of one relation may be; caches of one die differ by less than twice.
const ONE_RELATION_MAX: f64 = 2.5;
/// How much slower than a farther relation's a nearer relation's round trip may be.
const NEARER_MAX: f64 = 1.3;
/// What idling must add to a wake-up to be worth an action, in time and as a multiple.
const IDLING_MIN_NS: f64 = 5_000.0;
const IDLING_MIN: f64 = 2.0;

/// All of them, the worst first.
fn found_wrong(run: &Run, found: &Checkup) -> Vec<Finding> {
    let mut all = of_host(run);
    all.extend(quota(run));
    all.extend(busy(&found.gaps));
    all.extend(backwards(found));
    all.extend(contradictions(&found.lines));
    // Stable: what spoils every number comes before what disturbs some.
    let spoils = [Code::BuildSlow, Code::Traced, Code::Throttled, Code::ClockOffset];
    all.sort_by_key(|found| (std::cmp::Reverse(found.severity), !spoils.contains(&found.code)));
    all
}

/// A quota is to be known; one that was used up meanwhile makes numbers wrong.
fn quota(run: &Run) -> Option<Finding> {
    let (before, after) = (&run.raw.host_before, run.raw.host_after.as_ref()?);
    let quota = before.get("cgroup.cpu_quota").filter(|quota| !quota.starts_with("none"))?;
    let more = |key: &str| {
        let number = |text: Option<&str>| text?.parse::<u64>().ok();
        Some(number(after.get(key))?.saturating_sub(number(before.get(key))?))
    };
    let times = more("stat.cgroup.throttled_times").unwrap_or(0);
    let ms = more("stat.cgroup.throttled_ms").unwrap_or(0);
    let (severity, evidence) = match times {
        0 => (Severity::Note, format!("The CPU quota is {quota}.")),
        _ => (
            Severity::Suspect,
            format!(
                "The CPU quota of {quota} held hopcost back {times} times, for {ms} ms in all."
            ),
        ),
    };
    Some(finding(Code::Throttled, severity, evidence, &[("times", times as f64)]))
}

/// What others than the hypervisor took.
fn foreign(gaps: &CpuGaps) -> f64 {
    (gaps.lost_share - gaps.steal_share.unwrap_or(0.0)).max(0.0)
}

/// A CPU on which others run, and those that are quieter.
fn busy(all: &[CpuGaps]) -> Option<Finding> {
    let worst = all.iter().max_by(|a, b| foreign(a).total_cmp(&foreign(b)))?;
    let mut quiet: Vec<&CpuGaps> = all.iter().filter(|of| foreign(of) <= LOST_MAX).collect();
    quiet.sort_by(|a, b| a.lost_share.total_cmp(&b.lost_share));
    let named: Vec<String> = quiet.iter().take(2).map(|of| of.cpu.to_string()).collect();
    let quieter = match named.is_empty() {
        true => "no CPU is quieter".to_owned(),
        false => format!("`--cpus {}` are quieter", named.join(",")),
    };
    (foreign(worst) > LOST_MAX).then(|| {
        let evidence = format!(
            "On CPU {} a loop lost {} of its time in gaps, the longest {}; {quieter}.",
            worst.cpu,
            format::percent(worst.lost_share),
            format::ns(worst.longest_ns as f64)
        );
        let values = [("cpu", f64::from(worst.cpu)), ("lost_share", worst.lost_share)];
        finding(Code::Preempted, Severity::Suspect, evidence, &values)
    })
}

fn backwards(found: &Checkup) -> Option<Finding> {
    let why = found.failures.iter().find(|why| why.contains("one-way times refused"))?;
    Some(finding(Code::ClockOffset, Severity::Suspect, format!("{why}."), &[]))
}

/// Round trips that do not fit what /sys claims of the CPUs.
fn contradictions(lines: &[CpuLine]) -> Vec<Finding> {
    let mut by_relation: BTreeMap<Placement, Vec<&CpuLine>> = BTreeMap::new();
    for line in lines {
        by_relation.entry(line.relation).or_default().push(line);
    }
    let of = |a: &&&CpuLine, b: &&&CpuLine| a.roundtrip_ns.total_cmp(&b.roundtrip_ns);
    let mut all = Vec::new();
    for (relation, lines) in &by_relation {
        let ends = lines.iter().min_by(of).zip(lines.iter().max_by(of));
        let apart = |ends: &(&&CpuLine, &&CpuLine)| {
            ends.1.roundtrip_ns > ONE_RELATION_MAX * ends.0.roundtrip_ns
        };
        if let Some((near, far)) = ends.filter(apart) {
            all.push(claim(relation, &pair(near), relation, &pair(far)));
        }
    }
    let typical = |lines: &Vec<&CpuLine>| median(lines.iter().map(|line| line.roundtrip_ns));
    // Placements are in the order of distance.
    let typical: Vec<(&Placement, f64)> =
        by_relation.iter().filter_map(|(of, lines)| Some((of, typical(lines)?))).collect();
    for two in typical.windows(2) {
        let [(near, near_ns), (far, far_ns)] = two else { continue };
        if *near_ns > NEARER_MAX * far_ns {
            let typical = |ns| format!("typically {}", format::ns(ns));
            all.push(claim(near, &typical(*near_ns), far, &typical(*far_ns)));
        }
    }
    all
}

fn pair(line: &CpuLine) -> String {
    let (a, b) = line.cpus;
    format!("{} between CPUs {a} and {b}", format::ns(line.roundtrip_ns))
}

fn claim(near: &Placement, one: &str, far: &Placement, other: &str) -> Finding {
    let evidence = format!(
        "The spinning round trip of CPUs that /sys claims to be `{near}` took {one}, and that of \
         `{far}` {other}."
    );
    finding(Code::PlacementClaim, Severity::Note, evidence, &[])
}

/// What helps most: against the gravest finding, or else to keep a quiet machine from varying; and
/// what a guest cannot measure.
fn first(found: &Checkup) -> String {
    let is_grave = |of: &&Finding| of.severity > Severity::Note;
    let gravest = found.findings.iter().find(is_grave);
    let first = gravest
        .map(|of| format!("{} {}", of.evidence, of.remedy))
        .or_else(|| governor(found))
        .or_else(|| idling(found))
        .unwrap_or_else(|| nothing(found));
    guest(found).map_or(first.clone(), |guest| format!("{first} {guest}"))
}

/// What is hidden from a virtual machine.
fn guest(found: &Checkup) -> Option<String> {
    let hypervisor = found.host.get("virt.hypervisor")?;
    let has_governor = |cpu: &u32| found.host.get(&format!("cpu{cpu}.governor")).is_some();
    let frequency = (!found.cpus.iter().any(has_governor)).then(|| "their frequency".to_owned());
    let of_guests = |why: &String| why.contains("virtual machine");
    let rights = found.rights.iter().filter(|of| of.missing.as_ref().is_some_and(of_guests));
    let hidden = ["which physical CPUs it runs on".to_owned()].into_iter();
    let hidden = hidden.chain(frequency).chain(rights.map(|of| of.what.clone()));
    let hidden = listed(&hidden.collect::<Vec<_>>());
    Some(format!("This is a virtual machine ({hypervisor}), from which are hidden: {hidden}."))
}

fn governor(found: &Checkup) -> Option<String> {
    let slow = |cpu: &u32| {
        let governor = found.host.get(&format!("cpu{cpu}.governor"))?;
        (governor != "performance").then(|| (*cpu, governor.to_owned()))
    };
    let (cpu, governor) = found.cpus.iter().find_map(slow)?;
    let limits = found.host.get(&format!("cpu{cpu}.frequency_limits"))?;
    Some(format!(
        "The frequency governor of CPU {cpu} is `{governor}`: `cpupower frequency-set -g \
         performance` keeps it from varying ({limits})."
    ))
}

/// What idling adds to a wake-up between two CPUs; half a round trip is one without it.
fn idling(found: &Checkup) -> Option<String> {
    let added = |of: &Handover| {
        let (idle_ns, busy_ns) = (of.after_idling_ns?, of.blocking_ns? / 2.0);
        let is_much = idle_ns - busy_ns > IDLING_MIN_NS && idle_ns > IDLING_MIN * busy_ns;
        (is_much && of.relation.is_two_cpu()).then_some((idle_ns, busy_ns))
    };
    let (idle_ns, busy_ns) = found.handovers.iter().find_map(added)?;
    Some(format!(
        "A wake-up after 10 ms of idling takes {}, not {}: `hopcost run --idle-knob spinner` (or \
         dma-latency) keeps CPUs awake.",
        format::ns(idle_ns),
        format::ns(busy_ns)
    ))
}

fn nothing(found: &Checkup) -> String {
    let longest = found.gaps.iter().map(|gaps| gaps.longest_ns).max();
    let lost = found.gaps.iter().map(|gaps| gaps.lost_share).max_by(f64::total_cmp);
    match longest.zip(lost) {
        Some((ns, share)) => format!(
            "nothing. No CPU lost more than {} of its time in gaps, the longest {}.",
            format::percent(share),
            format::ns(ns as f64)
        ),
        None => "Nothing could be measured: see what failed.".to_owned(),
    }
}

#[cfg(test)]
mod tests;
