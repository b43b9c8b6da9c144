//! Findings about what the kernel counted beside the trials, for the whole run.

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::{RawTrial, Throttling};

use super::make::{WORSE_THAN_RUN, finding, of_trials, share_of_run};
use crate::case::Reading;
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

/// All of them.
pub fn findings(run: &Run) -> Vec<Finding> {
    let trials: Vec<&RawTrial> = run.raw.trials.iter().collect();
    throttled(run, &trials).into_iter().chain(softirq(run)).collect()
}

/// What a CPU did over the trials of cases that use no network.
#[derive(Default)]
struct Packets {
    watched_s: f64,
    taken_in: f64,
    interrupt_s: f64,
}

impl Packets {
    fn per_s(&self) -> f64 {
        self.taken_in / self.watched_s
    }
    fn interrupt_share(&self) -> f64 {
        self.interrupt_s / self.watched_s
    }
    fn suspect(&self) -> bool {
        self.per_s() > PACKETS_SUSPECT_PER_S
            || self.per_s() > PACKETS_LEAST_PER_S && self.interrupt_share() > INTERRUPT_SUSPECT
    }
}

/// Judged by the CPU that took in most.
fn softirq(run: &Run) -> Option<Finding> {
    let mut cpus: BTreeMap<u32, Packets> = BTreeMap::new();
    let uses_network = |case: &Case| {
        case.boundary == Boundary::Namespace
            || NETWORK.iter().any(|name| case.mechanism_name().contains(name))
    };
    let others = run.raw.trials.iter().filter(|trial| {
        trial.watched_ns > 0 && run.raw.plan.case(trial.case).is_some_and(|c| !uses_network(c))
    });
    for trial in others {
        for used in &trial.cpu_uses {
            let Some(taken_in) = used.network_softirqs else { continue };
            let sum = cpus.entry(used.cpu).or_default();
            sum.watched_s += trial.watched_ns as f64 / 1e9;
            sum.taken_in += taken_in as f64;
            sum.interrupt_s += used.interrupt_ns.unwrap_or(0) as f64 / 1e9;
        }
    }
    let suspect = cpus.iter().filter(|(_, packets)| packets.suspect());
    let (cpu, worst) = suspect.max_by(|a, b| a.1.per_s().total_cmp(&b.1.per_s()))?;
    let evidence = format!(
        "CPU {cpu} took in packets {:.0} times a second during trials of cases that use no network, \
         and was in interrupts and softirqs for {} of the time.",
        worst.per_s(),
        format::percent(worst.interrupt_share())
    );
    let values = [("per_second", worst.per_s()), ("interrupt_share", worst.interrupt_share())];
    Some(finding(Code::SoftIrq, Severity::Suspect, evidence, &values))
}

