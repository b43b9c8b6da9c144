//! What idling costs, and where the spread of wake-ups comes from.

use hopcost_model::results::{KnobPrice, Results};

use super::model::{Cell, Column, Rows, Scale, Section, Unit};
use super::words::{index_of, mechanism, sentence, setting};
use crate::names::capitalised;
use crate::number;

const LEAD: &str = "p50 without the knob minus p50 with it, paired by round: what a wake-up costs \
    more because the receiver's CPU was idle. An interval that holds 0 tells no difference.";

pub(super) fn knobs(results: &Results) -> Option<Section> {
    let case = |price: &KnobPrice| {
        let index = index_of(results, &price.without)?;
        Some((index, &results.results[index]))
    };
    let name = |price: &KnobPrice| match case(price) {
        Some((index, case)) => {
            let words: Vec<String> =
                std::iter::once(mechanism(case)).chain(setting(case)).collect();
            Cell::text(words.join(", ")).of(index)
        }
        None => Cell::code(price.without.clone()),
    };
    let gap = |price: &KnobPrice| case(price).and_then(|(_, case)| case.case.gap_ns);
    let table = Rows::of(&results.knobs)
        .column(Column::words("wake-up"), name)
        .column(Column::number("gap"), |price| {
            Cell::maybe(gap(price).map(|ns| ns as f64), Unit::Exact)
        })
        .column(Column::words("idle knob"), |price| Cell::text(price.knob.word()))
        .column(Column::estimate("difference of p50"), |price| {
            Cell::estimate(Some(&price.difference_ns), Scale::Time)
        });
    let section = Section::new("idling", "What idling costs", LEAD).with([table.table()]);
    (!results.knobs.is_empty()).then_some(section)
}

pub(super) fn variance(results: &Results) -> Option<Section> {
    let variance = results.variance.as_ref()?;
    let mut shares: Vec<(&str, f64)> =
        variance.shares.iter().map(|(factor, share)| (factor.as_str(), *share)).collect();
    // Stable: equal shares keep the order of their names.
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares.push(("rest: from sample to sample", variance.residual));
    let table = Rows::of(&shares)
        .column(Column::words("factor"), |(factor, _)| Cell::text(*factor))
        .column(Column::number("share of the variance"), |(_, share)| {
            Cell::number(*share, Unit::Share)
        });
    let estimand = sentence(&capitalised(&variance.estimand));
    let lead = format!("{estimand} {} samples.", number::grouped(variance.samples));
    Some(Section::new("spread", "Where the spread comes from", lead).with([table.table()]))
}
