//! Findings about trials that stood still, because others had their CPUs or because somebody
//! stopped them.

use hopcost_model::{
    Case, Code, EndCounters, Finding, Host, RawTrial, Role, SUSPENDED, Severity, Stamp, Workload,
};

use super::make::{Seen, finding, in_trials};
use crate::run::Run;
use crate::sums::{Whose, delayed_ns, lost, stolen_ns, withheld_ns};
use crate::{format, one_way};

/// What a phase may take besides its samples, as the supervisor allows it.
const UNCOVERED_NS: f64 = 20e6;
/// A sample may idle for less than this: longer than the timers of TCP that a message may wait for
/// (200 ms before it is sent again, 40 ms until it is acknowledged).
const STOPPED_NS: f64 = 250e6;
/// A stream stands still where a message takes as long as this many usually do.
const MESSAGES: u64 = 10;

/// What the samples of a trial do not cover of its measured phase, where that is more than getting
/// ready and reading the clock between batches explain. Those that were lost are missing.
pub fn stalled(of: &Seen) -> Option<Finding> {
    let (run, trials) = (of.run, &of.reading.trials);
    let uncovered = |trial: &&RawTrial| {
        let caller = trial.ends.first().filter(|end| end.lost == 0)?;
        let covered_ns = caller.elapsed_ticks as f64 / run.raw.ticks_per_second(trial)? * 1e9;
        let wall_ns = trial.wall_ns as f64;
        let least = if trial.stamp == Some(Stamp::Each) { 0.5 } else { 0.25 };
        (covered_ns < least * wall_ns - UNCOVERED_NS).then_some(1.0 - covered_ns / wall_ns)
    };
    let shares: Vec<f64> = trials.iter().filter_map(uncovered).collect();
    // Of other workloads samples do not cover the phases.
    let is_covered = matches!(of.case.workload, Workload::Call | Workload::Roundtrip);
    let worst = shares.iter().copied().max_by(f64::total_cmp).filter(|_| is_covered)?;
    let what = "the samples cover little of the measured phase: others had the CPUs for up to \
                <worst_share %> of it.";
    let of = (shares.len(), trials.len());
    Some(in_trials(Code::Stalled, Severity::Suspect, of, what, &[("worst_share", worst)]))
}

/// For how long nothing moved in a trial, as far as neither its ends' work nor their waiting for a
/// CPU explains it; `None` where that may be what ends wait for otherwise.
pub fn stopped_ns(run: &Run, case: &Case, trial: &RawTrial) -> Option<f64> {
    let tick_ns = 1e9 / run.raw.ticks_per_second(trial)?;
    let taken_ns = stolen_ns(trial).saturating_add(withheld_ns(trial));
    let stopped = still(case, trial, tick_ns).into_iter().filter_map(|(ticks, whose)| {
        // An end that was stopped did not run in the meantime.
        let idle_ns =
            whose.ends(trial).map(|end| trial.wall_ns.saturating_sub(end.thread_cpu_ns)).max()?;
        let explained_ns = delayed_ns(trial, whose).saturating_add(taken_ns);
        Some((ticks as f64 * tick_ns).min(idle_ns as f64) - explained_ns as f64)
    });
    stopped.max_by(f64::total_cmp).filter(|stopped_ns| *stopped_ns >= STOPPED_NS)
}

