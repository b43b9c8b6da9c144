//! What there is to plot, drawn from the stored samples.
//!
//! A series of fewer than two measured cases is absent, and so is a plot without a
//! series. What could not be counted is replaced by CPU time, and the
//! plot's title and notes say so.

mod call;
mod draw;
mod flows;
mod machine;
mod size;
mod wake;

use hopcost_model::case::Case;
use hopcost_model::results::Plot;

use crate::case::{Reading, known};
use crate::run::Run;

/// A measured case with what was found out about it.
#[derive(Clone, Copy)]
struct Measured<'a> {
    case: &'a Case,
    reading: &'a Reading<'a>,
}

/// Every plot, in the order in which they are shown.
pub fn plots(run: &Run, readings: &[Reading]) -> Vec<Plot> {
    let measured: Vec<Measured> = known(readings)
        .filter(|(_, reading)| reading.is_measured())
        .map(|(case, reading)| Measured { case, reading })
        .collect();
    let mut plots = wake::plots(&measured);
    plots.extend(size::plots(&measured));
    plots.extend(flows::plots(&measured));
    plots.extend(call::plots(&measured));
    plots.retain(|plot| !plot.series.is_empty());
    let machine = machine::note(run);
    for plot in &mut plots {
        plot.notes.insert(0, machine.clone());
    }
    plots
}

#[cfg(test)]
mod tests;
