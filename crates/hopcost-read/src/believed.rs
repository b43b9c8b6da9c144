//! Whether a stored trial can have been measured: hopcost stores none whose numbers contradict
//! each other like this, but anybody can edit a file. A trial that cannot counts as failed.

use std::borrow::Cow;

use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::{RawRun, RawTrial};

use crate::sums::total;

/// How far clocks and the kernel's accounting, which is as coarse as its tick, may be apart
/// from the time that a trial took.
const CLOCKS_AGREE: f64 = 1.1;
const SLACK_NS: f64 = 20e6;
/// Processors of one machine at most (NR_CPUS), on which threads that hopcost did not start
/// can run.
const CPUS_MAX: f64 = 8192.0;
/// Less than a context switch, a page fault or a system call takes.
const COUNTED_MIN_NS: f64 = 10.0;
/// More than a CPU counts of anything, and moves of memory, in a nanosecond.
const A_NANOSECOND_MAX: f64 = 1000.0;

/// The run with every trial marked as failed that cannot have been measured.
pub fn believed(raw: &RawRun) -> Cow<'_, RawRun> {
    let mut over_ns = 0;
    let doubts = raw.trials.iter().enumerate().filter_map(|(at, trial)| {
        let began_ns =
            std::mem::replace(&mut over_ns, trial.started_ns.saturating_add(trial.took_ns));
        let doubt = match began_ns > trial.started_ns {
            true => Some("it began before the trial before it was over".to_owned()),
            false => doubt(raw, trial),
        };
        Some((at, doubt.filter(|_| trial.error.is_none())?))
    });
    let doubts: Vec<_> = doubts.collect();
    if doubts.is_empty() {
        return Cow::Borrowed(raw);
    }
    let mut run = raw.clone();
    for (at, doubt) in doubts {
        run.trials[at].error = Some(format!("the file says what cannot be: {doubt}"));
    }
    Cow::Owned(run)
}

/// What of a trial cannot be, if anything.
fn doubt(raw: &RawRun, trial: &RawTrial) -> Option<String> {
    let case = raw.plan.case(trial.case)?;
    if trial.round >= raw.plan.rounds {
        return Some(format!(
            "it is of round {}, counted from 0, of {}",
            trial.round, raw.plan.rounds
        ));
    }
    counts(trial).or_else(|| times(raw, case, trial)).or_else(|| readings(raw, trial))
}

/// Numbers of operations and samples that contradict each other.
fn counts(trial: &RawTrial) -> Option<String> {
    let (kept, taken) = (trial.samples.len() as u64, trial.samples_taken);
    let callers = trial.ends.iter().filter(|end| end.role == Role::Caller);
    let done = total(callers.map(|end| end.count));
    let longest = trial.samples.iter().copied().max().map_or(0, u64::from);
    if kept > taken || taken > trial.operations {
        let operations = trial.operations;
        return Some(format!("{kept} samples kept of {taken} taken in {operations} operations"));
    }
    if trial.operations > done {
        return Some(format!("{} operations, of which its ends did {done}", trial.operations));
    }
    if longest > trial.samples_max_ticks {
        let said = trial.samples_max_ticks;
        return Some(format!("its longest sample is {longest} ticks and not {said}"));
    }
    let lost = trial.ends.iter().find(|end| end.lost > end.count);
    lost.map(|end| format!("{} of {} operations were lost", end.lost, end.count))
}

/// Times and counts for which a trial is too short.
fn times(raw: &RawRun, case: &Case, trial: &RawTrial) -> Option<String> {
    let took_ns = trial.took_ns as f64;
    let most_ns = |cpus: f64| took_ns * cpus * CLOCKS_AGREE + SLACK_NS;
    // Another runtime may have threads of its own, and so may what a call starts.
    let cpus = if case.runtimes.are_rust() { 1.0 } else { CPUS_MAX };
    let too_long = |what: &str, ns: f64, cpus: f64| {
        let why = format!("{what} {} ms of a trial of {} ms", ns / 1e6, took_ns / 1e6);
        (ns > most_ns(cpus)).then_some(why)
    };
    let too_many = |what: &str, count: u64, ns: f64| {
        let why = format!("{count} {what} in a trial of {} ms", took_ns / 1e6);
        (count as f64 * ns > most_ns(cpus)).then_some(why)
    };
    let of_end = |end: &EndCounters| {
        let seen = [end.voluntary, end.involuntary, end.minor_faults, end.major_faults];
        too_long("its CPU time is", end.thread_cpu_ns as f64, cpus)
            .or_else(|| too_long("it waited for a CPU", end.run_delay_ns? as f64, cpus))
            .or_else(|| too_many("switches and faults", total(seen.into_iter()), COUNTED_MIN_NS))
            .or_else(|| too_many("bytes", end.bytes, 1.0 / A_NANOSECOND_MAX))
    };
    let of_clock = || {
        let tick_ns = 1e9 / raw.ticks_per_second(trial)?;
        let ends = trial.ends.iter().map(|end| end.elapsed_ticks.max(end.max_ticks));
        let longest = ends.fold(trial.samples_max_ticks, u64::max);
        too_long("its stamps span", longest as f64 * tick_ns, 1.0)
    };
    let counted = trial.counted.iter().chain(trial.ends.iter().flat_map(|end| &end.events));
    let mut counted = counted.filter_map(|one| Some((one.event.as_str(), one.value?)));
    too_long("its phases are", trial.phases_ns as f64, 1.0)
        .or_else(|| counted.find_map(|(what, n)| too_many(what, n, 1.0 / A_NANOSECOND_MAX)))
        .or_else(|| {
            // Virtual time passes at any speed.
            let is_real = !case.has_virtual_clock();
            is_real.then(|| {
                too_long("its wall time is", trial.wall_ns as f64, 1.0)
                    .or_else(|| too_long("its CPU time is", trial.cpu_ns as f64, CPUS_MAX))
                    .or_else(|| trial.ends.iter().find_map(of_end))
                    .or_else(of_clock)
            })?
        })
}

