//! How far a run is: said between trials, never during one.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use hopcost_model::text::count;
use hopcost_model::{Plan, RawRun, RawTrial};
use hopcost_plan::Expected;
use hopcost_probe::interrupt;
use hopcost_stats::sample::median;
use hopcost_view::number::{self, exact, expected as time};
use serde_json::json;

use super::output;
use crate::run::Progress;

/// How long passes between two lines where nobody's terminal is drawn on.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Which values a run prints while it goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live {
    /// How often, for people.
    pub interval: Option<Duration>,
    /// Whether every trial, for programs, and then nothing else.
    pub is_json: bool,
}

/// A line that says what is measured, and after it how far it is: below it on a terminal, and
/// else in further lines.
pub struct Line {
    live: Live,
    on_terminal: bool,
    /// Whether the run ends after its rounds, and not when it knows enough.
    counts_rounds: bool,
    started: Instant,
    /// When the last line was printed, and of how many rounds.
    said: (Instant, u32),
    /// The value of each trial of the run; none of those before it was resumed.
    values: Vec<Option<f64>>,
    /// Trials whose values have been printed, and when that was.
    printed: (usize, Instant),
}

/// Warns where a budget has no time for the rounds that an interval needs.
pub fn say_short(plan: &Plan, expected: Expected) {
    let (Some(budget_ns), needed) = (plan.budget_ns, hopcost_plan::rounds_needed(plan)) else {
        return;
    };
    if expected.rounds < needed && plan.comparison.is_none() {
        output::say(&format!(
            "hopcost: the budget of {} has time for {} of the {needed} that an interval needs: take \
             fewer cases or a longer --budget",
            budget(budget_ns),
            count(expected.rounds as usize, "round")
        ));
    }
}

/// A budget: `500 ms`, `2 min 0 s`.
pub fn budget(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000_000) { time(ns) } else { exact(ns) }
}

impl Line {
    /// Says what is about to happen, after the `earlier` trials of a resumed run.
    pub fn start(plan: &Plan, expected: Expected, live: Live, earlier: usize) -> Self {
        say_short(plan, expected);
        if !live.is_json {
            output::say(&announced(plan, expected));
        }
        let now = Instant::now();
        Self {
            live,
            on_terminal: std::io::stderr().is_terminal() && !live.is_json,
            counts_rounds: plan.question.is_none(),
            started: now,
            said: (now, 0),
            values: vec![None; earlier],
            printed: (earlier, now),
        }
    }

    /// Says how far it is; the trials of the run are those that are through.
    pub fn draw(&mut self, progress: &Progress, run: &RawRun) {
        self.note(run, progress.left_ns);
        if self.live.interval.is_some_and(|every| self.printed.1.elapsed() >= every) {
            self.say_values(run);
        }
        let message = message(progress, self.counts_rounds);
        if !self.on_terminal {
            let (at, rounds) = self.said;
            let is_due = progress.rounds_done > rounds && at.elapsed() >= BETWEEN_LINES;
            if is_due && !self.live.is_json {
                self.said = (Instant::now(), progress.rounds_done);
                output::say(&message);
            }
            return;
        }
        let next = progress.next.and_then(|index| run.plan.cases.get(index as usize));
        self.replace(
            &next.map_or(message.clone(), |of| format!("{message}: {}", of.case.mechanism)),
        );
    }

    /// Says what is left to be said at the end.
    pub fn end(&mut self, run: &RawRun) {
        self.note(run, 0);
        self.say_values(run);
        if self.on_terminal {
            self.replace("");
        }
    }

    /// Takes in the trials that came, and prints each for programs.
    fn note(&mut self, run: &RawRun, left_ns: u64) {
        if self.live.interval.is_none() && !self.live.is_json {
            return;
        }
        for trial in run.trials.iter().skip(self.values.len()) {
            let value = hopcost_read::value_ns(run, trial);
            self.values.push(value);
            if self.live.is_json {
                self.printed.0 += 1;
                let line = json!({
                    "case": id(run, trial),
                    "round": trial.round,
                    "value": value,
                    "unit": "ns",
                    "error": trial.error,
                    "elapsed_s": self.started.elapsed().as_secs_f64(),
                    "remaining_s": left_ns as f64 / 1e9,
                });
                interrupt::say(&format!("{line}\n"));
            }
        }
    }

