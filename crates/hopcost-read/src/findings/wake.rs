//! Findings about one-way times: how far they can be believed, and whether the receiver of
//! wake-ups was waiting, or the generator, the rate and the messages of a load are what its case says.

use hopcost_model::{Code, Finding, RawLoad, RawTrial, Role, Severity, Statistic};
use hopcost_stats::sample::median;

use super::make::{Seen, finding, in_trials, suspect_if};
use crate::case::Reading;
use crate::one_way::{achieved, typical_bound_ns};
use crate::sums::total;
use crate::trial::{LAG_MAX, LEFT_OUT_MAX, in_time, late_alone};

/// The share of a one-way time that the clocks' bound may take.
const BOUND_MAX: f64 = 0.10;
/// A change of the offset that repeated exchanges do not explain.
const MOVED_NS: f64 = 20.0;
/// A change below this share of the one-way time is to be known and no more: the
/// printed bound covers it.
const MOVED_SHARE: f64 = 0.01;
/// Share of deferred wake-ups from which on the finding appears.
const OVERRUN_TOLD: f64 = 0.01;
/// The same from which on they decide more than the tail: the p50 is one of the others.
const OVERRUN_MAX: f64 = 0.10;
/// A spinning receiver is as late as this only where it was not running: a hand-over between
/// caches takes a thousandth of it.
const OFF_CPU_NS: f64 = 500_000.0;
/// Voluntary switches of the receiver for each wake-up, below which it did not sleep
/// on each: the tenth is for what runs once.
const SLEPT_MIN: f64 = 0.9;

fn p50_ns(reading: &Reading) -> Option<f64> {
    reading.get(Statistic::P50)?.point
}

/// A cause that comes after its effect: the clocks cannot be compared at all.
pub fn backward(of: &Seen) -> Option<Finding> {
    let gates = || of.reading.trials.iter().flat_map(|trial| &trial.gates);
    let backward = total(gates().map(|gate| gate.backward_steps));
    let steps = total(gates().map(|gate| gate.steps));
    let says = "<backward_steps n> of <steps n> steps of the causality test went backwards in time \
                by more than the bound.";
    let values = [("backward_steps", backward as f64), ("steps", steps as f64)];
    (backward > 0).then(|| finding(Code::ClockOffset, Severity::Invalid, says, &values))
}

pub fn negative(of: &Seen) -> Option<Finding> {
    let trials = || of.reading.trials.iter();
    let negative = total(trials().map(|trial| trial.negative_samples));
    let taken = total(trials().map(|trial| trial.samples_taken));
    let says = "<negative_samples n> of <samples n> one-way times came out negative, within the \
                bound, and stand as 0.";
    let values = [("negative_samples", negative as f64), ("samples", taken as f64)];
    (negative > 0).then(|| finding(Code::ClockOffset, Severity::Suspect, says, &values))
}

pub fn bound(of: &Seen) -> Option<Finding> {
    let (bound_ns, p50_ns) = (of.reading.result.clock_bound_ns()?, p50_ns(of.reading)?);
    let typical_ns = typical_bound_ns(of.run, &of.reading.trials)?;
    // Nothing but the bound is known of a time that is shorter.
    let severity = if typical_ns < p50_ns { Severity::Suspect } else { Severity::Invalid };
    let says = "The clocks agree to within <clock_bound_ns ns>, the one-way time is <p50_ns ns>.";
    let values = [("clock_bound_ns", bound_ns), ("p50_ns", p50_ns)];
    (bound_ns > BOUND_MAX * p50_ns).then(|| finding(Code::ClockOffset, severity, says, &values))
}

pub fn moved(of: &Seen) -> Option<Finding> {
    let moved_ns = of.reading.result.wake.as_ref()?.clock_moved_ns?;
    let p50_ns = p50_ns(of.reading)?;
    let severity = suspect_if(moved_ns > MOVED_SHARE * p50_ns);
    let says = "The offset between the clocks moved by up to <clock_moved_ns ns> during a trial; \
                the one-way time is <p50_ns ns>.";
    let values = [("clock_moved_ns", moved_ns), ("p50_ns", p50_ns)];
    (moved_ns > MOVED_NS).then(|| finding(Code::ClockOffset, severity, says, &values))
}

pub fn overrun(of: &Seen) -> Option<Finding> {
    let share = of.reading.result.wake.as_ref()?.overrun_share;
    let ends = of.reading.trials.iter().flat_map(|trial| &trial.ends);
    let says = "<overruns n> notifications (<share %>) waited for the receiver to be ready.";
    let values = [("overruns", total(ends.map(|end| end.overruns)) as f64), ("share", share)];
    let severity = suspect_if(share > OVERRUN_MAX);
    (share > OVERRUN_TOLD).then(|| finding(Code::Overrun, severity, says, &values))
}

