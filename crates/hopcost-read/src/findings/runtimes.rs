//! Findings about what a runtime other than Rust does besides: threads that are no
//! end, numbers that still change, a clock that runs apart.

use hopcost_model::group::distinct;
use hopcost_model::{Code, Finding, RawTrial, Severity, Stamp};
use hopcost_stats::sample::median;

use super::make::{Seen, finding, of_trials};
use crate::format;
use crate::threads::ThreadResult;

/// The share of the CPU time from which on threads that are no end are a visible part.
const HIDDEN_MIN: f64 = 0.10;
/// Context switches an operation below which a thread that sleeps between messages
/// cannot be on their way.
const ON_THE_WAY_MIN: f64 = 0.5;
/// How far two parts that should be alike may be apart, the greater over the less.
const STEADY: f64 = 1.05;
/// A warm-up is over when as many parts in a row agree.
const PARTS_AGREE: usize = 4;
/// Otherwise its last parts are looked at for a trend: as many at most, and at least.
const PARTS_LAST: usize = 20;
const PARTS_MIN: usize = 8;

/// Threads that play no end, of processes in which another thread does: where none
/// does, the ends are no threads, and these are the ends' own.
pub fn hidden_thread(of: &Seen) -> Option<Finding> {
    let threads = &of.reading.result.threads;
    let has_seat = |of: &ThreadResult| {
        threads.iter().any(|thread| thread.process == of.process && thread.seat.is_some())
    };
    let hidden: Vec<&ThreadResult> =
        threads.iter().filter(|thread| thread.seat.is_none() && has_seat(thread)).collect();
    let share: f64 = hidden.iter().map(|thread| thread.cpu_share).sum();
    if share < HIDDEN_MIN {
        return None;
    }
    let processes = distinct(threads.iter().map(|thread| thread.process)).len();
    let each = hidden.iter().filter(|thread| thread.cpu_share >= HIDDEN_MIN / 10.0).map(|thread| {
        let times =
            if thread.threads > 1 { format!("{} x ", thread.threads) } else { String::new() };
        let of = match &thread.other {
            Some(name) if *name == thread.name => String::new(),
            Some(name) => format!(" of {name}"),
            None if processes > 1 => format!(" of the {}", thread.process),
            None => String::new(),
        };
        format!("{times}`{}`{of} {}", thread.name, format::percent(thread.cpu_share))
    });
    let switches: f64 = hidden.iter().map(|thread| thread.switches_per_operation).sum();
    let way = if switches < ON_THE_WAY_MIN {
        "too rarely for messages to pass through them, unless they spin"
    } else {
        "so that messages may pass through them"
    };
    let says = format!(
        "Threads that are neither end did <cpu_share %> of the CPU time: {}. They switched context \
         <switches_per_operation> times an operation, {way}.",
        each.collect::<Vec<_>>().join(", ")
    );
    let values = [("cpu_share", share), ("switches_per_operation", switches)];
    Some(finding(Code::HiddenThread, Severity::Note, says, &values))
}

/// Only of runtimes that are warmed up until nothing changes. Most trials must show it:
/// in one, the host may have changed.
pub fn not_steady(of: &Seen) -> Option<Finding> {
    let warmed = of.reading.trials.iter().filter(|trial| !trial.warm_up_ns.is_empty());
    let warmed: Vec<&RawTrial> = warmed.copied().collect();
    let most = |n: usize| 2 * n > warmed.len();
    let unfinished = warmed.iter().filter(|trial| !is_warm(&trial.warm_up_ns)).count();
    let halves: Vec<f64> = warmed.iter().filter_map(|trial| halves(&samples(trial))).collect();
    let changed = halves.iter().filter(|ratio| ratio.max(1.0 / **ratio) > STEADY).count();
    let more = format!("by more than {}", format::percent(STEADY - 1.0));
    let said = [
        (unfinished, format!("the warm-up ended while its parts still differed {more}")),
        (
            changed,
            format!(
                "the median changed {more} from the first half of the samples to the second \
                 (typically <second_half_over_first> ×)"
            ),
        ),
    ];
    let said = said.into_iter().filter(|(n, _)| most(*n));
    let said = said.map(|(n, what)| format!("n {} {what}", of_trials(n, warmed.len())));
    let said: Vec<String> = said.collect();
    let says = format!("I{}.", said.join("; i"));
    let values = [
        ("trials", warmed.len() as f64),
        ("warm_ups_unfinished", unfinished as f64),
        ("trials_changed", changed as f64),
        ("second_half_over_first", median(&halves).unwrap_or(f64::NAN)),
    ];
    (!said.is_empty()).then(|| finding(Code::NotSteady, Severity::Suspect, says, &values))
}

