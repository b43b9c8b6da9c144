//! The progress line: drawn between trials, never during one.

use std::io::IsTerminal;

use hopcost_model::plan::Plan;
use hopcost_model::text::count;
use hopcost_view::number::expected;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use crate::run::{Aim, Progress};

/// A line that says what is measured, and below it, on a terminal, how far it is.
pub struct Line {
    bar: ProgressBar,
}

impl Line {
    /// Says what is about to happen.
    pub fn start(plan: &Plan, expected_ns: u64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let skipped = plan.cases.len() - plan.live().count();
        let rounds = count(plan.rounds as usize, "round");
        let how_long = match (plan.until, plan.budget_ns) {
            (None, _) => format!("in {rounds}, about {}", expected(expected_ns)),
            (Some(until), None) => {
                format!("until each is within ±{} %, at most {rounds}", until * 100.0)
            }
            (Some(until), Some(budget_ns)) => {
                format!(
                    "until each is within ±{} %, at most {}",
                    until * 100.0,
                    expected(budget_ns)
                )
            }
        };
        output::say(&format!(
            "measuring {}{} {how_long}",
            count(plan.live().count(), "case"),
            if skipped > 0 { format!(" ({skipped} skipped)") } else { String::new() },
        ));
        // No steady tick: a thread that draws would run beside the trials.
        let bar = ProgressBar::with_draw_target(
            Some(1),
            match terminal {
                true => ProgressDrawTarget::stderr(),
                false => ProgressDrawTarget::hidden(),
            },
        );
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} trials, {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self { bar }
    }

    /// Draws.
    pub fn draw(&self, progress: &Progress) {
        self.bar.set_length(progress.trials_planned);
        self.bar.set_position(progress.trials_done);
        let failed = match progress.trials_failed {
            0 => String::new(),
            n => format!(", {n} failed"),
        };
        let left_s = progress.left_ns.div_ceil(1_000_000_000);
        let round = (progress.rounds_done + 1).min(progress.rounds_planned);
        let planned = match progress.aim {
            Aim::Rounds => format!(" of {}", progress.rounds_planned),
            Aim::Width { wider: 0, .. } => String::new(),
            Aim::Width { wider, widest } => {
                format!(", {wider} too wide (±{:.1} %)", widest * 100.0)
            }
        };
        self.bar.set_message(format!("round {round}{planned}{failed}, {left_s} s left"));
        self.bar.tick();
    }

    /// Clears the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
