//! Findings about trials that stood still, because others had their CPUs or because somebody
//! stopped them.

use hopcost_model::case::{Case, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::host::{Host, SUSPENDED};
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::RawTrial;

use super::make::{finding, of_trials};
use crate::format;
use crate::run::Run;
use crate::sums::{stolen_ns, withheld_ns};

/// What a phase may take besides its samples, as the supervisor allows it.
const UNCOVERED_NS: f64 = 20e6;
/// A sample may idle for less than this: longer than the timers of TCP that a message may wait for
/// (200 ms before it is sent again, 40 ms until it is acknowledged).
const STOPPED_NS: f64 = 250e6;

/// Of a case whose samples cover its phases. Ends of other runtimes have threads that they wait for.
pub fn findings(run: &Run, case: &Case, trials: &[&RawTrial]) -> [Option<Finding>; 2] {
    let timed = matches!(case.workload, Workload::Call | Workload::Roundtrip);
    if !timed || !case.runtimes.are_rust() {
        return [None, None];
    }
    [stalled(run, trials), stopped(run, trials)]
}

/// What the samples of a trial do not cover of its measured phase, where that is more than getting
/// ready and reading the clock between batches explain. Samples of a stream and of wake-ups do not
/// cover a phase anyway, and those that were lost are missing.
fn stalled(run: &Run, trials: &[&RawTrial]) -> Option<Finding> {
    let uncovered = |trial: &&RawTrial| {
        let caller = trial.ends.first().filter(|end| end.lost == 0)?;
        let covered_ns = caller.elapsed_ticks as f64 / run.raw.ticks_per_second(trial)? * 1e9;
        let wall_ns = trial.wall_ns as f64;
        let least = if trial.stamp == Some(Stamp::Each) { 0.5 } else { 0.25 };
        (covered_ns < least * wall_ns - UNCOVERED_NS).then_some(1.0 - covered_ns / wall_ns)
    };
    let shares: Vec<f64> = trials.iter().filter_map(uncovered).collect();
    let worst = shares.iter().copied().max_by(f64::total_cmp)?;
    let evidence = format!(
        "In {}, the samples cover little of the measured phase: others had the CPUs for up to {} of it.",
        of_trials(shares.len(), trials.len()),
        format::percent(worst)
    );
    let values = [("trials", shares.len() as f64), ("worst_share", worst)];
    Some(finding(Code::Stalled, Severity::Suspect, evidence, &values))
}

/// How long neither end of a trial ran or waited for a CPU, where one sample is longer than
/// anything that ends wait for: an end that was stopped does neither.
pub fn stopped_ns(run: &Run, trial: &RawTrial) -> Option<f64> {
    let clean = !trial.ends.is_empty() && trial.ends.iter().all(|end| end.lost == 0);
    let longest_ns = trial.samples_max_ticks as f64 / run.raw.ticks_per_second(trial)? * 1e9;
    if !clean || longest_ns < STOPPED_NS {
        return None;
    }
    let ready_ns: Vec<f64> = trial
        .ends
        .iter()
        .map(|end| Some(end.thread_cpu_ns as f64 + end.run_delay_ns? as f64))
        .collect::<Option<_>>()?;
    let mine_ns = trial.wall_ns as f64 - stolen_ns(trial) as f64 - withheld_ns(trial) as f64;
    // The times of two ends overlap, where one waits for the other to leave the CPU.
    let idle_least_ns = mine_ns - ready_ns.iter().sum::<f64>();
    let idle_most_ns = mine_ns - ready_ns.iter().copied().fold(0.0, f64::max);
    (longest_ns.min(idle_least_ns) >= STOPPED_NS).then_some(idle_most_ns)
}

/// A shorter time is no suspension: the clocks are read one after the other.
const SUSPENDED_MS: u64 = 100;

/// The machine was suspended during the run. In which trial nobody knows: the clock that says
/// when one began stands still meanwhile. A resumed run may have been suspended between sittings.
pub fn suspended(run: &Run) -> Option<Finding> {
    let (before, after) = (&run.raw.host_before, run.raw.host_after.as_ref()?);
    let same_boot = before.get("kernel.boot_id") == after.get("kernel.boot_id");
    if run.raw.about.resumed > 0 || !same_boot {
        return None;
    }
    let ms = |host: &Host| host.get(SUSPENDED)?.strip_suffix(" ms")?.parse::<u64>().ok();
    let suspended_ms = ms(after)?.checked_sub(ms(before)?).filter(|ms| *ms >= SUSPENDED_MS)?;
    let evidence = format!(
        "The machine was suspended for {} during the run (CLOCK_BOOTTIME went on, CLOCK_MONOTONIC did \
         not); in which trial is not known.",
        format::ns(suspended_ms as f64 * 1e6)
    );
    let values = [("suspended_ms", suspended_ms as f64)];
    Some(finding(Code::Stalled, Severity::Suspect, evidence, &values))
}

/// Trials that were stopped.
fn stopped(run: &Run, trials: &[&RawTrial]) -> Option<Finding> {
    let gaps: Vec<f64> = trials.iter().filter_map(|trial| stopped_ns(run, trial)).collect();
    let worst_ns = gaps.iter().copied().max_by(f64::total_cmp)?;
    let evidence = format!(
        "In {}, no end ran or waited for a CPU for up to {}: they were stopped.",
        of_trials(gaps.len(), trials.len()),
        format::ns(worst_ns)
    );
    let values = [("trials", gaps.len() as f64), ("worst_ns", worst_ns)];
    Some(finding(Code::Stalled, Severity::Suspect, evidence, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, found, read, read_changed as run, severity};

    const ONE: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
    const TWO: &str = "roundtrip/pipe?payload=64&boundary=process&place=same-llc&wait=block";

    #[test]
    fn a_trial_that_waited_for_longer_than_it_was_timed() {
        let with = |wall_ns: u64| {
            let results = run(ONE, move |round, t| {
                if round == 2 {
                    t.raw.ends[0].elapsed_ticks = 3_000_000;
                    t.raw.wall_ns = wall_ns;
                    t.raw.cpu_ns = wall_ns;
                }
            });
            found(&results, Code::Stalled)
        };
        assert_eq!(with(40_000_000), None, "what a phase may take besides");
        let (severity, evidence) = with(100_000_000).unwrap();
        assert_eq!(severity, Severity::Suspect);
        assert!(evidence.contains("others had the CPUs for up to 97 % of it"), "{evidence}");
    }

    #[test]
    fn a_machine_that_was_suspended() {
        let with = |before: &str, after: &str, boots: [&str; 2], resumed: u32| {
            let host = |at: &str, boot: &str| {
                crate::testing::host(&[("load.suspended", at), ("kernel.boot_id", boot)])
            };
            let mut raw = Builder::new().case(ONE, 8, |_, t| t.each(&[3000; 1000])).build();
            raw.host_before = host(before, boots[0]);
            raw.host_after = Some(host(after, boots[1]));
            raw.about.resumed = resumed;
            let results = read(&raw);
            assert_eq!(results.host_changes.len(), usize::from(boots[0] != boots[1]));
            assert!(results.findings.iter().all(|finding| finding.case.is_none()));
            found(&results, Code::Stalled).map(|(_, evidence)| evidence)
        };
        let evidence = with("5 ms", "31005 ms", ["a", "a"], 0).unwrap();
        assert!(evidence.starts_with("The machine was suspended for 31"), "{evidence}");
        assert_eq!(with("5 ms", "6 ms", ["a", "a"], 0), None);
        assert_eq!(with("5 ms", "31005 ms", ["a", "b"], 0), None, "booted meanwhile");
        assert_eq!(with("5 ms", "31005 ms", ["a", "a"], 1), None, "between sittings, maybe");
        assert_eq!(with("5", "31005", ["a", "a"], 0), None);
    }

    #[test]
    fn a_trial_that_was_stopped() {
        // One sample of a trial that takes 3 ms otherwise; the callee waits for a CPU meanwhile.
        let with = |id: &str, longest_ns: u32, delay_ns: u64, lost: u64| {
            run(id, move |round, t| {
                t.raw.ends.iter_mut().for_each(|end| end.run_delay_ns = Some(0));
                if round == 2 {
                    let samples: Vec<u32> = [vec![3000; 999], vec![longest_ns]].concat();
                    let cpu_ns = t.raw.cpu_ns;
                    t.each(&samples);
                    t.raw.cpu_ns = cpu_ns;
                    t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = cpu_ns / 2);
                    t.raw.ends[0].elapsed_ticks = t.raw.wall_ns;
                    t.raw.ends[0].lost = lost;
                    t.raw.ends[1].run_delay_ns = Some(delay_ns);
                }
            })
        };
        for id in [ONE, TWO] {
            let stopped = with(id, 1_000_000_000, 0, 0);
            let (severity_of, evidence) = found(&stopped, Code::Stalled).expect(id);
            assert_eq!(severity_of, Severity::Suspect);
            assert!(evidence.starts_with("In 1 of 8 trials, no end ran"), "{evidence}");
            assert_eq!(severity(&stopped, Code::Preempted), None, "{id}: nobody else ran");
            let calm = [
                with(id, 210_000_000, 0, 0),
                with(id, 1_000_000_000, 900_000_000, 0),
                with(id, 1_000_000_000, 0, 1),
            ];
            for results in calm {
                assert_eq!(severity(&results, Code::Stalled), None, "{id}");
            }
        }
    }
}
