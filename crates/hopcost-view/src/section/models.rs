//! Costs split into a fixed and a per-byte part.

use hopcost_model::results::{CostModel, Results};

use super::model::{Cell, Column, Rows, Scale, Section, Unit};
use super::words::Numbered;

const LEAD: &str = "A line through the sizes that were measured (Hockney): a cost at size 0 and a \
    cost of each further byte, with their intervals. It says nothing beyond these sizes.";

pub(super) fn section(results: &Results) -> Option<Section> {
    let mut refused = Numbered::default();
    let table = Rows::of(&results.cost_models)
        .column(Column::words("what was swept"), |model| Cell::text(label(model, &mut refused)))
        .column(Column::estimate("fixed"), |model| {
            Cell::estimate(model.fixed_ns.as_ref().or(model.smallest_ns.as_ref()), Scale::Time)
        })
        .column(Column::estimate("per byte"), |model| {
            let per_byte = model.per_byte_ns.as_ref().or(model.mean_per_byte_ns.as_ref());
            Cell::estimate(per_byte, Scale::TimePerByte)
        })
        .column(Column::number("sizes").fold(1), |model| Cell::whole(model.cases.len() as u64))
        .column(Column::number("farthest from the line").fold(2), |model| {
            Cell::maybe(model.residual_max, Unit::Share)
        })
        .table();
    let section = Section::new("models", "Fixed and per-byte cost", LEAD);
    (!results.cost_models.is_empty()).then(|| section.with([table]).with(refused.notes()))
}

/// What was swept, with the number of the note that says why there is no line.
fn label(model: &CostModel, refused: &mut Numbered) -> String {
    let Some(reason) = &model.refused else { return model.label.clone() };
    let instead = match model.mean_per_byte_ns {
        Some(_) => {
            ". Shown instead: the cost at the smallest size as measured, and what a byte costs on \
             average from there to the largest"
        }
        None => "",
    };
    let number = refused.number(&format!("no line: {reason}{instead}."));
    format!("{} ({number})", model.label)
}