/// What a quota withheld of some trials.
struct Withheld {
    share: f64,
    evidence: String,
    values: [(&'static str, f64); 3],
}

impl Withheld {
    fn of(trials: &[&RawTrial]) -> Option<Self> {
        let counted: Vec<_> = trials
            .iter()
            .filter(|trial| trial.watched_ns > 0)
            .filter_map(|trial| Some((trial.watched_ns, trial.throttling?)))
            .collect();
        let sum = |each: &dyn Fn(&(u64, Throttling)) -> u64| {
            counted.iter().map(|one| each(one) as f64).sum::<f64>()
        };
        // The kernel adds up the CPUs that wait.
        let withheld_ns = sum(&|(_, throttling)| throttling.ns);
        let (watched_ns, times) = (sum(&|(ns, _)| *ns), sum(&|(_, throttling)| throttling.times));
        let hit = counted.iter().filter(|(_, throttling)| throttling.ns > 0).count();
        let share = withheld_ns / watched_ns;
        let evidence = format!(
            "withheld CPU time in {}, {} times and for {} of {} ({})",
            of_trials(hit, counted.len()),
            times,
            format::ns(withheld_ns),
            format::ns(watched_ns),
            format::percent(share)
        );
        let values =
            [(THROTTLED_SHARE, share), ("throttled_ns", withheld_ns), ("trials", hit as f64)];
        (share > 0.0).then_some(Self { share, evidence, values })
    }

    fn finding(&self, whose: &str) -> Finding {
        let evidence = format!("The CPU quota of {whose} {}.", self.evidence);
        finding(Code::Throttled, Severity::Suspect, evidence, &self.values)
    }
}

fn throttled(run: &Run, trials: &[&RawTrial]) -> Option<Finding> {
    let withheld = Withheld::of(trials).filter(|withheld| withheld.share > THROTTLED_SUSPECT)?;
    let quota = run.raw.host_before.get("cgroup.cpu_quota").filter(|quota| quota.contains('%'));
    let quota = quota.map_or(String::new(), |quota| format!(", {quota},"));
    Some(withheld.finding(&format!("hopcost's control group or of one above it{quota}")))
}

/// Suspect is a case only where more was withheld from it than from its run.
pub fn throttled_case(reading: &Reading, run_wide: &[Finding]) -> Option<Finding> {
    let of_run = share_of_run(run_wide, Code::Throttled, THROTTLED_SHARE);
    let limit = of_run.map_or(THROTTLED_SUSPECT, |share| WORSE_THAN_RUN * share);
    let withheld = Withheld::of(&reading.trials).filter(|withheld| withheld.share > limit)?;
    Some(withheld.finding("hopcost's control group or of one above it"))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity, Validity};
    use hopcost_model::raw::{CpuUse, Throttling};
    use hopcost_model::results::Results;

    use crate::testing::{Builder, CALL, PIPE, TrialBuilder, read, severity};

    /// A trial of which this much of a second watched was withheld.
    fn throttle(t: &mut TrialBuilder, ns: u64) {
        t.raw.watched_ns = 1_000_000_000;
        t.raw.throttling = Some(Throttling { times: u64::from(ns > 0), ns });
    }

    fn withheld(pipe_ns: u64, call_ns: u64) -> Results {
        let raw = Builder::new()
            .host(&[("cgroup.cpu_quota", "50 % of one CPU (50000 us in each 100000 us)")])
            .case(PIPE, 8, |_, t| {
                t.each(&[3000; 100]);
                throttle(t, pipe_ns);
            })
            .case(CALL, 8, |_, t| {
                t.batch(10, &[1000; 50]);
                throttle(t, call_ns);
            });
        read(&raw.build())
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
    fn a_case_is_marked_where_it_is_worse_than_its_run() {
        assert_eq!(cases(&withheld(2_000_000, 15_000_000)), [false, true], "0.9 % of the run");
        assert_eq!(cases(&withheld(100_000_000, 150_000_000)), [false, false]);
        assert_eq!(cases(&withheld(0, 150_000_000)), [false, false], "half of the run's trials");
        let raw = |ns| {
            let ids = ["same-cpu", "same-llc", "free"].map(|place| {
                format!("roundtrip/pipe?payload=64&boundary=process&place={place}&wait=block")
            });
            let all = ids.iter().enumerate().fold(Builder::new(), |all, (i, id)| {
                all.case(id, 8, move |_, t| {
                    t.each(&[3000; 100]);
                    throttle(t, if i == 2 { ns } else { 0 });
                })
            });
            read(&all.build())
        };
        assert_eq!(cases(&raw(150_000_000)), [false, false, true], "three times its run");
    }

    #[test]
    fn packets_on_the_used_cpus() {
        let taken_in = |id: &str, per_s: u64, interrupt_ns: u64| {
            let raw = Builder::new().case(id, 8, |_, t| {
                t.each(&[3000; 100]);
                t.raw.watched_ns = 1_000_000_000;
                let used = |cpu| CpuUse {
                    cpu,
                    steal_ns: None,
                    interrupt_ns: Some(interrupt_ns),
                    interrupts: None,
                    softirqs: None,
                    network_softirqs: Some(if cpu == 1 { per_s } else { 5 }),
                };
                t.raw.cpu_uses = vec![used(0), used(1)];
            });
            let results = read(&raw.build());
            let found = results.findings.iter().find(|finding| finding.code == Code::SoftIrq);
            found.map(|finding| finding.evidence.clone())
        };
        assert_eq!(taken_in(PIPE, 9_000, 0), None);
        assert_eq!(taken_in(PIPE, 900, 90_000_000), None, "other interrupts");
        assert_eq!(taken_in(&PIPE.replace("pipe", "tcp"), 90_000, 0), None, "its own packets");
        let flood = taken_in(PIPE, 40_000, 0).unwrap();
        assert!(flood.starts_with("CPU 1 took in packets 40000 times a second"), "{flood}");
        let long = taken_in(PIPE, 2_000, 90_000_000).unwrap();
        assert!(long.ends_with("for 9.0 % of the time."), "{long}");
    }

    #[test]
    fn a_file_without_counts_says_nothing() {
        let raw = Builder::new().case(PIPE, 8, |_, t| {
            t.each(&[3000; 100]);
            t.raw.throttling = Some(Throttling { times: 9, ns: 9_000_000_000 });
        });
        assert_eq!(severity(&read(&raw.build()), Code::Throttled), None, "no time watched");
    }
}
