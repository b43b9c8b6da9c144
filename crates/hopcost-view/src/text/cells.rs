//! What one side of a row (one CPU, two CPUs, free) says, as text.

use hopcost_model::finding::Validity;
use hopcost_model::results::{CaseResult, Estimate, LadderGroup, Results, Statistic, Status};

use crate::names::Place;
use crate::number::{self, Shown};
use crate::style::{Paint, TextStyle, width_of};

/// Stands behind an interval that spans more than a factor of 2.
pub(super) const WIDE: &str = "?";

/// An estimate in its column: a value with its interval, or words across both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Amount {
    Value(Shown),
    Words(String),
}

impl Amount {
    /// Width of the value's and of the interval's column that it needs.
    pub fn widths(&self) -> (usize, usize) {
        match self {
            Amount::Value(shown) => {
                (width_of(&shown.amount()), shown.interval.as_deref().map_or(0, width_of))
            }
            Amount::Words(_) => (0, 0),
        }
    }
}

/// One side of a row.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// p50, or the cost in batches; why there is none if it was not measured.
    pub first: Amount,
    /// p99; empty in batches.
    pub second: Amount,
    pub ratio: String,
    pub cpu: String,
    /// `9`, or `4/9` where trials failed.
    pub trials: String,
    pub validity: Option<Validity>,
    /// Where the bar ends.
    pub bar_ns: Option<f64>,
}

impl Cells {
    pub fn of(result: Option<&CaseResult>, digits_max: u8, style: &TextStyle) -> Self {
        let words = match result {
            Some(result) if result.status == Status::Measured => {
                return Self::measured(result, digits_max, style);
            }
            Some(result) if result.status == Status::Skipped => "skipped",
            Some(_) => "failed",
            None => style.pick("–", "-"),
        };
        Self {
            first: Amount::Words(words.to_owned()),
            second: Amount::Words(String::new()),
            ratio: String::new(),
            cpu: String::new(),
            trials: String::new(),
            validity: None,
            bar_ns: None,
        }
    }

    fn measured(result: &CaseResult, digits_max: u8, style: &TextStyle) -> Self {
        let estimates = result.estimates.as_ref();
        let main = estimates.and_then(|e| e.get(Statistic::Cost).or(e.get(Statistic::P50)));
        let p99 = estimates.and_then(|e| e.get(Statistic::P99));
        let batched = estimates.is_some_and(|e| e.get(Statistic::Cost).is_some());
        let none = Amount::Words(String::new());
        Self {
            first: main.map_or(Amount::Words("no estimate".to_owned()), |e| {
                amount(e, digits_max, WIDE, style)
            }),
            second: match p99 {
                Some(p99) if !batched => amount(p99, digits_max, WIDE, style),
                _ => none,
            },
            ratio: ratio(result, style),
            cpu: result
                .cpu_ns_per_message
                .map(|ns| number::rough(ns, style.charset))
                .unwrap_or_default(),
            trials: trials(result),
            validity: Some(result.validity),
            bar_ns: main.and_then(|e| e.point),
        }
    }

    /// How the validity looks.
    pub fn paint(&self) -> Paint {
        paint_of(self.validity)
    }
}

pub(super) fn paint_of(validity: Option<Validity>) -> Paint {
    match validity {
        Some(Validity::Valid) => Paint::Green,
        Some(Validity::Suspect) => Paint::Yellow,
        Some(Validity::Invalid) => Paint::Red,
        None => Paint::Plain,
    }
}

/// `9`, or `4/9` where five of nine failed.
pub(crate) fn trials(result: &CaseResult) -> String {
    match result.n_failed {
        0 => result.n_trials.to_string(),
        failed => format!("{}/{}", result.n_trials, result.n_trials + failed),
    }
}

fn amount(estimate: &Estimate, digits_max: u8, wide: &str, style: &TextStyle) -> Amount {
    if estimate.point.is_none() {
        return Amount::Words("insufficient".to_owned());
    }
    let mut shown = number::estimate(estimate, digits_max, style.charset);
    let pooled = if estimate.pooled { "*" } else { "" };
    let wide = if number::is_wide(estimate) { wide } else { "" };
    shown.interval = match shown.interval {
        Some(interval) => Some(format!("{interval}{pooled}{wide}")),
        None if estimate.at_most => None,
        None => Some(format!("{}{pooled}", style.pick("[–]", "[-]"))),
    };
    Amount::Value(shown)
}

/// An estimate in one piece, marked as in the ladder, with a mark of its own
/// behind a wide interval.
pub(crate) fn compact(estimate: &Estimate, wide: &str, style: &TextStyle) -> String {
    match amount(estimate, number::DIGITS_MAX, wide, style) {
        Amount::Value(shown) => shown.to_string(),
        Amount::Words(words) => words,
    }
}

/// Whether any row has a multiple on these sides: without one, no such column.
pub(crate) fn has_ratio(results: &Results, group: &LadderGroup, sides: &[Place]) -> bool {
    let cases = |row| sides.iter().filter_map(move |side| side.case(row, results));
    group.rows.iter().flat_map(cases).any(|case| case.ratio.is_some())
}

/// The multiple of the baseline; the baseline itself is named so.
pub(crate) fn ratio(result: &CaseResult, style: &TextStyle) -> String {
    match &result.ratio {
        Some(ratio) if ratio.baseline == result.id => "base".to_owned(),
        Some(ratio) => number::ratio(ratio, style.charset),
        None => String::new(),
    }
}