/// Whether a warm-up reached a steady state: its last parts agree, or go up and down
/// around one value.
fn is_warm(parts: &[f64]) -> bool {
    let last = |n: usize| &parts[parts.len().saturating_sub(n)..];
    let agree = |parts: &[f64]| {
        let (least, most) =
            parts.iter().fold((f64::MAX, 0.0f64), |(low, high), x| (low.min(*x), high.max(*x)));
        parts.len() == PARTS_AGREE && most <= least * STEADY
    };
    let level = |parts: &[f64]| halves(parts).is_some_and(|r| r.max(1.0 / r) <= STEADY);
    agree(last(PARTS_AGREE)) || (parts.len() >= PARTS_MIN && level(last(PARTS_LAST)))
}

/// The median of the second half over that of the first; `None` where there is none.
fn halves(values: &[f64]) -> Option<f64> {
    let (first, second) = values.split_at(values.len() / 2);
    let (first, second) = (median(first)?, median(second)?);
    (first > 0.0 && second > 0.0).then(|| second / first)
}

/// Samples in time order, in ticks of one and the same number of operations.
fn samples(trial: &RawTrial) -> Vec<f64> {
    match trial.stamp {
        Some(Stamp::TwoLengths { .. }) => {
            trial.samples.chunks_exact(2).map(|p| p[1] as f64 - p[0] as f64).collect()
        }
        _ => trial.samples.iter().map(|ticks| *ticks as f64).collect(),
    }
}

/// The share of a phase that samples of single operations cover at least, and what
/// may be missing where a phase is short.
const COVERED_MIN: f64 = 0.7;
const MISSING_MAX_NS: f64 = 15e6;

/// Samples that add up to much less than their phase took, seen from outside: a clock
/// that runs slow, or time that is left out.
pub fn covers_too_little(of: &Seen) -> Option<Finding> {
    let each = of.reading.trials.iter().filter(|trial| trial.stamp == Some(Stamp::Each));
    let phases: Vec<(f64, f64)> = each
        .filter_map(|trial| {
            let caller = trial.ends.first().filter(|end| end.lost == 0)?;
            let ns = caller.elapsed_ticks as f64 * 1e9 / of.run.raw.ticks_per_second(trial)?;
            Some((ns, trial.wall_ns as f64)).filter(|(_, wall_ns)| *wall_ns > 0.0)
        })
        .collect();
    let share = median(phases.iter().map(|(ns, wall)| ns / wall))?;
    let missing_ns = median(phases.iter().map(|(ns, wall)| wall - ns))?;
    if share >= COVERED_MIN || missing_ns <= MISSING_MAX_NS {
        return None;
    }
    let evidence = format!(
        "The samples account for {} % of the time that their phases took; median over {}.",
        format::three(share * 100.0),
        format::count(phases.len(), "trial")
    );
    let values = [("share", share), ("missing_ns", missing_ns)];
    Some(finding(Code::ClockDisagrees, Severity::Suspect, evidence, &values))
}

#[cfg(test)]
mod tests {
    use crate::results::Results;

    use super::*;
    use crate::testing::{Builder, PIPE_PYTHON, TrialBuilder, noisy, severity, thread};
    use hopcost_model::Role;

    fn run(id: &str, make: impl Fn(u32, &mut TrialBuilder)) -> Results {
        let each = |round: u32, t: &mut TrialBuilder| {
            t.each(&noisy(1000, round));
            make(round, t);
        };
        Builder::new().case(id, 8, each).read()
    }

    #[test]
    fn samples_that_cover_half_of_their_phase() {
        let with = |wall_ns: u64| run(PIPE_PYTHON, move |_, t| t.raw.wall_ns = wall_ns);
        // Samples of about 1 ms in all.
        let sum = |results: &Results| severity(results, Code::ClockDisagrees);
        assert_eq!(sum(&with(10_000_000)), None, "what is missing is little");
        assert_eq!(sum(&with(40_000_000)), Some(Severity::Suspect));
    }