    /// Prints, of each case with a trial since, the last value and the median of all.
    fn say_values(&mut self, run: &RawRun) {
        if self.on_terminal && self.printed.0 < self.values.len() {
            self.replace("");
        }
        let known = |ns: Option<f64>| ns.map_or("no value".to_owned(), |ns| number::time(ns, 3));
        let all = || run.trials.iter().zip(&self.values);
        let new = all().skip(self.printed.0).map(|both| (both.0.case, both));
        for (trial, value) in new.collect::<BTreeMap<_, _>>().into_values() {
            let of_case = all().filter(|(other, _)| other.case == trial.case);
            let of_case: Vec<f64> = of_case.filter_map(|(_, value)| *value).collect();
            let found = trial.error.as_ref().map(|why| format!("failed: {why}"));
            output::say(&format!(
                "{} {}: round {}: {}; median of {}: {}",
                time(self.started.elapsed().as_nanos() as u64),
                id(run, trial),
                trial.round + 1,
                found.unwrap_or_else(|| known(*value)),
                count(of_case.len(), "trial"),
                known(median(&of_case))
            ));
        }
        self.printed = (self.values.len(), Instant::now());
    }

    /// Draws this in the place of what was drawn before, so much of it as 80 columns hold.
    fn replace(&self, text: &str) {
        if interrupt::is_drawable() {
            interrupt::say(&format!("\r{text:.79}\x1b[K"));
        }
    }
}

fn id(run: &RawRun, trial: &RawTrial) -> String {
    run.plan.case(trial.case).map_or(String::new(), ToString::to_string)
}

/// `measuring 3 cases (1 skipped) in 15 rounds, about 20 s`
fn announced(plan: &Plan, expected: Expected) -> String {
    let rounds = count(plan.rounds.min(expected.rounds) as usize, "round");
    let how_long = match plan.question {
        Some(_) => {
            let at_most = plan.budget_ns.map_or(rounds, budget);
            format!("until the answer is known, at most {at_most}")
        }
        None => format!("in {rounds}, about {}", time(expected.ns)),
    };
    let cases = plan.live().count();
    let skipped = match plan.cases.len() - cases {
        0 => String::new(),
        skipped => format!(" ({skipped} skipped)"),
    };
    format!("measuring {}{skipped} {how_long}", count(cases, "case"))
}

/// `round 3 of 15, 1 failed, 43 s left`
fn message(progress: &Progress, counts_rounds: bool) -> String {
    let Progress { rounds_planned, trials_failed, .. } = *progress;
    let round = (progress.rounds_done + 1).min(rounds_planned);
    let left = time(progress.left_ns);
    let (round, left) = match counts_rounds {
        true => (format!("round {round} of {rounds_planned}"), format!("{left} left")),
        false => (format!("round {round}"), format!("{left} to the next look")),
    };
    let claims =
        progress.decided.map(|(decided, all)| format!("{decided} of {all} claims decided"));
    let failed = (trials_failed > 0).then(|| format!("{trials_failed} failed"));
    let parts = [Some(round), claims, failed, Some(left)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_fits_eighty_columns() {
        let mut progress = Progress {
            trials_done: 100,
            trials_planned: 810,
            rounds_done: 2,
            rounds_planned: 15,
            left_ns: 43_000_000_000,
            ..Progress::default()
        };
        assert_eq!(message(&progress, true), "round 3 of 15, 43 s left");
        progress.decided = Some((23, 61));
        let claims = message(&progress, false);
        assert_eq!(claims, "round 3, 23 of 61 claims decided, 43 s to the next look");
        assert!(claims.len() < 79);
    }
}
