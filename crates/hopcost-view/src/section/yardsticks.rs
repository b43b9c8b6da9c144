//! The machine's speed over the run: its yardsticks.

use hopcost_model::results::{Results, Speed, YardstickLevel};

use super::model::{Block, Cell, Medium, Rows, Section, Unit, numbers, words};

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    if results.yardsticks.is_empty() {
        return None;
    }
    Section::of("yardsticks", [levels(&results.yardsticks)])
}

fn levels(levels: &[YardstickLevel]) -> Block {
    let cpus = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let known = |level: &YardstickLevel| level.reference.as_ref().map(|of| of.operation_ns);
    let from = |level: &YardstickLevel| {
        let from = level.reference.as_ref().map(|of| of.learnt_from.clone());
        from.unwrap_or_default()
    };
    Rows::of(levels)
        .column(words("yardstick"), |level| Cell::text(level.class.word()))
        .column(words("CPU"), |level| Cell::text(cpus(&level.cpus)))
        .column(words("played by"), |level| Cell::code(&level.case))
        .column(numbers("p5"), |level| Cell::number(level.p5_ns, Unit::Time(3)))
        .column(numbers("p50"), |level| Cell::number(level.p50_ns, Unit::Time(3)))
        .column(numbers("p95"), |level| Cell::number(level.p95_ns, Unit::Time(3)))
        .column(numbers("on the quiet machine"), |level| Cell::maybe(known(level), Unit::Time(3)))
        .column(words("as run"), |level| Cell::code(from(level)))
        .column(numbers("times slower"), |level| Cell::maybe(level.slower, Unit::Plain(3)))
        .column(words("this run"), |level| Cell::text(speed(level.speed)))
        .column(numbers("reliability"), |level| Cell::maybe(level.reliability, Unit::Plain(2)))
        .column(numbers("readings"), |level| Cell::number(level.readings, Unit::Whole))
        .table()
}

fn speed(speed: Speed) -> &'static str {
    match speed {
        Speed::Unknown => "its quiet speed is not known yet",
        Speed::Quiet => "was quiet",
        Speed::Slower => "was slower",
        Speed::TooFar => "was too slow to say what the quiet machine would do",
        Speed::Wrong => "was faster: what was stored is dropped",
        Speed::OtherPair => "had its CPUs at another distance",
        Speed::KeptAwake => "had its CPUs kept from idling",
    }
}
