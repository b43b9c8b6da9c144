//! The round trip between every two CPUs as a heat map.

use hopcost_model::results::Checkup;

use super::cells;
use super::heat::step;
use super::model::{Cell, Cells, Chart};
use crate::number;

/// The chart; `None` where there are no two CPUs.
pub(crate) fn chart(found: &Checkup) -> Option<Chart> {
    let times = || found.lines.iter().map(|line| line.roundtrip_ns).filter(|ns| *ns > 0.0);
    let ends = (times().reduce(f64::min)?, times().reduce(f64::max)?);
    let mut cpus: Vec<u32> = found.lines.iter().flat_map(|l| [l.cpus.0, l.cpus.1]).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let cell = |a: u32, b: u32| {
        let line = found.lines.iter().find(|line| line.cpus == (a.min(b), a.max(b)));
        let Some(line) = line.filter(|line| line.roundtrip_ns > 0.0) else {
            return Cell { text: "–".to_owned(), ..Cell::default() };
        };
        let time = number::time(line.roundtrip_ns, 2);
        Cell {
            tip: format!("CPUs {a} and {b}, {}\n{time}", line.relation.word()),
            text: time.trim_end_matches(" ns").to_owned(),
            small: String::new(),
            step: Some(step(line.roundtrip_ns, ends)),
        }
    };
    let row = |a: &u32| (a.to_string(), cpus.iter().map(|b| cell(*a, *b)).collect());
    let end = |ns| number::time(ns, 2);
    let grid = Cells {
        rows_label: "CPU".to_owned(),
        columns_label: "CPU".to_owned(),
        columns: cpus.iter().map(u32::to_string).collect(),
        rows: cpus.iter().map(row).collect(),
        ends: (ends.1 > ends.0).then(|| (end(ends.0), end(ends.1))),
        fit: cells::fit_of(cpus.len()),
    };
    Some(cells::square(
        "plot-cpu-pairs".to_owned(),
        "Spinning round trip between two CPUs".to_owned(),
        "The round trip of a cache line between each two CPUs, in nanoseconds unless a unit is given. The table \
         below holds the same numbers."
            .to_owned(),
        grid,
    ))
}
