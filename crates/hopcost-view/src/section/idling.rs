//! What idling costs.

use hopcost_model::results::{CaseResult, KnobPrice, Results};

use super::model::{Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, words};
use super::words::{index_of, mechanism, setting};

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let index = |price: &KnobPrice| index_of(results, &price.without);
    let case = |price: &KnobPrice| index(price).map(|index| &results.results[index]);
    let name = |case: &CaseResult| {
        std::iter::once(mechanism(case)).chain(setting(case)).collect::<Vec<_>>().join(", ")
    };
    let gap = |price: &KnobPrice| Some(case(price)?.case.gap_ns? as f64);
    let table = Rows::of(&results.knobs)
        .column(words("wake-up"), |price| match case(price) {
            Some(case) => Cell::text(name(case)).of(index(price)),
            None => Cell::code(&price.without),
        })
        .column(numbers("gap"), |price| Cell::maybe(gap(price), Unit::Exact))
        .column(words("idle knob"), |price| Cell::text(price.knob.word()))
        .column(estimates("difference of p50"), |price| {
            Cell::estimate(Some(&price.difference_ns), Scale::Time)
        });
    Section::of("idling", [table.table()])
}
