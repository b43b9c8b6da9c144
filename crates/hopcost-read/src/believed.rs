//! Whether a stored trial can have been measured: hopcost stores none whose numbers contradict
//! each other like this, but anybody can edit a file. A trial that cannot counts as failed.

use std::borrow::Cow;

use hopcost_model::{Case, ClockReading, EndCounters, RawRun, RawTrial, Role, Stamp, parallel};

use crate::sums::total;

/// How far clocks and the kernel's accounting, which is as coarse as its tick, may be apart
/// from the time that a trial took.
const CLOCKS_AGREE: f64 = 1.1;
const SLACK_NS: f64 = 20e6;
/// Processors of one machine at most (NR_CPUS), on which threads that hopcost did not start
/// can run.
const CPUS_MAX: f64 = 8192.0;
/// Faster than any clock ticks, and longer than any run.
const RATE_MAX: f64 = 1e12;
const RUN_MAX_NS: u64 = 366 * 24 * 3_600_000_000_000;

/// The run with every trial marked as failed that cannot have been measured.
pub fn believed(raw: &RawRun) -> Cow<'_, RawRun> {
    let mut over_ns = 0;
    let mut alone = parallel::each(raw.trials.len(), |at| doubt(raw, &raw.trials[at]));
    let doubts = raw.trials.iter().enumerate().filter_map(|(at, trial)| {
        let began_ns =
            std::mem::replace(&mut over_ns, trial.started_ns.saturating_add(trial.took_ns));
        let doubt = match began_ns > trial.started_ns {
            true => Some("it began before the trial before it was over".to_owned()),
            false => alone[at].take(),
        };
        Some((at, doubt.filter(|_| trial.error.is_none())?))
    });
    let doubts: Vec<_> = doubts.collect();
    if doubts.is_empty() {
        return Cow::Borrowed(raw);
    }
    let mut run = raw.clone();
    for (at, doubt) in doubts {
        run.trials[at].error = Some(format!("the file contradicts itself: {doubt}"));
    }
    Cow::Owned(run)
}

/// What of a trial cannot be, if anything.
fn doubt(raw: &RawRun, trial: &RawTrial) -> Option<String> {
    let case = raw.plan.case(trial.case)?;
    if trial.round >= raw.plan.rounds {
        let rounds = raw.plan.rounds;
        return Some(format!("it is of round {}, counted from 0, of {rounds}", trial.round));
    }
    if trial.started_ns > RUN_MAX_NS {
        return Some(format!("it began {} h after its run", trial.started_ns / 3_600_000_000_000));
    }
    // Virtual time passes at any speed.
    counts(trial).or_else(|| if case.has_virtual_clock() { None } else { times(raw, case, trial) })
}

/// Numbers of operations and samples that contradict each other.
fn counts(trial: &RawTrial) -> Option<String> {
    let (kept, taken) = (trial.samples.len() as u64, trial.samples_taken);
    let callers = trial.ends.iter().filter(|end| end.role == Role::Caller);
    let done = total(callers.map(|end| end.count));
    let longest = trial.samples.iter().copied().max().unwrap_or(0);
    // Of two lengths in turn, a pair of samples is three times the shorter.
    let covered = match trial.stamp {
        Some(Stamp::Batch { n }) => taken.saturating_mul(n),
        Some(Stamp::TwoLengths { n }) => (taken / 2).saturating_mul(n.saturating_mul(3)),
        Some(Stamp::Each) | None => taken,
    };
    if kept > taken || covered > trial.operations {
        let operations = trial.operations;
        let of = format!("{covered} operations in {operations}");
        return Some(format!("{kept} samples kept of {taken} taken of {of}"));
    }
    if trial.negative_samples > taken {
        return Some(format!("{} of {taken} samples were negative", trial.negative_samples));
    }
    if trial.operations > done {
        return Some(format!("{} operations, of which its ends did {done}", trial.operations));
    }
    if longest > trial.samples_max_ticks {
        let said = trial.samples_max_ticks;
        return Some(format!("its longest sample is {longest} ticks and not {said}"));
    }
    // Of a load the receiver counts what came, and what is lost is the rest of what was sent.
    let sent = |end: &EndCounters| trial.load.as_ref().map_or(end.count, |load| load.offered);
    let lost = trial.ends.iter().find(|end| end.lost > sent(end));
    lost.map(|end| format!("{} of {} operations were lost", end.lost, sent(end)))
}

/// Times for which a trial is too short, and clocks that there are not.
fn times(raw: &RawRun, case: &Case, trial: &RawTrial) -> Option<String> {
    let (rate, clock) = (raw.ticks_per_second(trial)?, raw.clock(trial)?);
    let same = |after: &&ClockReading| after.cpu == clock.cpu && after.runtime == clock.runtime;
    let after = raw.clocks_after.iter().find(same).map_or(rate, |after| after.ticks_per_second);
    if rate > RATE_MAX || !(0.5..=2.0).contains(&(after / rate)) {
        return Some(format!("its clock has {rate:e} ticks a second, and {after:e} after the run"));
    }
    // Each runtime has ticks of its own.
    let span_ns = |end: &EndCounters| {
        let own = ClockReading::find(&raw.clocks, case.runtimes.of(end.role), Some(clock.cpu));
        end.elapsed_ticks.max(end.max_ticks) as f64 * 1e9 / own.unwrap_or(clock).ticks_per_second
    };
    let most = |of: &dyn Fn(&EndCounters) -> f64| trial.ends.iter().map(of).fold(0.0, f64::max);
    // Another runtime may have threads of its own.
    let cpus = if case.runtimes.are_rust() { 1.0 } else { CPUS_MAX };
    let times = [
        ("its phases are", trial.phases_ns as f64, 1.0),
        ("its wall time is", trial.wall_ns as f64, 1.0),
        ("its CPU time is", trial.cpu_ns as f64, CPUS_MAX),
        ("its stamps span", most(&span_ns), 1.0),
        ("its longest sample is", trial.samples_max_ticks as f64 * 1e9 / rate, 1.0),
        ("an end's CPU time is", most(&|end| end.thread_cpu_ns as f64), cpus),
    ];
    let took_ns = trial.took_ns as f64;
    let is_longer =
        |(_, ns, cpus): &(&str, f64, f64)| *ns > took_ns * cpus * CLOCKS_AGREE + SLACK_NS;
    let (what, ns, _) = times.into_iter().find(is_longer)?;
    Some(format!("{what} {:.1} ms of a trial of {:.1} ms", ns / 1e6, took_ns / 1e6))
}

