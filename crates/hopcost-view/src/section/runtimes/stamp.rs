//! What a stamp costs in each runtime, and the workers that took it.

use hopcost_model::results::{Results, StampCost, WorkerBrief};

use crate::number;
use crate::section::model::{
    Cell, Medium, Rows, Scale, Section, Unit, estimates, notes, numbers, words,
};
use crate::section::words::{index_of, sentence};

pub(crate) fn section(results: &Results, _: Medium) -> Option<Section> {
    let by_rust =
        |cost: &StampCost| Cell::estimate(cost.by_rust_clock_ns.as_ref(), Scale::Difference);
    let ppm = |ppm: f64| format!("{} ppm", number::plain(ppm, 2));
    let table = Rows::of(&results.runtimes.as_ref()?.stamp_costs)
        .column(words("runtime"), |c| Cell::text(&c.runtime).of(index_of(results, &c.case)))
        .column(estimates("by Rust's clock"), by_rust)
        .column(numbers("two readings"), |c| Cell::maybe(c.own_reading_ns, Unit::Time(2)))
        .column(numbers("share"), |c| Cell::maybe(c.share, Unit::Share))
        .column(numbers("clocks differ"), |c| Cell::sorted(c.clock_disagreement_ppm, ppm))
        .column(words("found with").fold(1), |c| Cell::code(&c.case));
    Section::of("stamps", [table.table()])
}

pub(crate) fn workers(results: &Results, _: Medium) -> Option<Section> {
    let workers = &results.workers;
    let library = |(name, version): (&String, &String)| format!("{name} {version}");
    let libraries =
        |worker: &WorkerBrief| worker.libraries.iter().map(library).collect::<Vec<_>>().join(", ");
    let table = Rows::of(workers)
        .column(words("runtime"), |worker| Cell::text(&worker.runtime))
        .column(words("worker"), |worker| Cell::text(&worker.version))
        .column(words("language and libraries"), |worker| Cell::text(libraries(worker)));
    let remark = |worker: &WorkerBrief| {
        let remarks: Vec<String> = worker.remarks.iter().map(|r| sentence(r)).collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", worker.runtime, remarks.join(" ")))
    };
    let remarks = workers.iter().filter_map(remark);
    Section::of("workers", [table.table()].into_iter().chain(notes(remarks)))
}
