//! Findings about what the kernel counted: beside the trials, in them, of the memory of both ends, and
//! in the traced phase; and about exchanges that were lost.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{Boundary, Case, Code, Finding, RawTrial, SHARED_PAGES, Severity, Throttling};

use super::make::{Seen, WORSE_THAN_RUN, finding, in_trials, of_trials, share_of_run, suspect_if};
use crate::explain::{ExplainedCase, adds_up};
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

/// An event that was counted for less than this share of the time is an
/// extrapolation rather than a count.
const COUNTED_MIN: f64 = 0.9;
/// Share of exchanges lost from which on percentiles could look different: had every
/// lost one been the slowest, p99.9 would have been one of them.
const LOST_MAX: f64 = 0.001;

pub fn multiplexed(of: &Seen) -> Option<Finding> {
    let counters = of.reading.result.counters.iter();
    let shares = counters.filter_map(|counter| Some((counter.counted_share?, &counter.event)));
    let (share, event) = shares.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let says = format!("`{event}` was counted for <counted_share %> of the time and scaled.");
    let severity = suspect_if(share < COUNTED_MIN);
    Some(finding(Code::Multiplexed, severity, says, &[("counted_share", share)]))
}

pub fn lost(of: &Seen) -> Option<Finding> {
    let lost = of.reading.result.lost;
    let share = lost as f64 / (lost as f64 + of.reading.result.operations as f64);
    // The responses of a load that lost messages would be those of another rate.
    let (what, severity) = match of.reading.result.load.is_some() {
        true => ("message", Severity::Invalid),
        false => ("exchange", suspect_if(share >= LOST_MAX)),
    };
    let says = format!("{} lost (<share %>).", format::count(lost as usize, what));
    let values = [("lost", lost as f64), ("share", share)];
    (lost > 0).then(|| finding(Code::Lost, severity, says, &values))
}

/// Share of the pages on a node of neither end from which on the memory as a whole is there, and
/// share of such trials from which on the median is of them.
const MOST: f64 = 0.5;

/// Where the memory lies that both ends share, on a machine of several NUMA nodes. On a node on which
/// neither runs it is suspect: both fetch every cache line from there that is in no cache.
pub fn remote_memory(of: &Seen) -> Option<Finding> {
    let known = of.reading.trials.iter().filter_map(|trial| elsewhere(of.run, trial));
    let known: Vec<(f64, u32)> = known.collect();
    let far: Vec<(f64, u32)> = known.iter().copied().filter(|(share, _)| *share > MOST).collect();
    let (share, node) = far.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let severity = suspect_if(far.len() as f64 > MOST * known.len() as f64);
    let what = "the memory that both ends share lay on a NUMA node on which neither runs: up to \
                <share %> of its pages, on node <node n>.";
    let (of, values) = ((far.len(), known.len()), [("share", share), ("node", node.into())]);
    Some(in_trials(Code::RemoteMemory, severity, of, what, &values))
}

/// The share of a trial's pages that lie on other nodes than those of the CPUs of its ends, and
/// the one of them that has most; `None` where ends are free or nobody looked.
fn elsewhere(run: &Run, trial: &RawTrial) -> Option<(f64, u32)> {
    let node = |cpu: &Option<u32>| {
        let node = run.raw.host_before.get(&format!("cpu{}.node", (*cpu)?))?;
        node.parse::<u32>().ok()
    };
    let near: BTreeSet<u32> = trial.cpus_asked.iter().map(node).collect::<Option<_>>()?;
    let pages = trial.ends.iter().flat_map(|end| &end.events).filter_map(|reading| {
        let node: u32 = reading.event.strip_prefix(SHARED_PAGES)?.parse().ok()?;
        Some((node, reading.value? as f64))
    });
    let pages: Vec<(u32, f64)> = pages.filter(|(_, pages)| *pages > 0.0).collect();
    let all: f64 = pages.iter().map(|(_, pages)| pages).sum();
    let far = || pages.iter().filter(|(node, _)| !near.contains(node));
    let most = far().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(node, _)| *node);
    (all > 0.0).then(|| (far().map(|(_, pages)| pages).sum::<f64>() / all, most))
}

