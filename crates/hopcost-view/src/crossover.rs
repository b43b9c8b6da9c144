//! A search for a crossing as a table for programs: one row a point.

use hopcost_model::plan::CrossoverPlan;
use hopcost_model::results::{Crossover, CrossoverPoint, Faster};

use crate::csv::{self, number, push_row};
use crate::section::crossover::value_of;

/// What is searched: `payload from 64 B to 1 MiB, of whose 57 values 8 come first`.
pub fn searched(plan: &CrossoverPlan) -> String {
    let end = |at: Option<&u64>| at.map_or(String::new(), |at| value_of(&plan.axis, *at));
    format!(
        "{} from {} to {}, of whose {} values {} come first",
        plan.axis,
        end(plan.values.first()),
        end(plan.values.last()),
        plan.values.len(),
        plan.coarse.len()
    )
}

type Field = fn(&Crossover, &CrossoverPoint) -> String;

const COLUMNS: &[(&str, Field)] = &[
    ("axis", |found, _| found.axis.clone()),
    ("at", |_, of| of.at.to_string()),
    ("faster", |_, of| word(of.faster).to_owned()),
    ("ratio", |_, of| number(of.ratio.as_ref().map(|ratio| ratio.point))),
    ("low", |_, of| number(of.ratio.as_ref().and_then(|ratio| ratio.low))),
    ("high", |_, of| number(of.ratio.as_ref().and_then(|ratio| ratio.high))),
    ("rounds", |_, of| csv::text(of.ratio.as_ref().map(|ratio| ratio.n_rounds))),
    ("first_ns", |_, of| number(of.first_ns)),
    ("second_ns", |_, of| number(of.second_ns)),
    ("first", |found, _| found.first.clone()),
    ("second", |found, _| found.second.clone()),
    ("left_out", |_, of| csv::text(of.left_out.as_ref())),
];

/// As CSV: one row a point.
pub fn csv(found: &Crossover) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for of in &found.points {
        push_row(&mut out, COLUMNS.iter().map(|(_, field)| field(found, of)));
    }
    out
}

fn word(faster: Faster) -> &'static str {
    match faster {
        Faster::First => "first",
        Faster::Second => "second",
        Faster::Neither => "neither",
        Faster::Equal => "equal",
    }
}
