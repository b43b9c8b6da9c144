//! What a stamp costs in each runtime, and the workers that took it.

use hopcost_model::results::{Results, RuntimeComparison, StampCost, WorkerBrief};

use crate::number;
use crate::section::model::{Cell, Column, Medium, Rows, Scale, Section, Unit, Value, notes};
use crate::section::words::{index_of, more, sentence};

const LEAD: &str = "A stamp is part of every stamped sample and is never subtracted. “By Rust's \
    clock”: exchanges with a stamp less exchanges without, each timed by the end in Rust. “Two \
    readings”: the runtime's own clock, read twice in a row, median. “Share”: the stamp's part of \
    the p50 of the case it was found with. “Clocks differ”: the same exchanges by the clock of \
    either end.";

pub(super) fn section(
    results: &Results,
    runtimes: &RuntimeComparison,
    _: Medium,
) -> Option<Section> {
    let table = Rows::of(&runtimes.stamp_costs)
        .column(Column::words("runtime"), |cost: &StampCost| {
            Cell::text(cost.runtime.clone()).of(index_of(results, &cost.case))
        })
        .column(Column::estimate("by Rust's clock"), |cost| {
            Cell::estimate(cost.by_rust_clock_ns.as_ref(), Scale::Difference)
        })
        .column(Column::number("two readings"), |cost| {
            Cell::maybe(cost.own_reading_ns, Unit::Time(2))
        })
        .column(Column::number("share"), |cost| Cell::maybe(cost.share, Unit::Share))
        .column(Column::number("clocks differ"), |cost| {
            let text = |ppm| Value::Sorted(format!("{} ppm", number::plain(ppm, 2)), ppm);
            cost.clock_disagreement_ppm.map_or(Cell::none(), |ppm| text(ppm).into())
        })
        .column(Column::words("found with").fold(1), |cost| Cell::code(cost.case.clone()));
    let section = Section::new("stamps", "What a stamp costs", LEAD);
    (!runtimes.stamp_costs.is_empty()).then(|| section.with([table.table()]))
}

const WORKERS: &str = "Each end of these runtimes was a program of its own that speaks the worker \
    protocol.";

/// Remarks of each worker that a terminal has room for.
const REMARKS_MAX: usize = 1;

pub(super) fn workers(results: &Results, medium: Medium) -> Option<Section> {
    let table = Rows::of(&results.workers)
        .column(Column::words("runtime"), |worker| Cell::text(worker.runtime.clone()))
        .column(Column::words("worker"), |worker| Cell::text(worker.version.clone()))
        .column(Column::words("language and libraries"), |worker| {
            let library = |(name, version): (&String, &String)| format!("{name} {version}");
            Cell::text(worker.libraries.iter().map(library).collect::<Vec<_>>().join(", "))
        });
    let most = medium.room(REMARKS_MAX);
    let remark = |worker: &WorkerBrief| {
        let remarks: Vec<String> = worker.remarks.iter().take(most).map(|r| sentence(r)).collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", worker.runtime, remarks.join(" ")))
    };
    let all: usize = results.workers.iter().map(|worker| worker.remarks.len()).sum();
    let told: usize = results.workers.iter().map(|worker| worker.remarks.len().min(most)).sum();
    let remarks = results.workers.iter().filter_map(remark);
    let remarks = notes(remarks.chain(more(medium, all, told, "remarks are")));
    let section = Section::new("workers", "Workers of other runtimes", WORKERS);
    (!results.workers.is_empty()).then(|| section.with([table.table()]).with(remarks))
}
