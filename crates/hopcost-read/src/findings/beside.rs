//! Findings about what the kernel counted beside the trials, for the whole run.

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawTrial, Throttling};

use super::make::{Seen, WORSE_THAN_RUN, finding, of_trials, share_of_run};
use crate::format;
use crate::run::Run;

/// Share of the time watched that a quota may withhold: the limit of steal, which it resembles.
const THROTTLED_SUSPECT: f64 = 0.01;
/// Under this name the finding of the run holds its share.
const THROTTLED_SHARE: &str = "share";

/// NET_RX softirqs a second on one CPU from which on they are suspect: at the 2 to 5 µs that one
/// takes, 2 to 5 % of the CPU.
const PACKETS_SUSPECT_PER_S: f64 = 10_000.0;
/// Share of a CPU's time in interrupts and softirqs from which on fewer of them are.
const INTERRUPT_SUSPECT: f64 = 0.05;
/// Fewer than these do not explain such a share.
const PACKETS_LEAST_PER_S: f64 = 1_000.0;
/// What the names of mechanisms have in common that send packets themselves.
const NETWORK: [&str; 3] = ["tcp", "udp", "websocket"];

/// Whether packets are sent by what the case does.
fn uses_network(case: &Case) -> bool {
    case.boundary == Boundary::Namespace
        || NETWORK.iter().any(|name| case.mechanism_name().contains(name))
}

/// Judged by the CPU that took in most.
pub fn softirq(run: &Run) -> Option<Finding> {
    // Seconds watched, packets taken in, and seconds in interrupts.
    let mut cpus: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    let others = run.raw.trials.iter().filter(|trial| {
        trial.watched_ns > 0 && run.raw.plan.case(trial.case).is_some_and(|c| !uses_network(c))
    });
    for trial in others {
        for used in &trial.cpu_uses {
            let Some(taken_in) = used.network_softirqs else { continue };
            let interrupt_s = used.interrupt_ns.unwrap_or(0) as f64 / 1e9;
            let seen = [trial.watched_ns as f64 / 1e9, taken_in as f64, interrupt_s];
            let sums = cpus.entry(used.cpu).or_default();
            sums.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen);
        }
    }
    let rates =
        cpus.into_iter().map(|(cpu, [s, taken_in, busy_s])| (cpu, taken_in / s, busy_s / s));
    let suspect = rates.filter(|(_, per_s, share)| {
        *per_s > PACKETS_SUSPECT_PER_S || *per_s > PACKETS_LEAST_PER_S && *share > INTERRUPT_SUSPECT
    });
    let (cpu, per_s, share) = suspect.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let says = format!(
        "CPU {cpu} took in packets <per_second n> times a second during trials of cases that use no \
         network, and was in interrupts and softirqs for <interrupt_share %> of the time."
    );
    let values = [("per_second", per_s), ("interrupt_share", share)];
    Some(finding(Code::SoftIrq, Severity::Suspect, says, &values))
}

/// What the quota withheld of some trials, where its share is above a limit.
fn withheld(trials: &[&RawTrial], limit: f64, quota: &str) -> Option<Finding> {
    let counted = trials.iter().filter(|trial| trial.watched_ns > 0);
    let counted = counted.filter_map(|trial| Some((trial.watched_ns, trial.throttling?)));
    let counted: Vec<(u64, Throttling)> = counted.collect();
    let sum = |each: fn(&(u64, Throttling)) -> u64| {
        counted.iter().map(|one| each(one) as f64).sum::<f64>()
    };
    // The kernel adds up the CPUs that wait.
    let withheld_ns = sum(|(_, throttling)| throttling.ns);
    let (watched_ns, times) = (sum(|(ns, _)| *ns), sum(|(_, throttling)| throttling.times));
    let hit = counted.iter().filter(|(_, throttling)| throttling.ns > 0).count();
    let says = format!(
        "The CPU quota of hopcost's control group or of one above it{quota} withheld CPU time in {}, \
         {times} times and for <throttled_ns ns> of {} (<share %>).",
        of_trials(hit, counted.len()),
        format::ns(watched_ns)
    );
    let share = withheld_ns / watched_ns;
    let values = [(THROTTLED_SHARE, share), ("throttled_ns", withheld_ns), ("trials", hit as f64)];
    (share > limit).then(|| finding(Code::Throttled, Severity::Suspect, says, &values))
}