    #[test]
    fn hidden_threads() {
        let with = |hidden: u64| {
            run(PIPE_PYTHON, move |_, t| {
                t.raw.threads = vec![
                    thread("python3", Some(Role::Caller), 500, 10),
                    thread("io-1", None, hidden / 2, 2000),
                    thread("io-2", None, hidden / 2, 0),
                    thread("gc", None, 2, 0),
                    thread("main", Some(Role::Callee), 500 - hidden, 10),
                ];
            })
        };
        assert_eq!(severity(&with(90), Code::HiddenThread), None);
        let found = with(200);
        assert_eq!(severity(&found, Code::HiddenThread), Some(Severity::Note));
        let finding = &found.results[0].findings[0];
        assert!(finding.evidence.contains("2 x `io-*` of the caller 20 %"), "{finding:?}");
        assert!(!finding.evidence.contains("gc"), "{finding:?}");
        assert!((finding.values["switches_per_operation"] - 2.0).abs() < 1e-9);
        assert!(finding.evidence.ends_with("so that messages may pass through them."));
        let compiler = run(PIPE_PYTHON, |_, t| {
            let end = thread("java", Some(Role::Caller), 500, 2000);
            t.raw.threads = vec![end, thread("compiler", None, 500, 20)];
        });
        assert!(compiler.results[0].findings[0].evidence.contains("too rarely for messages"));
        // Where no thread plays an end, none of them is hidden.
        let go = run(PIPE_PYTHON, |_, t| t.raw.threads = vec![thread("worker", None, 900, 10)]);
        assert_eq!(severity(&go, Code::HiddenThread), None);
    }

    #[test]
    fn warm_ups_end_when_nothing_changes() {
        let falling: Vec<f64> = (0..40).map(|i| 100.0 + 900.0 / f64::from(i + 1)).collect();
        assert!(!is_warm(&falling[..10]), "by a tenth and more");
        assert!(is_warm(&[900.0, 100.0, 104.0, 100.0, 102.0]));
        assert!(!is_warm(&[900.0, 100.0, 104.0]), "cut off");
        assert!(!is_warm(&[100.0, 100.0, 106.0, 100.0]));
        // Up and down for good, and up for good.
        let noisy: Vec<f64> = (0..60).map(|i| [100.0, 120.0][i % 2]).collect();
        assert!(is_warm(&noisy));
        let rising: Vec<f64> = (0..60).map(|i| libm::pow(1.03, f64::from(i))).collect();
        assert!(!is_warm(&rising));
    }

    #[test]
    fn not_steady() {
        let warm =
            |t: &mut TrialBuilder| t.raw.warm_up_ns = vec![9000.0, 3000.0, 3010.0, 3000.0, 3020.0];
        let step = |round: u32, factor: f64| -> Vec<u32> {
            let values = noisy(1000, round);
            let scaled =
                |i: usize, v: &u32| (f64::from(*v) * if i < 500 { 1.0 } else { factor }) as u32;
            values.iter().enumerate().map(|(i, v)| scaled(i, v)).collect()
        };
        let fires = |results: &Results| severity(results, Code::NotSteady);
        assert_eq!(fires(&run(PIPE_PYTHON, |_, t| warm(t))), None);
        let stepped = |n: u32, factor: f64| {
            run(PIPE_PYTHON, move |round, t| {
                t.each(&step(round, if round < n { factor } else { 1.0 }));
                warm(t);
            })
        };
        assert_eq!(fires(&stepped(8, 1.1)), Some(Severity::Suspect));
        assert_eq!(fires(&stepped(8, 0.9)), Some(Severity::Suspect));
        assert_eq!(fires(&stepped(4, 1.1)), None, "half of the trials are not most");
        assert_eq!(fires(&stepped(8, 1.02)), None);
        let unfinished =
            run(PIPE_PYTHON, |_, t| t.raw.warm_up_ns = vec![9000.0, 5000.0, 4000.0, 3000.0]);
        assert_eq!(fires(&unfinished), Some(Severity::Suspect));
        let evidence = &unfinished.results[0].findings[0].evidence;
        assert!(evidence.starts_with("In 8 of 8 trials the warm-up ended"), "{evidence}");
        // A runtime that is warmed up as planned is not asked.
        assert_eq!(fires(&run(PIPE_PYTHON, |round, t| t.each(&step(round, 1.5)))), None);
    }
}