/// Readings of yardsticks that would have taken longer than the trial that they are of.
fn readings(raw: &RawRun, trial: &RawTrial) -> Option<String> {
    trial.yardsticks.iter().find_map(|read| {
        let operations = raw.yardsticks.get(read.yardstick as usize)?.operations as f64;
        let is_time = read.operation_ns > 0.0
            && read.operation_ns * operations <= trial.took_ns as f64 * CLOCKS_AGREE + SLACK_NS;
        (!is_time).then(|| format!("a yardstick's operation took {} ns", read.operation_ns))
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::raw::RawTrial;
    use hopcost_model::results::Status;

    use crate::testing::{Builder, PIPE, STREAM, WAKE, event, noisy, read};

    type Change = fn(&mut RawTrial);

    /// What is said of the second of three trials, each 300 operations of 3 µs, after a change.
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
        assert_eq!(case.n_failed, u32::from(trial.is_some()));
        assert_eq!(case.status, Status::Measured, "by the others");
        trial.and_then(|trial| trial.error.clone())
    }

    #[test]
    fn what_cannot_have_been_measured_is_a_failed_trial() {
        assert_eq!([PIPE, WAKE, STREAM].map(|id| said(id, |_| ())), [None, None, None]);
        let changes: [(Change, &str); 21] = [
            (|t| t.round = 8, "it is of round 8, counted from 0, of 8"),
            (|t| t.started_ns = 5, "it began before the trial before it was over"),
            (|t| t.samples_taken = 299, "300 samples kept of 299 taken in 300 operations"),
            (|t| t.samples_taken = 1 << 40, "of 1099511627776 taken in 300 operations"),
            (|t| t.operations = 1 << 40, "1099511627776 operations, of which its ends did 300"),
            (|t| t.ends.clear(), "300 operations, of which its ends did 0"),
            (|t| t.samples[7] = 4_000_000_000, "its longest sample is 4000000000 ticks and not"),
            (|t| t.samples_max_ticks = 1, "ticks and not 1"),
            (|t| t.samples_max_ticks = 1 << 40, "its stamps span 1099511.627776 ms of a trial of"),
            (|t| t.ends[0].lost = 301, "301 of 300 operations were lost"),
            (|t| t.ends[1].elapsed_ticks = 1 << 50, "its stamps span"),
            (|t| t.ends[1].thread_cpu_ns = 1 << 50, "its CPU time is"),
            (|t| t.cpu_ns = 1 << 60, "its CPU time is"),
            (|t| t.ends[0].run_delay_ns = Some(1 << 50), "it waited for a CPU"),
            (|t| t.ends[0].voluntary = 1 << 40, "switches and faults in a trial of 90 ms"),
            (|t| t.ends[0].minor_faults = u64::MAX, "switches and faults in a trial of 90 ms"),
            (|t| t.ends[0].bytes = 1 << 50, "bytes in a trial of 90 ms"),
            (|t| t.counted.push(event("cycles", 1 << 60)), "cycles in a trial of 90 ms"),
            (|t| t.phases_ns = 1 << 50, "its phases are"),
            (|t| t.wall_ns = 1 << 50, "its wall time is 1125899906.842624 ms of a trial of 90 ms"),
            (|t| t.yardsticks[0].operation_ns = 1e9, "a yardstick's operation took 1000000000 ns"),
        ];
        for id in [PIPE, WAKE, STREAM] {
            for (change, part) in changes {
                let said = said(id, change).unwrap_or_else(|| panic!("{id}: shown: {part}"));
                assert!(said.starts_with("the file says what cannot be: "), "{said}");
                assert!(said.contains(part), "{id}: no `{part}` in: {said}");
            }
        }
    }
}
