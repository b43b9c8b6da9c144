//! What a runtime adds to a mechanism: a constant part and a part for each byte.

use hopcost_model::group::grouped;
use hopcost_model::results::{AddedCost, Estimate, Results};

use crate::names::capitalised;
use crate::number;
use crate::section::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, says, words,
};
use crate::section::words::Numbered;

pub(crate) fn section(results: &Results, _: Medium) -> Option<Section> {
    let runtimes = results.runtimes.as_ref()?;
    let all: Vec<&AddedCost> = runtimes.added.iter().collect();
    let mut refused = Numbered::default();
    let mut blocks = Vec::new();
    for (label, of) in grouped(all.clone(), |added| added.label.clone()) {
        blocks.push(Block::Heading(label));
        let told = of.iter().filter(|added| !added.sentence.is_empty());
        blocks.extend(told.map(|added| says(sentence(added))));
        blocks.push(table(&of, &mut refused));
    }
    Section::of("added", blocks.into_iter().chain(refused.notes()))
}

/// A runtime's name stays as it is.
fn sentence(added: &AddedCost) -> String {
    let named = added.sentence.starts_with(&added.runtime);
    if named { added.sentence.clone() } else { capitalised(&added.sentence) }
}

fn table(all: &[&AddedCost], refused: &mut Numbered) -> Block {
    let mut sizes: Vec<u32> = all.iter().flat_map(|added| added.sizes.clone()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut rows = Rows::of(all)
        .column(words("runtime"), |added| match &added.refused {
            Some(reason) => {
                let number = refused.number(&format!("no line: {reason}."));
                Cell::text(format!("{} ({number})", added.runtime))
            }
            None => Cell::text(added.runtime.clone()),
        })
        .column(estimates("constant"), |added| {
            Cell::estimate(added.constant_ns.as_ref(), Scale::Difference)
        })
        .column(estimates("per byte"), |added| {
            Cell::estimate(added.per_byte_ns.as_ref(), Scale::DifferencePerByte)
        })
        .column(numbers("farthest from the line").fold(3), |added| {
            Cell::maybe(added.residual_max.filter(|_| added.refused.is_none()), Unit::Share)
        });
    for bytes in sizes {
        let column = estimates(&format!("at {}", number::bytes(bytes))).fold(1);
        rows = rows.column(column, |added| Cell::estimate(at(added, bytes), Scale::Difference));
    }
    rows.table()
}

/// The difference at a size.
fn at(added: &AddedCost, bytes: u32) -> Option<&Estimate> {
    let index = added.sizes.iter().position(|size| *size == bytes)?;
    added.differences_ns.get(index)
}
