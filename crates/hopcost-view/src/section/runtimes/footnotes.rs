//! Cells of a comparison, and why some of them have no value: each reason once.

use hopcost_model::finding::Validity;
use hopcost_model::results::{CaseResult, Results, RuntimeCell, Status};

use super::super::{Cell, Compared, Detail, Replay, Valued, missing, time};
use crate::number;

/// The reasons of a section, in the order in which they occur.
#[derive(Default)]
pub(super) struct Footnotes<'a> {
    reasons: Vec<(&'static str, &'a str, Option<&'a CaseResult>)>,
    cases: Vec<(usize, &'a CaseResult)>,
    /// Why there are no such cases.
    gaps: Vec<&'a str>,
}

/// Gaps that a terminal is told one by one.
const GAPS_MAX: usize = 6;
/// What it is told of more.
const MANY_GAPS: &str = "–: the runtime has no such mechanism, or the plan has no such case; the \
    HTML, Markdown and JSON reports say which.";

impl<'a> Footnotes<'a> {
    /// What a row of so many cells shows.
    pub fn cells(
        &mut self,
        results: &'a Results,
        cells: &'a [RuntimeCell],
        columns: usize,
    ) -> Vec<Cell> {
        let shown = cells.iter().take(columns).map(|cell| self.cell(results, cell));
        let mut shown: Vec<Cell> = shown.collect();
        shown.resize(columns, Cell::none());
        shown
    }

    /// What a cell shows.
    pub fn cell(&mut self, results: &'a Results, cell: &'a RuntimeCell) -> Cell {
        let index = cell.result.and_then(|index| usize::try_from(index).ok());
        let case = index.and_then(|index| results.results.get(index));
        if let Some(found) = index.zip(case) {
            self.saw(found);
        }
        let value = cell.value.as_ref().filter(|value| value.point.is_some());
        let Some(value) = value else { return self.absent(cell, index, case) };
        let own = |baseline: &str| case.is_some_and(|case| case.id == baseline);
        let ratio = cell.ratio.as_ref().filter(|ratio| !own(&ratio.baseline));
        Cell::Compared(Box::new(Compared {
            value: Valued::of(value, time),
            multiple: ratio.map(|ratio| {
                (number::ratio(ratio, number::UNICODE), number::ratio_interval(ratio))
            }),
            validity: case.map(|case| case.validity).filter(|v| *v != Validity::Valid),
            case: index,
        }))
    }

    /// Remembers a case whose failed trials are to be told.
    fn saw(&mut self, (index, case): (usize, &'a CaseResult)) {
        if !self.cases.iter().any(|(known, _)| *known == index) {
            self.cases.push((index, case));
        }
    }

    fn absent(
        &mut self,
        cell: &'a RuntimeCell,
        index: Option<usize>,
        case: Option<&'a CaseResult>,
    ) -> Cell {
        let insufficient = cell.value.as_ref().and_then(|value| value.insufficient.as_deref());
        let reason = cell.missing.as_deref().or(case.and_then(|case| case.reason.as_deref()));
        let reason = reason.or(insufficient);
        let why = reason.map(str::to_owned);
        let word = match case.map(|case| case.status) {
            Some(Status::Skipped) => "skipped",
            Some(Status::Failed) => "failed",
            Some(Status::Measured) => "no value",
            None => {
                self.gaps.extend(reason.filter(|reason| !self.gaps.contains(reason)));
                return Cell::Missing { mark: "–".to_owned(), case: None, why };
            }
        };
        let mark = match reason {
            Some(reason) => format!("{word} ({})", self.number(word, reason, case)),
            None => word.to_owned(),
        };
        Cell::Missing { mark, case: index, why }
    }

    fn number(
        &mut self,
        word: &'static str,
        reason: &'a str,
        case: Option<&'a CaseResult>,
    ) -> usize {
        let known = self.reasons.iter().position(|(w, r, _)| *w == word && *r == reason);
        known.unwrap_or_else(|| {
            self.reasons.push((word, reason, case));
            self.reasons.len() - 1
        }) + 1
    }

    /// One sentence a reason, then the gaps and the cases that failed at times.
    pub fn notes(&self, detail: Detail) -> Vec<String> {
        let note = |(at, (word, reason, _)): (usize, &(&str, &str, _))| {
            format!("({}) {word}: {reason}", at + 1)
        };
        let mut notes: Vec<String> = self.reasons.iter().enumerate().map(note).collect();
        match self.gaps.as_slice() {
            [] => {}
            gaps if detail == Detail::Brief && gaps.len() > GAPS_MAX => {
                notes.push(MANY_GAPS.to_owned());
            }
            gaps => notes.push(format!("–: {}.", gaps.join("; "))),
        }
        let at_times = self.cases.iter().filter(|(_, case)| case.status == Status::Measured);
        notes.extend(missing(&at_times.copied().collect::<Vec<_>>()));
        notes
    }

    /// How a trial of the first case of each failure is replayed by hand.
    pub fn replays(&self) -> Vec<Replay> {
        let failed = self.reasons.iter().enumerate().filter_map(|(at, (word, _, case))| {
            let command = case.filter(|_| *word == "failed")?.replay.clone()?;
            Some(Replay { mark: format!("({})", at + 1), command })
        });
        failed.collect()
    }
}
