//! Costs split into a fixed and a per-byte part.

use hopcost_model::results::{CostModel, Results};

use super::model::{Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, words};
use super::words::Numbered;

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let mut refused = Numbered::default();
    let label = |model: &CostModel| {
        let Some(reason) = &model.refused else { return model.label.clone() };
        let number = refused.number(&format!("no line: {reason}."));
        format!("{} ({number})", model.label)
    };
    let line = |model: &CostModel| Cell::maybe(model.residual_max, Unit::Share);
    let mut label = label;
    let table = Rows::of(&results.cost_models)
        .column(words("what was swept"), |m| Cell::text(label(m)))
        .column(estimates("fixed"), |m| Cell::estimate(m.fixed_ns.as_ref(), Scale::Time))
        .column(estimates("per byte"), |m| {
            Cell::estimate(m.per_byte_ns.as_ref(), Scale::TimePerByte)
        })
        .column(numbers("sizes").fold(1), |m| Cell::whole(m.cases.len() as u64))
        .column(numbers("farthest from the line").fold(2), line)
        .table();
    Section::of("models", [table].into_iter().chain(refused.notes()))
}
