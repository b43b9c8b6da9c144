//! Rows that were skipped or failed, with their reasons; equal reasons once.

use hopcost_model::results::{CaseResult, LadderGroup, LadderRow, Results, Status};

use crate::names::{Place, row_label};
use crate::style::{Paint, TextStyle};

/// What happened, the reason, and to which rows.
struct Reason<'a> {
    what: String,
    reason: &'a str,
    rows: Vec<String>,
    /// How a trial of the first of them is replayed by hand.
    replay: Option<&'a str>,
}

pub(super) fn write(out: &mut String, results: &Results, group: &LadderGroup, style: &TextStyle) {
    let reasons = collect(results, group);
    if reasons.is_empty() {
        return;
    }
    out.push('\n');
    for Reason { what, reason, rows, replay } in reasons {
        let first = format!("  {} ", style.paint(Paint::Yellow, &what));
        let indent = " ".repeat(what.chars().count() + 3);
        let mut text = String::new();
        style.paragraph(&mut text, &indent, &indent, reason);
        out.push_str(&first);
        out.push_str(text.trim_start());
        style.paragraph(out, "      ", "      ", &rows.join(", "));
        if let Some(replay) = replay {
            super::section::replay(out, "", replay, style);
        }
    }
}

fn collect<'a>(results: &'a Results, group: &LadderGroup) -> Vec<Reason<'a>> {
    let mut reasons: Vec<Reason<'a>> = Vec::new();
    for row in &group.rows {
        let cases: Vec<(Place, &CaseResult)> = Place::ALL
            .into_iter()
            .filter_map(|side| side.case(row, results).map(|result| (side, result)))
            .collect();
        let alike = cases.windows(2).all(|w| fate(w[0].1) == fate(w[1].1));
        let named = if alike { 1 } else { cases.len() };
        for (side, result) in cases.iter().take(named) {
            let Some((what, reason)) = fate(result) else { continue };
            let name = name(
                &row_label(row, results),
                row,
                if alike && cases.len() > 1 { None } else { Some(*side) },
            );
            match reasons.iter_mut().find(|r| r.what == what && r.reason == reason) {
                Some(known) => known.rows.push(name),
                None => {
                    let failed = result.status == Status::Failed;
                    let replay = result.replay.as_deref().filter(|_| failed);
                    reasons.push(Reason { what, reason, rows: vec![name], replay });
                }
            }
        }
    }
    reasons
}

/// What went wrong and why; `None` if all went well.
fn fate(result: &CaseResult) -> Option<(String, &str)> {
    let what = match result.status {
        Status::Skipped => "skipped:".to_owned(),
        Status::Failed => "failed:".to_owned(),
        Status::Measured if result.n_failed == 0 => return None,
        Status::Measured => {
            format!("{} of {} trials failed:", result.n_failed, result.n_failed + result.n_trials)
        }
    };
    Some((what, result.reason.as_deref().unwrap_or("no reason was given")))
}

/// `pipe (process, block, one CPU)`.
fn name(label: &str, row: &LadderRow, side: Option<Place>) -> String {
    let mut parts = vec![row.boundary.word()];
    parts.extend(row.wait.as_deref());
    // A call has but one side, which goes without saying.
    if row.wait.is_some() {
        parts.extend(side.map(|side| match side {
            Place::Free => "free",
            side => side.title(),
        }));
    }
    format!("{label} ({})", parts.join(", "))
}
