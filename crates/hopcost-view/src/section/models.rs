//! Costs split into a fixed and a per-byte part.

use hopcost_model::results::{CostModel, Results};

use super::model::{Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, words};
use super::words::Numbered;

/// What stands in the place of a line.
const INSTEAD: &str = ". Shown instead: the cost at the smallest size as measured, and what a byte \
    costs on average from there to the largest";

pub(super) fn section(results: &Results, _: Medium) -> Option<Section> {
    let mut refused = Numbered::default();
    let label = |model: &CostModel| {
        let Some(reason) = &model.refused else { return model.label.clone() };
        let instead = model.mean_per_byte_ns.as_ref().map_or("", |_| INSTEAD);
        let number = refused.number(&format!("no line: {reason}{instead}."));
        format!("{} ({number})", model.label)
    };
    let fixed = |model: &'_ CostModel| model.fixed_ns.clone().or(model.smallest_ns.clone());
    let per_byte =
        |model: &'_ CostModel| model.per_byte_ns.clone().or(model.mean_per_byte_ns.clone());
    let line = |model: &CostModel| Cell::maybe(model.residual_max, Unit::Share);
    let mut label = label;
    let table = Rows::of(&results.cost_models)
        .column(words("what was swept"), |m| Cell::text(label(m)))
        .column(estimates("fixed"), |m| Cell::estimate(fixed(m).as_ref(), Scale::Time))
        .column(estimates("per byte"), |m| Cell::estimate(per_byte(m).as_ref(), Scale::TimePerByte))
        .column(numbers("sizes").fold(1), |m| Cell::whole(m.cases.len() as u64))
        .column(numbers("farthest from the line").fold(2), line)
        .table();
    Section::of("models", [table].into_iter().chain(refused.notes()))
}
