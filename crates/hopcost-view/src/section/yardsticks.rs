//! The machine's speed over the run: its yardsticks, and what was divided by them.

use hopcost_model::results::{Adjustment, Applied, Results, YardstickLevel};

use super::model::{Block, Cell, Medium, Rows, Section, Unit, numbers, words};

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    if results.yardsticks.is_empty() {
        return None;
    }
    Section::of("yardsticks", [levels(&results.yardsticks), adjustments(&results.adjustments)])
}

fn levels(levels: &[YardstickLevel]) -> Block {
    let cpus = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let slower = |level: &YardstickLevel| Some(level.p50_ns / level.reference_ns?);
    Rows::of(levels)
        .column(words("yardstick"), |level| Cell::text(level.class.word()))
        .column(words("CPU"), |level| Cell::text(cpus(&level.cpus)))
        .column(words("played by"), |level| Cell::code(&level.case))
        .column(numbers("reference"), |level| Cell::maybe(level.reference_ns, Unit::Time(3)))
        .column(numbers("p5"), |level| Cell::number(level.p5_ns, Unit::Time(3)))
        .column(numbers("p50"), |level| Cell::number(level.p50_ns, Unit::Time(3)))
        .column(numbers("p95"), |level| Cell::number(level.p95_ns, Unit::Time(3)))
        .column(numbers("× reference"), |level| Cell::maybe(slower(level), Unit::Plain(3)))
        .column(numbers("reliability"), |level| Cell::maybe(level.reliability, Unit::Plain(2)))
        .column(numbers("readings"), |level| Cell::number(level.readings, Unit::Whole))
        .table()
}

fn adjustments(adjustments: &[Adjustment]) -> Block {
    let elasticity = |a: &Adjustment| {
        let (low, high) = (a.elasticity_low?, a.elasticity_high?);
        Some(format!("{:.2} [{low:.2}, {high:.2}]", a.elasticity?))
    };
    Rows::of(adjustments)
        .column(words("yardstick"), |a| Cell::text(a.class.word()))
        .column(words("runtime"), |a| Cell::text(&a.runtime))
        .column(numbers("cases"), |a| Cell::number(a.cases, Unit::Whole))
        .column(numbers("trials"), |a| Cell::number(a.trials, Unit::Whole))
        .column(words("elasticity"), |a| {
            Cell::text(
                elasticity(a)
                    .unwrap_or_else(|| "cannot be told from so few or so even trials".to_owned()),
            )
        })
        .column(numbers("variance removed"), |a| Cell::maybe(a.removed_share, Unit::Share))
        .column(words("values are"), |a| {
            Cell::text(match a.applied {
                Applied::Divided => "at the reference speed",
                Applied::NotNeeded => "as met: the machine was within 0.5 % of its reference",
                Applied::Refused => "as met: they do not follow the yardstick",
                Applied::Far => "as met: more than three times off the reference",
                Applied::NoReference => "as met: no reference is known",
                Applied::Shared => "as met: other tasks ran on their CPU",
            })
        })
        .table()
}
