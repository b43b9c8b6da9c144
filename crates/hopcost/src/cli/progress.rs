//! How far a run is: drawn between trials, never during one.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use hopcost_model::case::Case;
use hopcost_model::plan::{Plan, PlannedCase};
use hopcost_model::text::count;
use hopcost_model::units::format_size;
use hopcost_plan::{Beyond, Expected};
use hopcost_probe::interrupt;
use hopcost_view::number::expected as time;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output;
use crate::run::Progress;

/// How long passes between two lines where nobody's terminal is drawn on.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// When a run has measured enough.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Aim {
    /// After its rounds.
    Rounds,
    /// Where no interval reaches farther to either side, as a share of its value.
    Width(f64),
    /// When the answer to its question is known.
    Answer,
}

impl Aim {
    fn of(plan: &Plan) -> Self {
        match (&plan.question, plan.until) {
            (Some(_), _) => Aim::Answer,
            (None, Some(until)) => Aim::Width(until),
            (None, None) => Aim::Rounds,
        }
    }
}

/// A line that says what is measured, and after it how far it is: below it on a terminal, and
/// else in further lines.
pub struct Line {
    bar: Option<ProgressBar>,
    /// What each case is called.
    names: Vec<String>,
    aim: Aim,
    /// When the last line was said, and of how many rounds.
    said: Cell<(Instant, u32)>,
    budget_ns: u64,
    /// Whether it was said that the budget will be exceeded.
    is_beyond_said: Cell<bool>,
}

/// The share of the budget up to which nothing is said of going beyond it under way.
const BEYOND_MIN: f64 = 0.05;

/// Says what of a plan goes beyond its budget.
pub fn say_beyond(plan: &Plan, beyond: Option<Beyond>) {
    let (Some(beyond), Some(budget_ns)) = (beyond, plan.budget_ns) else { return };
    output::say(&format!(
        "hopcost: {} of {}, which an answer needs, may take {} more than the budget of {}; fewer cases \
         or a longer --budget keep it",
        count(beyond.rounds as usize, "round"),
        count(beyond.cases, "case"),
        time(beyond.ns),
        time(budget_ns)
    ));
}

impl Line {
    /// Says what is about to happen.
    pub fn start(plan: &Plan, expected: Expected) -> Self {
        let skipped = plan.cases.len() - plan.live().count();
        let rounds = count(plan.rounds as usize, "round");
        let aim = Aim::of(plan);
        let beyond_ns = expected.beyond.map_or(0, |beyond| beyond.ns);
        let at_most =
            plan.budget_ns.map_or(rounds.clone(), |ns| time(ns.saturating_add(beyond_ns)));
        say_beyond(plan, expected.beyond);
        let how_long = match aim {
            Aim::Rounds => format!("in {rounds}, about {}", time(expected.ns)),
            Aim::Width(until) => {
                format!("until each is within ±{} %, at most {at_most}", until * 100.0)
            }
            Aim::Answer => {
                format!("until the answer is known, at most {at_most}")
            }
        };
        let what = count(plan.live().count(), "case");
        output::say(&format!(
            "measuring {what}{} {how_long}",
            if skipped > 0 { format!(" ({skipped} skipped)") } else { String::new() },
        ));
        Self {
            bar: std::io::stderr().is_terminal().then(bar),
            names: plan.cases.iter().map(name).collect(),
            aim,
            said: Cell::new((Instant::now(), 0)),
            budget_ns: plan.budget_ns.unwrap_or(u64::MAX),
            is_beyond_said: Cell::new(beyond_ns > 0),
        }
    }

    /// Draws; with how many claims are decided, of how many.
    pub fn draw(&self, progress: &Progress, decided: Option<(usize, usize)>) {
        let is_beyond = progress.beyond_ns as f64 > BEYOND_MIN * self.budget_ns as f64;
        if is_beyond && !self.is_beyond_said.replace(true) {
            let line = format!(
                "hopcost: by the trials so far, the rounds that an answer needs take about {} more \
                 than the budget of {}",
                time(progress.beyond_ns),
                time(self.budget_ns)
            );
            match &self.bar {
                Some(bar) => bar.suspend(|| output::say(&line)),
                None => output::say(&line),
            }
        }
        if let Some(bar) = &self.bar {
            if !interrupt::is_drawable() {
                return;
            }
            bar.set_length(progress.trials_planned);
            bar.set_position(progress.trials_done);
            let name = progress.next.and_then(|index| self.names.get(index as usize));
            let name = name.map_or(String::new(), |name| format!(": {name}"));
            bar.set_message(format!("{}{name}", message(progress, self.aim, decided)));
            bar.tick();
            return;
        }
        let (at, rounds) = self.said.get();
        if progress.rounds_done > rounds && at.elapsed() >= BETWEEN_LINES {
            self.said.set((Instant::now(), progress.rounds_done));
            output::say(&message(progress, self.aim, decided));
        }
    }