pub fn throttled(run: &Run) -> Option<Finding> {
    let trials: Vec<&RawTrial> = run.raw.trials.iter().collect();
    let quota = run.raw.host_before.get("cgroup.cpu_quota").filter(|quota| quota.contains('%'));
    let quota = quota.map_or(String::new(), |quota| format!(", {quota},"));
    withheld(&trials, THROTTLED_SUSPECT, &quota)
}

/// Suspect is a case only where more was withheld from it than from its run.
pub fn throttled_case(of: &Seen) -> Option<Finding> {
    let of_run = share_of_run(of.run_wide, Code::Throttled, THROTTLED_SHARE);
    let limit = of_run.map_or(THROTTLED_SUSPECT, |share| WORSE_THAN_RUN * share);
    withheld(&of.reading.trials, limit, "")
}

#[cfg(test)]
mod tests {
    use crate::results::Results;
    use hopcost_model::finding::{Code, Severity, Validity};
    use hopcost_model::raw::{CpuUse, Throttling};

    use crate::testing::{Builder, CALL, PIPE, TrialBuilder, found, severity, taken_in};

    /// A trial of which this much of a second watched was withheld.
    fn throttle(t: &mut TrialBuilder, ns: u64) {
        t.raw.watched_ns = 1_000_000_000;
        t.raw.throttling = Some(Throttling { times: u64::from(ns > 0), ns });
    }

    fn withheld(pipe_ns: u64, call_ns: u64) -> Results {
        let run = Builder::new()
            .host(&[("cgroup.cpu_quota", "50 % of one CPU (50000 us in each 100000 us)")])
            .case(PIPE, 8, |_, t| {
                t.each(&[3000; 100]);
                throttle(t, pipe_ns);
            })
            .case(CALL, 8, |_, t| {
                t.batch(10, &[1000; 50]);
                throttle(t, call_ns);
            });
        run.read()
    }

    fn cases(results: &Results) -> Vec<bool> {
        let has = |f: &hopcost_model::finding::Finding| f.code == Code::Throttled;
        results.results.iter().map(|result| result.findings.iter().any(has)).collect()
    }

    #[test]
    fn a_quota_is_said_once_of_the_run() {
        assert_eq!(severity(&withheld(0, 0), Code::Throttled), None);
        assert_eq!(severity(&withheld(9_000_000, 9_000_000), Code::Throttled), None, "0.9 %");
        let half = withheld(480_000_000, 520_000_000);
        assert_eq!(severity(&half, Code::Throttled), Some(Severity::Suspect));
        assert_eq!(cases(&half), [false, false]);
        assert!(half.results.iter().all(|result| result.validity == Some(Validity::Valid)));
        let evidence = &half.findings[0].evidence;
        assert!(evidence.contains("50 % of one CPU (50000 us in each 100000 us)"), "{evidence}");
        assert!(evidence.contains("in 16 of 16 trials, 16 times and for"), "{evidence}");
    }

    #[test]
    fn packets_on_the_used_cpus() {
        let said = |id: &str, per_s: u64, interrupt_ns: u64| {
            let run = Builder::new().case(id, 8, |_, t| {
                t.each(&[3000; 100]);
                t.raw.watched_ns = 1_000_000_000;
                let used = [taken_in(0, 5), taken_in(1, per_s)];
                let interrupt_ns = Some(interrupt_ns);
                t.raw.cpu_uses = used.map(|used| CpuUse { interrupt_ns, ..used }).into();
            });
            found(&run.read(), Code::SoftIrq).map(|(_, evidence)| evidence)
        };
        assert_eq!(said(PIPE, 9_000, 0), None);
        assert_eq!(said(PIPE, 900, 90_000_000), None, "other interrupts");
        assert_eq!(said(&PIPE.replace("pipe", "tcp"), 90_000, 0), None, "its own packets");
        let flood = said(PIPE, 40_000, 0).unwrap();
        assert!(flood.starts_with("CPU 1 took in packets 40000 times a second"), "{flood}");
        let long = said(PIPE, 2_000, 90_000_000).unwrap();
        assert!(long.ends_with("for 9.0 % of the time."), "{long}");
    }
}