/// A receiver that never sleeps uses up its turns, so that whatever else wants its CPU gets it
/// for a whole turn.
pub fn spinner_off_cpu(of: &Seen) -> Option<Finding> {
    let late = of.reading.result.modes.iter().filter(|mode| mode.ns > OFF_CPU_NS);
    let share: f64 = late.map(|mode| mode.share).sum();
    let says = "<late_share %> of the wake-ups took a time slice and not a hand-over: another task \
                was running on the CPU of the receiver, which spins and so has used up its turn.";
    (!of.case.wait(Role::Callee).sleeps() && share > 0.0)
        .then(|| finding(Code::Preempted, Severity::Suspect, says, &[("late_share", share)]))
}

/// A receiver that sleeps on every wake-up switches away once for each. (The sender
/// sleeps for the gap, whatever the mechanism.)
pub fn never_slept(of: &Seen) -> Option<Finding> {
    let trials = of.reading.trials.iter().filter(|trial| trial.operations > 0);
    let each = trials.filter_map(|trial| {
        let receiver = trial.ends.iter().find(|end| end.role == Role::Callee)?;
        Some(receiver.voluntary as f64 / trial.operations as f64)
    });
    let seen = median(each)?;
    let says = "The receiver went to sleep <voluntary_per_operation> times a wake-up; waiting \
                asleep takes once.";
    let values = [("voluntary_per_operation", seen), ("least", 1.0)];
    (of.case.wait(Role::Callee).sleeps() && seen < SLEPT_MIN)
        .then(|| finding(Code::NeverSlept, Severity::Suspect, says, &values))
}

/// Share of the messages that may be left out without a word, because the sender sent them late by itself.
const OWN_LATE_MAX: f64 = 0.01;
/// Share of the offered rate that has to get through.
const ACHIEVED_MIN: f64 = 0.99;
/// Share of trials from which on a case is suspect, and from which on its typical trial is wrong.
const SUSPECT: f64 = 0.25;
const INVALID: f64 = 0.5;

/// What is so in some of the trials of a load.
fn found_in<T>(
    trials: &[&RawTrial],
    of: impl Fn(&RawTrial, &RawLoad) -> Option<T>,
) -> Option<Vec<T>> {
    let loads = trials.iter().filter_map(|trial| Some((trial, trial.load.as_ref()?)));
    let found: Vec<T> = loads.filter_map(|(trial, load)| of(trial, load)).collect();
    (!found.is_empty()).then_some(found)
}

/// Whether the sender of these trials of a load was late by itself for more messages than can be left out.
pub fn generator_late(of: &Seen) -> Option<Finding> {
    let trials = &of.reading.trials;
    let late = |trial: &RawTrial, _: &RawLoad| in_time(trial, of.run.raw.clock(trial)?);
    let Some(sent) = found_in(trials, late) else { return untold(trials) };
    let over = |least: f64| sent.iter().filter(|of| of.late_share > least).count();
    let (severity, late, answer) = match over(LEFT_OUT_MAX) {
        0 if over(OWN_LATE_MAX) == 0 => return None,
        0 => (Severity::Note, over(OWN_LATE_MAX), "these are left out"),
        late => (by_share(late, trials).max(Severity::Suspect), late, "too many to leave out"),
    };
    let what = format!(
        "the sender by itself was late for up to <late_share %> of the messages: {answer}."
    );
    let values = [("late_share", sent.iter().map(|of| of.late_share).fold(0.0, f64::max))];
    Some(in_trials(Code::GeneratorLate, severity, (late, trials.len()), what, &values))
}

/// The same of a sender that does not report when it left its waits.
fn untold(trials: &[&RawTrial]) -> Option<Finding> {
    let is_late = |late: &f64| *late > LAG_MAX;
    let late = found_in(trials, |trial, load| late_alone(trial, load).filter(is_late))?;
    let what = "the sender without a channel was late by up to <lag_share %> of the response's p99; \
                whether that changes the response is not known.";
    let (of, most) = ((late.len(), trials.len()), late.iter().copied().fold(0.0, f64::max));
    Some(in_trials(Code::GeneratorLate, Severity::Suspect, of, what, &[("lag_share", most)]))
}

/// How grave wrong trials are, by their share of all.
fn by_share(wrong: usize, trials: &[&RawTrial]) -> Severity {
    match wrong as f64 / trials.len().max(1) as f64 {
        share if share >= INVALID => Severity::Invalid,
        share if share >= SUSPECT => Severity::Suspect,
        _ => Severity::Note,
    }
}

