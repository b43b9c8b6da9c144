//! What idling costs, and where the spread of wake-ups comes from.

use hopcost_model::results::{KnobPrice, Results};

use super::{Cell, Column, Part, Row, Section, mechanism, sentence, setting, time};
use crate::names::capitalised;
use crate::number;

pub(super) fn knobs(results: &Results) -> Option<Section> {
    if results.knobs.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("wake-up"),
        Column::number("gap"),
        Column::words("idle knob"),
        Column::number("difference of p50 [interval]"),
    ];
    let row = |price: &KnobPrice| {
        let index = results.results.iter().position(|case| case.id == price.without);
        let case = index.and_then(|index| results.results.get(index));
        let name = case.map_or_else(
            || price.without.clone(),
            |case| {
                let mut words = vec![mechanism(case)];
                words.extend(setting(case));
                words.join(", ")
            },
        );
        let gap = case.and_then(|case| case.case.gap_ns);
        Row {
            cells: vec![
                Cell::Text(name),
                gap.map_or(Cell::none(), |ns| Cell::Number(number::exact(ns), ns as f64)),
                Cell::Text(price.knob.word().to_owned()),
                Cell::estimate(Some(&price.difference_ns), time),
            ],
            case: index,
        }
    };
    let rows = results.knobs.iter().map(row).collect();
    Some(Section {
        id: "idling",
        title: "What idling costs",
        lead: "p50 without the knob minus p50 with it, paired by round: what a wake-up costs more \
               because the receiver's CPU was idle. An interval that holds 0 tells no difference."
            .to_owned(),
        parts: vec![Part { title: String::new(), columns, rows, ..Part::default() }],
    })
}

pub(super) fn variance(results: &Results) -> Option<Section> {
    let variance = results.variance.as_ref()?;
    let mut shares: Vec<(&str, f64)> =
        variance.shares.iter().map(|(factor, share)| (factor.as_str(), *share)).collect();
    // Stable: equal shares keep the order of their names.
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares.push(("rest: from sample to sample", variance.residual));
    let row = |(factor, share): (&str, f64)| Row {
        cells: vec![Cell::Text(factor.to_owned()), Cell::Number(number::share(share), share)],
        case: None,
    };
    Some(Section {
        id: "spread",
        title: "Where the spread comes from",
        lead: format!(
            "{} {} samples.",
            sentence(&capitalised(&variance.estimand)),
            number::grouped(variance.samples)
        ),
        parts: vec![Part {
            title: String::new(),
            columns: vec![Column::words("factor"), Column::number("share of the variance")],
            rows: shares.into_iter().map(row).collect(),
            ..Part::default()
        }],
    })
}
