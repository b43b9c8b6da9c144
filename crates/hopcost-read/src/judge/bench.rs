//! What the checks of a docket are made with.

use std::collections::BTreeMap;

use hopcost_model::finding::Finding;
use hopcost_plan::{Docket, Level, Selector, Term};

use crate::case::{Reading, known};
use crate::run::Run;

/// What the checks of one docket are made with.
pub struct Bench<'a> {
    pub run: &'a Run<'a>,
    pub readings: &'a [Reading<'a>],
    pub findings: &'a [Finding],
    pub docket: &'a Docket,
    /// The cases of selectors; of a selector that is not there, those that it fits.
    pub cases: &'a BTreeMap<String, Vec<String>>,
}

impl<'a> Bench<'a> {
    /// The cases of a name.
    pub fn of_term(&self, term: &Term, level: &Level) -> Vec<&'a Reading<'a>> {
        let Some(selector) = self.docket.selector(&term.name, level) else { return Vec::new() };
        if let Some(ids) = self.cases.get(&selector) {
            let named = |id: &String| self.readings.iter().find(|one| one.result.id == *id);
            return ids.iter().filter_map(named).collect();
        }
        let Ok(selector) = Selector::parse(&selector) else { return Vec::new() };
        known(self.readings).filter(|(case, _)| selector.fits(case)).map(|(_, of)| of).collect()
    }

    /// The one case of a name.
    pub fn one(&self, term: &Term, level: &Level) -> Result<&'a Reading<'a>, String> {
        match self.of_term(term, level)[..] {
            [one] => Ok(one),
            [] => Err(format!("{} was not measured in this run", term.name)),
            _ => Err(format!("{} is several cases of this run", term.name)),
        }
    }
}
