//! What cases are called where the run's suite comes from.

use hopcost_model::case::Case;
use hopcost_plan::shown;

use crate::run::Run;

/// A case's name with that before it which the suite of the run gives it.
pub fn labelled(run: &Run, case: &Case, name: String) -> String {
    let own = shown().iter().filter(|(suite, _)| *suite == run.raw.plan.suite);
    let mut labels = own.flat_map(|(_, shown)| &shown.label);
    match labels.find(|label| label.cases.fits(case)) {
        Some(label) => format!("{} {name}", label.name),
        None => name,
    }
}
