//! What cases are called where the run's suite comes from.

use hopcost_model::case::Case;
use hopcost_plan::shown_by;

use crate::run::Run;

/// A case's name with that before it which the suite of the run gives it.
pub fn labelled(run: &Run, case: &Case, name: String) -> String {
    let own = shown_by(&run.raw.plan.suite).map_or(&[][..], |shown| &shown.label);
    match own.iter().find(|label| label.cases.fits(case)) {
        Some(label) => format!("{} {name}", label.name),
        None => name,
    }
}
