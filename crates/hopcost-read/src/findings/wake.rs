//! Findings about one-way times: how far they can be believed, and whether the receiver of
//! wake-ups was waiting.

use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::RawTrial;
use hopcost_model::results::Statistic;
use hopcost_stats::sample::median;

use super::make::{finding, suspect_if};
use crate::case::Reading;
use crate::format;
use crate::run::Run;
use crate::sums::total;

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

/// All of them for one case.
pub fn findings(run: &Run, case: &Case, reading: &Reading) -> Vec<Finding> {
    if !matches!(case.workload, Workload::Wake | Workload::Load) {
        return Vec::new();
    }
    let trials = &reading.trials;
    let mut found = vec![backward(trials), negative(trials), bound(reading)];
    if case.workload == Workload::Wake {
        found.extend([moved(reading), overrun(reading, trials), spinner_off_cpu(case, reading)]);
        found.extend((!run.is_engine(case)).then(|| never_slept(case, trials)));
    }
    found.into_iter().flatten().collect()
}

fn p50_ns(reading: &Reading) -> Option<f64> {
    reading.get(Statistic::P50)?.point
}

/// A cause that comes after its effect: the clocks cannot be compared at all.
fn backward(trials: &[&RawTrial]) -> Option<Finding> {
    let gates = || trials.iter().flat_map(|trial| &trial.gates);
    let backward = total(gates().map(|gate| gate.backward_steps));
    let steps = total(gates().map(|gate| gate.steps));
    (backward > 0).then(|| {
        let evidence = format!(
            "{backward} of {steps} steps of the causality test went backwards in time by more than \
             the bound."
        );
        let values = [("backward_steps", backward as f64), ("steps", steps as f64)];
        finding(Code::ClockOffset, Severity::Invalid, evidence, &values)
    })
}

fn negative(trials: &[&RawTrial]) -> Option<Finding> {
    let negative = total(trials.iter().map(|trial| trial.negative_samples));
    let taken = total(trials.iter().map(|trial| trial.samples_taken));
    (negative > 0).then(|| {
        let evidence = format!(
            "{negative} of {taken} one-way times came out negative, within the bound, and stand as 0."
        );
        let values = [("negative_samples", negative as f64), ("samples", taken as f64)];
        finding(Code::ClockOffset, Severity::Suspect, evidence, &values)
    })
}

fn bound(reading: &Reading) -> Option<Finding> {
    let (bound_ns, p50_ns) = (reading.result.clock_bound_ns()?, p50_ns(reading)?);
    (bound_ns > BOUND_MAX * p50_ns).then(|| {
        // Nothing but the bound is known of a time that is shorter.
        let severity = if bound_ns < p50_ns { Severity::Suspect } else { Severity::Invalid };
        let evidence = format!(
            "The clocks agree to within {}, the one-way time is {}.",
            format::ns(bound_ns),
            format::ns(p50_ns)
        );
        let values = [("clock_bound_ns", bound_ns), ("p50_ns", p50_ns)];
        finding(Code::ClockOffset, severity, evidence, &values)
    })
}

fn moved(reading: &Reading) -> Option<Finding> {
    let moved_ns = reading.result.wake.as_ref()?.clock_moved_ns?;
    let p50_ns = p50_ns(reading)?;
    (moved_ns > MOVED_NS).then(|| {
        let severity = suspect_if(moved_ns > MOVED_SHARE * p50_ns);
        let evidence = format!(
            "The offset between the clocks moved by up to {} during a trial; the one-way time is {}.",
            format::ns(moved_ns),
            format::ns(p50_ns)
        );
        let values = [("clock_moved_ns", moved_ns), ("p50_ns", p50_ns)];
        finding(Code::ClockOffset, severity, evidence, &values)
    })
}

fn overrun(reading: &Reading, trials: &[&RawTrial]) -> Option<Finding> {
    let share = reading.result.wake.as_ref()?.overrun_share;
    let overruns = total(trials.iter().flat_map(|trial| trial.ends.iter().map(|end| end.overruns)));
    (share > OVERRUN_TOLD).then(|| {
        let evidence = format!(
            "{overruns} notifications ({}) waited for the receiver to be ready.",
            format::percent(share)
        );
        let values = [("overruns", overruns as f64), ("share", share)];
        finding(Code::Overrun, suspect_if(share > OVERRUN_MAX), evidence, &values)
    })
}

