//! What is wrong with a machine, and what to do about it first.

use std::collections::BTreeMap;

use hopcost_model::case::Placement;
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::results::{Checkup, CpuGaps, CpuLine, Handover};
use hopcost_stats::sample::median;

use crate::findings::{finding, of_host};
use crate::format;
use crate::run::Run;

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
pub fn findings(run: &Run, found: &Checkup) -> Vec<Finding> {
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
    let typical = |lines: &Vec<&CpuLine>| {
        median(&lines.iter().map(|line| line.roundtrip_ns).collect::<Vec<_>>())
    };
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

/// What helps most: against the gravest finding, or else to keep a quiet machine from varying.
pub fn first(found: &Checkup) -> String {
    let is_grave = |of: &&Finding| of.severity > Severity::Note;
    let gravest = found.findings.iter().find(is_grave);
    gravest
        .map(|of| format!("{} {}", of.evidence, of.remedy))
        .or_else(|| governor(found))
        .or_else(|| idling(found))
        .unwrap_or_else(|| nothing(found))
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
        "A wake-up after 10 ms of idling takes {}, not {}: `--idle-knob spinner` (or dma-latency) \
         keeps CPUs awake.",
        format::ns(idle_ns),
        format::ns(busy_ns)
    ))
}

fn nothing(found: &Checkup) -> String {
    let longest = found.gaps.iter().map(|gaps| gaps.longest_ns).max();
    let lost = found.gaps.iter().map(|gaps| gaps.lost_share).max_by(f64::total_cmp);
    match longest.zip(lost) {
        Some((ns, share)) => format!(
            "Nothing to do: no CPU lost more than {} of its time in gaps, the longest {}.",
            format::percent(share),
            format::ns(ns as f64)
        ),
        None => "Nothing could be measured: see what failed.".to_owned(),
    }
}
