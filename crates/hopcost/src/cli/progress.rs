//! How far a run is: drawn between trials, never during one.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use hopcost_model::plan::Plan;
use hopcost_model::text::count;
use hopcost_plan::Expected;
use hopcost_probe::interrupt;
use hopcost_view::number::{exact, expected as time};

use super::output;
use crate::run::Progress;

/// How long passes between two lines where nobody's terminal is drawn on.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// A line that says what is measured, and after it how far it is: below it on a terminal, and
/// else in further lines.
pub struct Line {
    on_terminal: bool,
    /// The mechanism of each case.
    names: Vec<String>,
    /// Whether the run ends after its rounds, and not when it knows enough.
    counts_rounds: bool,
    /// When the last line was printed, and of how many rounds.
    said: Cell<(Instant, u32)>,
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

/// A budget as it was typed: `500 ms`, `2 min 0 s`.
fn budget(ns: u64) -> String {
    if ns.is_multiple_of(1_000_000_000) { time(ns) } else { exact(ns) }
}

impl Line {
    /// Says what is about to happen.
    pub fn start(plan: &Plan, expected: Expected) -> Self {
        say_short(plan, expected);
        let rounds = count(plan.rounds as usize, "round");
        let at_most = plan.budget_ns.map_or(rounds.clone(), budget);
        let how_long = match (&plan.question, plan.until) {
            (Some(_), _) => format!("until the answer is known, at most {at_most}"),
            (None, Some(until)) => {
                format!("until each is within ±{} %, at most {at_most}", until * 100.0)
            }
            (None, None) => format!("in {rounds}, about {}", time(expected.ns)),
        };
        let cases = plan.live().count();
        let skipped = match plan.cases.len() - cases {
            0 => String::new(),
            skipped => format!(" ({skipped} skipped)"),
        };
        output::say(&format!("measuring {}{skipped} {how_long}", count(cases, "case")));
        Self {
            on_terminal: std::io::stderr().is_terminal(),
            names: plan.cases.iter().map(|of| of.case.mechanism.clone()).collect(),
            counts_rounds: plan.question.is_none() && plan.until.is_none(),
            said: Cell::new((Instant::now(), 0)),
        }
    }

    pub fn draw(&self, progress: &Progress) {
        let message = message(progress, self.counts_rounds);
        if !self.on_terminal {
            let (at, rounds) = self.said.get();
            if progress.rounds_done > rounds && at.elapsed() >= BETWEEN_LINES {
                self.said.set((Instant::now(), progress.rounds_done));
                output::say(&message);
            }
            return;
        }
        let name = progress.next.and_then(|index| self.names.get(index as usize));
        self.replace(&name.map_or(message.clone(), |name| format!("{message}: {name}")));
    }

    pub fn clear(&self) {
        if self.on_terminal {
            self.replace("");
        }
    }

    /// Draws this in the place of what was drawn before, so much of it as 80 columns hold.
    fn replace(&self, text: &str) {
        if interrupt::is_drawable() {
            interrupt::say(&format!("\r{text:.79}\x1b[K"));
        }
    }
}

/// `round 3 of 15, 1 failed, 43 s left`
fn message(progress: &Progress, counts_rounds: bool) -> String {
    let Progress { rounds_planned, wider, trials_failed, .. } = *progress;
    let round = (progress.rounds_done + 1).min(rounds_planned);
    let left = time(progress.left_ns);
    let (round, left) = match counts_rounds {
        true => (format!("round {round} of {rounds_planned}"), format!("{left} left")),
        false => (format!("round {round}"), format!("{left} to the next look")),
    };
    let claims =
        progress.decided.map(|(decided, all)| format!("{decided} of {all} claims decided"));
    let wide = (wider > 0).then(|| format!("{} too wide", count(wider, "interval")));
    let failed = (trials_failed > 0).then(|| format!("{trials_failed} failed"));
    let parts = [Some(round), claims, wide, failed, Some(left)];
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
        progress.wider = 3;
        let until = message(&progress, false);
        assert_eq!(until, "round 3, 3 intervals too wide, 43 s to the next look");
        (progress.wider, progress.decided) = (0, Some((23, 61)));
        let claims = message(&progress, false);
        assert_eq!(claims, "round 3, 23 of 61 claims decided, 43 s to the next look");
        assert!(until.len().max(claims.len()) < 79);
    }
}