/// Whether the kernel's events have changed what they were to show. It is about the traced phase alone:
/// the case's own numbers come from phases without events.
pub fn traced(explained: &ExplainedCase) -> Option<Finding> {
    let traced_ns = explained.traced_p50_ns.point?;
    let untraced_ns = explained.untraced_p50_ns.point?;
    if adds_up(explained) {
        return None;
    }
    let events_ns = explained.event_cost_ns.map(|cost_ns| explained.events * cost_ns);
    let events = match explained.event_cost_ns.zip(explained.without_events_ns.point) {
        Some((cost_ns, without_ns)) => format!(
            "less its {} events of {} it would be {}",
            format::three(explained.events),
            format::ns(cost_ns),
            format::ns(without_ns)
        ),
        None => "what an event costs is not known".to_owned(),
    };
    let (traced, untraced) = (format::ns(traced_ns), format::ns(untraced_ns));
    let mut numbers = vec![("traced_ns", traced_ns), ("untraced_ns", untraced_ns)];
    numbers.extend(events_ns.map(|ns| ("events_ns", ns)));
    let found = finding(
        Code::TracingChanged,
        Severity::Note,
        format!("A hop takes {traced} with the kernel's events and {untraced} without; {events}."),
        &numbers,
    );
    Some(Finding { case: Some(explained.case.clone()), ..found })
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Code, CpuUse, EventReading, Severity, Throttling, Validity};

    use crate::results::Results;
    use crate::testing::{
        Builder, CALL, PIPE, Row, TrialBuilder, event, expect, found, note, read_changed, severity,
        suspect, taken_in,
    };

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

    fn cycles(t: &mut TrialBuilder, running_ns: u64) {
        t.raw.ends[0].events = vec![EventReading { running_ns, ..event("cycles", 5) }];
    }

    #[test]
    fn events_that_took_turns_and_losses() {
        use Code::{Lost, Multiplexed};
        let rows: [Row; 5] = [
            (Multiplexed, PIPE, |_, t| cycles(t, 1000), None),
            (Multiplexed, PIPE, |_, t| cycles(t, 950), note("95 %")),
            (Multiplexed, PIPE, |_, t| cycles(t, 890), suspect("89 %")),
            (Lost, PIPE, |_, t| t.raw.ends[0].lost = 2, suspect("16 exchanges lost (0.20 %)")),
            (
                Lost,
                PIPE,
                |round, t| t.raw.ends[0].lost = u64::from(round == 0),
                note("1 exchange lost (0.01 %)"),
            ),
        ];
        for (code, id, change, expected) in rows {
            expect(&read_changed(id, change), code, expected);
        }
    }

    const TWO: &str = "roundtrip/pipe?payload=64&boundary=process&place=cross-node&wait=block";

    /// Eight trials between CPU 0 of node 0 and CPU 1 of node 1, some with pages elsewhere.
    fn with(trials: u32, pages: [u64; 3], nodes: &[(&str, &str)]) -> Option<(Severity, String)> {
        let raw = Builder::new().host(nodes).case(TWO, 8, |round, t| {
            t.each(&[3000; 100]);
            if round < trials {
                let on =
                    |(node, pages): (usize, u64)| event(&format!("shared-pages-node{node}"), pages);
                t.raw.ends[0].events = pages.into_iter().enumerate().map(on).collect();
            } else {
                t.raw.ends[0].events = vec![event("shared-pages-node0", 2)];
            }
        });
        let results = raw.read();
        let counted = results.results[0].counters.iter();
        assert!(counted.clone().all(|counter| !counter.event.contains("node")), "no event");
        found(&results, Code::RemoteMemory)
    }

    const NODES: [(&str, &str); 2] = [("cpu0.node", "0"), ("cpu1.node", "1")];

    #[test]
    fn memory_of_a_third_node() {
        assert_eq!(with(8, [2, 0, 0], &NODES), None);
        assert_eq!(with(8, [0, 2, 0], &NODES), None, "the callee's node");
        assert_eq!(with(8, [1, 0, 1], &NODES), None, "half of it");
        let (severity, evidence) = with(8, [1, 0, 3], &NODES).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(evidence.starts_with("In 8 of 8 trials"), "{evidence}");
        assert!(evidence.ends_with("75 % of its pages, on node 2."), "{evidence}");
        assert_eq!(with(4, [0, 0, 2], &NODES).unwrap().0, Severity::Note);
        assert_eq!(with(8, [0, 0, 2], &NODES[..1]), None, "nobody knows the callee's node");
    }
}