/// A receiver that never sleeps uses up its turns, so that whatever else wants its CPU gets it
/// for a whole turn.
fn spinner_off_cpu(case: &Case, reading: &Reading) -> Option<Finding> {
    let late = reading.result.modes.iter().filter(|mode| mode.ns > OFF_CPU_NS);
    let share: f64 = late.map(|mode| mode.share).sum();
    (!case.wait(Role::Callee).sleeps() && share > 0.0).then(|| {
        let evidence = format!(
            "{} of the wake-ups took a time slice and not a hand-over: another task was running on the \
             CPU of the receiver, which spins and so has used up its turn.",
            format::percent(share)
        );
        finding(Code::Preempted, Severity::Suspect, evidence, &[("late_share", share)])
    })
}

/// A receiver that sleeps on every wake-up switches away once for each. (The sender
/// sleeps for the gap, whatever the mechanism.)
fn never_slept(case: &Case, trials: &[&RawTrial]) -> Option<Finding> {
    if !case.wait(Role::Callee).sleeps() {
        return None;
    }
    let each = trials.iter().filter(|trial| trial.operations > 0).filter_map(|trial| {
        let receiver = trial.ends.iter().find(|end| end.role == Role::Callee)?;
        Some(receiver.voluntary as f64 / trial.operations as f64)
    });
    let seen = median(&each.collect::<Vec<_>>())?;
    (seen < SLEPT_MIN).then(|| {
        let evidence = format!(
            "The receiver went to sleep {} times a wake-up; waiting asleep takes once.",
            format::three(seen)
        );
        let values = [("voluntary_per_operation", seen), ("least", 1.0)];
        finding(Code::NeverSlept, Severity::Suspect, evidence, &values)
    })
}

#[cfg(test)]
mod tests {
    use crate::results::Results;
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, TrialBuilder, WAKE, expect, noisy};

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
        type Row =
            (Code, &'static str, fn(u32, &mut TrialBuilder), Option<(Severity, &'static str)>);
        let note = |words| Some((Severity::Note, words));
        let suspect = |words| Some((Severity::Suspect, words));
        let rows: [Row; 15] = [
            (Code::ClockOffset, WAKE, |_, t| t.gates(0, 0, 290), None),
            (Code::ClockOffset, WAKE, |_, t| t.gates(0, 0, 310), suspect("310 ns")),
            (Code::ClockOffset, WAKE, |_, t| t.gates(0, 20, 50), None),
            (Code::ClockOffset, WAKE, |_, t| t.gates(0, -25, 50), note("25.0 ns")),
            (Code::ClockOffset, WAKE, |_, t| t.gates(0, 50, 50), suspect("50.0 ns")),
            (
                Code::ClockOffset,
                WAKE,
                |round, t| t.raw.gates[1].backward_steps = u64::from(round == 3),
                Some((Severity::Invalid, "1 of 1600000 steps")),
            ),
            (
                Code::ClockOffset,
                WAKE,
                |round, t| t.raw.negative_samples = u64::from(round == 3),
                suspect("1 of 8000 one-way times"),
            ),
            (Code::Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 10, None),
            (Code::Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 100, note("800 notifications")),
            (Code::Overrun, WAKE, |_, t| t.raw.ends[0].overruns = 101, suspect("10 %")),
            (Code::NeverSlept, WAKE, |_, t| t.raw.ends[1].voluntary = 950, None),
            (Code::NeverSlept, WAKE, |_, t| t.raw.ends[1].voluntary = 800, suspect("0.800 times")),
            (Code::NeverSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 0, None),
            (Code::SpinnerSlept, SPIN, |_, t| t.raw.ends[1].voluntary = 500, suspect("0.500")),
            (Code::Preempted, WAKE, |_, t| t.raw.cpu_ns = 0, None),
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
