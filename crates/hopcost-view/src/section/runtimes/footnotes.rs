//! Cells of a comparison, and why some of them have no value: each reason once.

use std::collections::BTreeMap;

use hopcost_model::finding::Validity;
use hopcost_model::results::{CaseResult, Results, RuntimeCell, Status};

use crate::names::{absent, case_at};
use crate::section::model::{Block, Cell, Interval, Scale, Value, notes, paste};
use crate::section::words::{Numbered, REPLAY, missing};

/// The reasons of a section, in the order in which they occur.
#[derive(Default)]
pub(super) struct Footnotes<'a> {
    reasons: Numbered,
    /// How a trial of the first case of each failure is replayed by hand, by its number.
    replays: BTreeMap<usize, &'a str>,
    /// Cases whose failed trials are to be told.
    cases: Vec<&'a CaseResult>,
    /// Why there are no such cases.
    gaps: Vec<&'a str>,
}

impl<'a> Footnotes<'a> {
    /// What a cell shows.
    pub fn cell(&mut self, results: &'a Results, cell: &'a RuntimeCell) -> Cell {
        let found = cell.result.and_then(|index| case_at(results, index));
        let case = found.map(|(_, case)| case);
        self.cases.extend(case.filter(|case| !self.cases.iter().any(|known| known.id == case.id)));
        let value = cell.value.as_ref().filter(|value| value.point.is_some());
        let Some(value) = value else {
            return self.absent(cell, case).of(found.map(|(index, _)| index));
        };
        let own = |baseline: &str| case.is_some_and(|case| case.id == baseline);
        let ratio = cell.ratio.as_ref().filter(|ratio| !own(&ratio.baseline));
        let validity = case.and_then(|case| case.validity).filter(|v| *v != Validity::Valid);
        let value = Cell::estimate(Some(value), Scale::Time).of(found.map(|(index, _)| index));
        let mut cells = vec![value];
        cells.extend(ratio.map(|ratio| Value::Ratio(ratio.clone(), Interval::Told).into()));
        cells.extend(validity.map(Cell::grade));
        Value::Several(cells).into()
    }

    fn absent(&mut self, cell: &'a RuntimeCell, case: Option<&'a CaseResult>) -> Cell {
        let (word, reason) = absent(cell, case);
        let Some(case) = case else {
            self.gaps.extend(reason.filter(|reason| !self.gaps.contains(reason)));
            return Cell::text(word).hint(reason.map(str::to_owned));
        };
        let Some(reason) = reason else { return Cell::text(word) };
        let number = self.reasons.number(&format!("{word}: {reason}"));
        if let (Status::Failed, Some(replay)) = (case.status, &case.replay) {
            self.replays.entry(number).or_insert(replay);
        }
        Cell::text(format!("{word} ({number})")).hint(Some(reason.to_owned()))
    }

    /// One sentence a reason, then the gaps, the cases that failed at times, and how a
    /// trial of the first case of each failure is replayed by hand.
    pub fn blocks(self) -> Vec<Block> {
        let gaps = (!self.gaps.is_empty()).then(|| format!("–: {}.", self.gaps.join("; ")));
        let at_times = self.cases.into_iter().filter(|case| case.status == Status::Measured);
        let replay = |(number, command)| paste(format!("{REPLAY} ({number})"), command);
        let replays = self.replays.into_iter().map(replay);
        self.reasons.notes().chain(notes(gaps)).chain(missing(at_times)).chain(replays).collect()
    }
}