#[cfg(test)]
mod tests {
    use crate::case::Status;
    use hopcost_model::{RawTrial, Stamp, WarmUp};

    use crate::testing::{Builder, PIPE, STREAM, WAKE, noisy, read, worker};

    type Change = fn(&mut RawTrial);

    /// The doubt about the second of three trials, each 300 operations of 3 µs, after a change.
    fn said(id: &str, change: Change) -> Option<String> {
        let mut raw = Builder::new()
            .yardstick()
            .case(id, 8, |round, t| {
                match id {
                    WAKE => t.wake(&noisy(300, round), 100_000),
                    STREAM => t.stream(1, 300, 2048, &noisy(300, round), 1_000_000),
                    _ => t.each(&noisy(300, round)),
                }
                t.yardstick(2000.0, 2100.0);
            })
            .build();
        change(&mut raw.trials[1]);
        let results = read(&raw);
        let case = &results.results[0];
        let trial = case.trials.iter().find(|trial| trial.error.is_some());
        // The one behind it begins too early, too, if it claims to have taken for ever.
        assert_eq!(case.n_failed > 0, trial.is_some());
        assert_eq!(case.status, Status::Measured, "by the others");
        trial.and_then(|trial| trial.error.clone())
    }

    #[test]
    fn what_cannot_have_been_measured_is_a_failed_trial() {
        assert_eq!([PIPE, WAKE, STREAM].map(|id| said(id, |_| ())), [None, None, None]);
        let changes: [(Change, &str); 15] = [
            (|t| t.round = 8, "it is of round 8, counted from 0, of 8"),
            (|t| t.started_ns = 5, "it began before the trial before it was over"),
            (|t| t.started_ns = 1 << 62, "it began 1281023 h after its run"),
            (|t| t.samples_taken = 299, "300 samples kept of 299 taken of 299 operations in 300"),
            (|t| t.stamp = Some(Stamp::Batch { n: 2 }), "300 taken of 600 operations in 300"),
            (|t| t.negative_samples = 301, "301 of 300 samples were negative"),
            (|t| t.operations = 1 << 40, "1099511627776 operations, of which its ends did 300"),
            (|t| t.samples[7] = 4_000_000_000, "its longest sample is 4000000000 ticks and not"),
            (|t| t.samples_max_ticks = 1, "ticks and not 1"),
            (|t| t.ends[0].lost = 301, "301 of 300 operations were lost"),
            (|t| t.ends[1].elapsed_ticks = 1 << 50, "its stamps span"),
            (|t| t.ends[1].thread_cpu_ns = 1 << 50, "an end's CPU time is"),
            (|t| t.cpu_ns = 1 << 60, "its CPU time is"),
            (|t| t.phases_ns = 1 << 50, "its phases are"),
            (|t| t.wall_ns = 1 << 50, "its wall time is 1125899906.8 ms of a trial of 90.0 ms"),
        ];
        for id in [PIPE, WAKE, STREAM] {
            for (change, part) in changes {
                let said = said(id, change).unwrap_or_else(|| panic!("{id}: shown: {part}"));
                assert!(said.starts_with("the file contradicts itself: "), "{said}");
                assert!(said.contains(part), "{id}: no `{part}` in: {said}");
            }
        }
    }
    #[test]
    fn what_an_end_says_is_in_ticks_of_its_own_runtime() {
        let mut raw = Builder::new()
            .runtime(worker("cpp", WarmUp::Planned, &["pipe"]))
            .case(&format!("{PIPE}&runtime=rust:cpp"), 8, |_, t| t.each(&[3000; 300]))
            .build();
        for clock in raw.clocks.iter_mut().filter(|clock| clock.runtime == "cpp") {
            clock.ticks_per_second = 1e11;
        }
        raw.trials.iter_mut().for_each(|trial| trial.ends[1].elapsed_ticks = 1_000_000_000);
        assert_eq!(read(&raw).results[0].n_failed, 0, "10 ms, and not 1 s");
    }
    #[test]
    fn a_clock_that_there_is_not_is_no_clock() {
        let of = |factor: f64, after: f64| {
            let mut raw = Builder::new().case(PIPE, 8, |_, t| t.each(&[3000; 300])).build();
            raw.clocks_after = raw.clocks.clone();
            raw.clocks.iter_mut().for_each(|clock| clock.ticks_per_second *= factor);
            raw.clocks_after.iter_mut().for_each(|clock| clock.ticks_per_second *= after);
            read(&raw).results[0].reason.clone()
        };
        assert_eq!((of(1.0, 1.0), of(1.0, 1.01)), (None, None));
        let line = of(1000.0, 1.0).unwrap();
        let says = "its clock has 1e12 ticks a second, and 1e9 after the run";
        assert!(line.contains(says), "{line}");
        assert!(of(5000.0, 5000.0).unwrap().contains("its clock has 5e12"));
    }
}
