//! The ladder for the terminal: the first thing users see.
//!
//! Each row has one CPU and two CPUs side by side. A row is two lines: p50 with
//! its interval, multiple of the baseline, trials and validity; below it p99
//! with its interval, CPU time per message and the bar. Below 100 columns the
//! trials, validity and bar move to a third line.

mod axis;
mod calls;
mod cells;
mod closing;
mod findings;
mod group;
mod head;
mod matrix;
mod missing;
mod section;

use hopcost_model::results::Results;

pub(crate) use calls::units;
pub(crate) use cells::{compact, has_ratio, ratio, trials};
pub(crate) use closing::how_to_read;
pub(crate) use findings::{ByCode, by_code, reach};
pub(crate) use group::is_calls;

use crate::section::{Detail, all as section_tables, covers, runtimes};
pub use crate::style::{Charset, Color, TextStyle};

/// Where a run is stored and how to open its report; the view knows neither.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    /// Path of the run file.
    pub path: &'a str,
    /// The command that makes its report, ready to paste.
    pub report_command: &'a str,
}

/// The ladder of a run with everything needed to judge it.
pub fn ladder(results: &Results, stored: Option<Stored<'_>>, style: &TextStyle) -> String {
    let mut out = String::new();
    head::write(&mut out, results, style);
    for section in runtimes::all(results, Detail::Brief) {
        section::write(&mut out, &section, style);
    }
    let rest = runtimes::without_told(results);
    tables(&mut out, rest.as_ref().unwrap_or(results), style);
    head::remarks(&mut out, results, style);
    findings::write(&mut out, results, style);
    closing::write(&mut out, results, stored, style);
    out
}

/// The ladder and the sections beside it.
fn tables(out: &mut String, results: &Results, style: &TextStyle) {
    let layout = group::Layout::choose(results, style);
    for group in results.ladder.iter().filter(|group| !covers(group, results)) {
        group::write(out, results, group, &layout, style);
        missing::write(out, results, group, style);
    }
    for section in section_tables(results, Detail::Brief) {
        section::write(out, &section, style);
    }
}