    /// Clears the line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            if !interrupt::is_drawable() {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    // No steady tick: a thread that draws would run beside the trials.
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:10} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar
}

/// `tcp 64, same-cpu`: short, since a line has room for little.
fn name(planned: &PlannedCase) -> String {
    let Some(case) = planned.known() else { return planned.id() };
    let Case { mechanism, payload_bytes, placement, gap_ns, .. } = case;
    let mut name = mechanism.clone();
    if let Some(bytes) = payload_bytes.filter(|bytes| *bytes > 1) {
        name.push_str(&format!(" {}", format_size(bytes.into())));
    }
    if let Some(gap_ns) = gap_ns {
        name.push_str(&format!(" after {}", hopcost_view::number::exact(*gap_ns)));
    }
    if !case.runtimes.are_rust() {
        name.push_str(&format!(" in {}", case.runtimes));
    }
    placement.map_or(name.clone(), |place| format!("{name}, {place}"))
}

/// `round 3 of 15, widest interval ±12 %, 43 s left`
fn message(progress: &Progress, aim: Aim, decided: Option<(usize, usize)>) -> String {
    let Progress { rounds_planned, wider, .. } = *progress;
    let round = (progress.rounds_done + 1).min(rounds_planned);
    let widest = progress.widest.map(|widest| format!("widest ±{}", percent(widest)));
    let left = time(progress.left_ns);
    let failed = (progress.trials_failed > 0).then(|| format!("{} failed", progress.trials_failed));
    let claims = decided.map(|(decided, all)| format!("{decided} of {all} claims decided"));
    let wide = match aim {
        Aim::Width(until) if wider > 0 => Some(format!("{wider} wider than ±{}", percent(until))),
        _ => None,
    };
    let (round, left) = match aim {
        Aim::Rounds => (format!("round {round} of {rounds_planned}"), format!("{left} left")),
        Aim::Width(_) | Aim::Answer => {
            (format!("round {round}"), format!("{left} to the next look"))
        }
    };
    let parts = [Some(round), claims, wide, widest, failed, Some(left)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `12 %`, `1.3 %`
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_and_fits_eighty_columns() {
        let mut progress = Progress {
            trials_done: 100,
            trials_planned: 810,
            trials_failed: 0,
            rounds_done: 2,
            rounds_planned: 15,
            left_ns: 43_000_000_000,
            next: Some(0),
            widest: None,
            wider: 0,
            beyond_ns: 0,
        };
        assert_eq!(message(&progress, Aim::Rounds, None), "round 3 of 15, 43 s left");
        let claims = message(&progress, Aim::Answer, Some((23, 61)));
        assert_eq!(claims, "round 3, 23 of 61 claims decided, 43 s to the next look");
        progress.widest = Some(0.124);
        let rounds = message(&progress, Aim::Rounds, None);
        assert_eq!(rounds, "round 3 of 15, widest ±12 %, 43 s left");
        progress.wider = 3;
        let until = message(&progress, Aim::Width(0.02), None);
        assert_eq!(until, "round 3, 3 wider than ±2.0 %, widest ±12 %, 43 s to the next look");
        let id = "roundtrip/tcp?payload=4096&boundary=process&place=cross-node&wait=block";
        let case = PlannedCase { case: Ok(id.parse().unwrap()), skip: None };
        assert_eq!(name(&case), "tcp 4KiB, cross-node");
        assert!("========== ".len() + rounds.len() + ": ".len() + name(&case).len() < 80);
        // The name of a case is cut off where the line ends.
        assert!("========== ".len() + claims.len() < 80);
    }
}