pub fn rate_missed(of: &Seen) -> Option<Finding> {
    let missed = |_: &RawTrial, load: &RawLoad| {
        let missing = 1.0 - achieved(load);
        (missing > 1.0 - ACHIEVED_MIN).then_some(missing)
    };
    let trials = &of.reading.trials;
    let missed = found_in(trials, missed)?;
    let severity = by_share(missed.len(), trials);
    let what = "down to <achieved %> of the offered rate was kept, lost messages aside.";
    let values = [("achieved", 1.0 - missed.iter().copied().fold(0.0, f64::max))];
    Some(in_trials(Code::RateMissed, severity, (missed.len(), trials.len()), what, &values))
}

#[cfg(test)]
mod tests {
    use crate::results::Results;
    use hopcost_model::{Code, Severity};

    use crate::testing::{Builder, Row, TrialBuilder, WAKE, expect, invalid, noisy, note, suspect};

    const SPIN: &str = "wake/flag?payload=0&gap=1000000&boundary=process&place=same-llc&wait=spin";

    fn run(id: &str, change: impl Fn(u32, &mut TrialBuilder)) -> Results {
        let make = |round: u32, t: &mut TrialBuilder| {
            t.wake(&noisy(1000, round), 1_060_000);
            change(round, t);
        };
        Builder::new().case(id, 8, make).read()
    }

    #[test]
    fn nothing_fires_on_a_plain_wake_up() {
        for place in ["same-llc", "same-cpu", "free"] {
            let id = WAKE.replace("same-llc", place);
            assert_eq!(run(&id, |_, _| ()).findings, [], "{place}");
        }
        // A spinning receiver does not sleep, its sender does.
        let spins = run(SPIN, |_, t| t.raw.ends[1].voluntary = 0);
        assert_eq!(spins.findings, []);
    }

    #[test]
    fn each_finding_has_its_evidence() {
        use Code::{ClockOffset, NeverSlept, Overrun, Preempted, SpinnerSlept};
        let rows: [Row; 17] = [
            (ClockOffset, WAKE, |_, t| t.gates(0, 0, 290), None),
            (ClockOffset, WAKE, |_, t| t.gates(0, 0, 310), suspect("310 ns")),
            (ClockOffset, WAKE, |_, t| t.gates(0, 0, 3_100), invalid("3.10 µs")),
            // In a trial or two the CPUs were apart.
            (
                ClockOffset,
                WAKE,
                |round, t| t.gates(0, 0, if round < 2 { 3_100 } else { 100 }),
                suspect("3.10 µs"),
            ),
            (ClockOffset, WAKE, |_, t| t.gates(0, 20, 50), None),
            (ClockOffset, WAKE, |_, t| t.gates(0, -25, 50), note("25.0 ns")),
            (ClockOffset, WAKE, |_, t| t.gates(0, 50, 50), suspect("50.0 ns")),
            (
                ClockOffset,
                WAKE,
                |round, t| t.raw.gates[1].backward_steps = u64::from(round == 3),
                invalid("1 of 1600000 steps"),
            ),
            (
                ClockOffset,
                WAKE,
                |round, t| t.raw.negative_samples = u64::from(round == 3),
                suspect("1 of 8000 one-way times"),
            ),
            (Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 10, None),
            (Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 100, note("800 notifications")),
            (Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 101, suspect("10 %")),
            (NeverSlept, WAKE, |_, t| t.raw.ends[1].voluntary = 950, None),
            (NeverSlept, WAKE, |_, t| t.raw.ends[1].voluntary = 800, suspect("0.800 times")),
            (NeverSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 0, None),
            (SpinnerSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 500, suspect("0.500")),
            (Preempted, WAKE, |_, t| t.raw.cpu_ns = 0, None),
        ];
        for (code, id, change, expected) in rows {
            expect(&run(id, change), code, expected);
        }
    }

    #[test]
    fn a_spinner_that_was_not_running() {
        let with = |id: &str, late: usize| {
            let samples: Vec<u32> =
                (0..1000).map(|i| if i < late { 3_900_000 } else { 3_000 } + i as u32).collect();
            let make = |_: u32, t: &mut TrialBuilder| {
                t.wake(&samples, 10_060_000);
                t.raw.ends[1].voluntary = 1000;
            };
            let found = Builder::new().case(id, 8, make).read().findings;
            found.into_iter().find(|found| found.evidence.contains("time slice"))
        };
        assert_eq!(with(SPIN, 0), None);
        assert_eq!(with(WAKE, 400), None, "it had left its CPU");
        let found = with(SPIN, 400).unwrap();
        assert_eq!((found.code, found.severity), (Code::Preempted, Severity::Suspect));
        assert!(found.evidence.starts_with("40 % of the wake-ups"), "{found:?}");
    }
}