/// The longest times in which no operation of a trial went on, though one was due, and whose
/// waiting for a CPU may explain each.
fn still(case: &Case, trial: &RawTrial, tick_ns: f64) -> Vec<(u64, Whose)> {
    let of = |role| trial.ends.iter().filter(move |end| end.role == role);
    match (case.workload, &trial.load) {
        (Workload::Wake, _) => {
            let gap_ticks = (case.gap_ns.unwrap_or(0) as f64 / tick_ns) as u64;
            let between = of(Role::Caller).map(|end| end.max_ticks.saturating_sub(gap_ticks));
            vec![(between.fold(trial.samples_max_ticks, u64::max), Whose::All)]
        }
        (Workload::Stream, _) => {
            // A message may be so long.
            let is_message = |end: &&EndCounters| {
                end.max_ticks / MESSAGES < end.elapsed_ticks / end.count.max(1)
            };
            let still = of(Role::Callee).filter(|end| !is_message(end));
            still.map(|end| (end.max_ticks, Whose::All)).collect()
        }
        (Workload::Load, Some(load)) => one_way::still_ticks(trial, load).to_vec(),
        (Workload::Load, None) => Vec::new(),
        // What waits for a lost message is no sample.
        _ if lost(trial) > 0 => Vec::new(),
        _ => vec![(trial.samples_max_ticks, Whose::All)],
    }
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

/// Trials of which an end was stopped: the kernel said so, or nothing else explains why it stood still.
pub fn stopped(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let still = |trial: &&RawTrial| stopped_ns(of.run, of.case, trial);
    let stopped = trials.iter().filter(|trial| trial.stopped || still(trial).is_some()).count();
    let worst_ns = trials.iter().filter_map(still).max_by(f64::total_cmp);
    let what = match worst_ns {
        Some(_) => {
            "nothing moved for up to <worst_ns ns>, and neither work nor waiting for a CPU explains it."
        }
        None => "an end was stopped and went on (SIGSTOP).",
    };
    let (of, values) = ((stopped, trials.len()), [("worst_ns", worst_ns.unwrap_or(f64::NAN))]);
    (stopped > 0).then(|| in_trials(Code::Stalled, Severity::Suspect, of, what, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Code, Severity};

    use crate::testing::{
        Builder, LOAD, PIPE as ONE, PIPE_TWO_CPUS as TWO, STREAM_NO_ACK, WAKE, found, read,
        read_changed as run, severity,
    };

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
        let read = |id: &str, longest_ns: u32, delay_ns: u64, lost: u64| {
            run(id, move |round, t| {
                let long = if round == 2 { longest_ns } else { 3_000 };
                match id.split('/').next() {
                    // A message that was sent in time came so late.
                    Some("load") => {
                        t.load(&[100; 1000], 2_000);
                        t.raw.samples[500] = long.into();
                        t.raw.samples_max_ticks = long.into();
                    }
                    Some("wake") => {
                        t.wake(&[3_000; 1000], 1_000_000);
                        t.raw.ends[0].max_ticks = 1_000_000 + u64::from(long);
                    }
                    Some("stream") => {
                        t.stream(1, 1000, 2048, &[], 3_000_000);
                        t.raw.ends[1].max_ticks = long.into();
                    }
                    _ => t.each(&[vec![3000; 999], vec![long]].concat()),
                }
                // The ends take what they take otherwise; the callee waits for a CPU besides.
                t.raw.wall_ns = t.raw.wall_ns.max(3_000_000 + u64::from(long));
                t.raw.cpu_ns = 3_000_000;
                for end in &mut t.raw.ends {
                    (end.thread_cpu_ns, end.run_delay_ns) = (1_500_000, Some(0));
                }
                t.raw.ends[0].elapsed_ticks = t.raw.wall_ns;
                if round == 2 {
                    t.raw.ends[0].lost = lost;
                    t.raw.ends[1].run_delay_ns = Some(delay_ns);
                }
            })
        };
        for id in [ONE, TWO, WAKE, STREAM_NO_ACK, LOAD] {
            let stopped = read(id, 1_000_000_000, 0, 0);
            let (severity_of, evidence) = found(&stopped, Code::Stalled).expect(id);
            assert_eq!(severity_of, Severity::Suspect);
            let words = "In 1 of 8 trials, nothing moved for up to";
            assert!(evidence.starts_with(words), "{evidence}");
            assert_eq!(severity(&stopped, Code::Preempted), None, "{id}: nobody else ran");
            let calm = [read(id, 210_000_000, 0, 0), read(id, 1_000_000_000, 900_000_000, 0)];
            assert!(calm.iter().all(|of| severity(of, Code::Stalled).is_none()), "{id}");
        }
        assert_eq!(severity(&read(ONE, 1_000_000_000, 0, 1), Code::Stalled), None, "a time-out");
        let told = run(ONE, |round, t| t.raw.stopped = round == 2);
        let (_, evidence) = found(&told, Code::Stalled).expect("the kernel said so");
        assert_eq!(evidence, "In 1 of 8 trials, an end was stopped and went on (SIGSTOP).");
    }
}
