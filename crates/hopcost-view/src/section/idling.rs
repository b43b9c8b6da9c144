//! What idling costs, and where the spread of wake-ups comes from.

use hopcost_model::results::{CaseResult, KnobPrice, Results, VarianceShares};

use super::model::{
    Block, Cell, Medium, Rows, Scale, Section, Unit, estimates, numbers, says, words,
};
use super::words::{index_of, mechanism, sentence, setting};
use crate::names::capitalised;
use crate::number;

pub(super) fn knobs(results: &Results, _: Medium) -> Option<Section> {
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

pub(super) fn variance(results: &Results, _: Medium) -> Option<Section> {
    Section::of("spread", results.variance_of_medians.iter().flat_map(shares))
}

fn shares(variance: &VarianceShares) -> [Block; 2] {
    let shares = by_size(variance);
    let table = Rows::of(&shares)
        .column(words("factor"), |(factor, _)| Cell::text(*factor))
        .column(numbers("share of the variance"), |(_, share)| Cell::number(*share, Unit::Share));
    let estimand = sentence(&capitalised(&variance.estimand));
    [says(format!("{estimand} {} trials.", number::grouped(variance.samples))), table.table()]
}

/// The shares of the factors, the greatest first.
fn by_size(variance: &VarianceShares) -> Vec<(&str, f64)> {
    let mut shares: Vec<(&str, f64)> =
        variance.shares.iter().map(|(factor, share)| (factor.as_str(), *share)).collect();
    // Stable: equal shares keep the order of their names.
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}
