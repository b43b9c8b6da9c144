//! What a run would do, before it is done.

use hopcost_model::group::grouped;
use hopcost_model::{Plan, SCHEMA};
use serde_json::json;

use crate::number;
use crate::section::facts_of;
use crate::section::model::{Block, Cell, Document, Rows, Section, numbers, says, words};

/// What of a plan stands elsewhere.
const ELSEWHERE: &str = "baseline cases comparison question";

/// Suites, a line each: the name that `--suite` takes, how long it takes here, as far as the planner
/// knows, and what it is.
pub fn suites(suites: &[(&str, u64, String)]) -> Document {
    let table = Rows::of(suites)
        .column(words("suite"), |(name, ..)| Cell::code(*name))
        .column(numbers("takes"), |(_, ns, _)| Cell::text(number::expected(*ns)))
        .column(words("what it is"), |(.., about)| Cell::text(about));
    let head = vec![table.table(), says("hopcost run --suite NAME [--dry-run]")];
    Document { head, ..Document::default() }
}

/// A plan for people: every case in its canonical spelling (never broken, so
/// that it can be pasted), what is skipped and why, rounds, expected duration
/// (`estimate_ns`, which the planner knows) and the seed of the order.
pub fn dry_run(plan: &Plan, estimate_ns: u64) -> Document {
    let live = plan.live().map(|(_, case)| match plan.baseline.as_ref() == Some(&case.id()) {
        true => format!("{}  (baseline)", case.id()),
        false => case.id(),
    });
    let live: Vec<String> = live.collect();
    let measured = match live.is_empty() {
        true => says("nothing: every case is skipped"),
        false => Block::Paste(String::new(), live),
    };
    let skipped = plan.cases.iter().filter_map(|case| Some((case.skip.as_deref()?, case.id())));
    let skipped =
        grouped(skipped, |(reason, _)| *reason).into_iter().flat_map(|(reason, cases)| {
            let ids = cases.into_iter().map(|(_, id)| id).collect();
            [says(format!("{reason}:")), Block::Paste(String::new(), ids)]
        });
    let sections = [Section::of("measured", [measured]), Section::of("skipped", skipped)];
    let head = vec![Block::Facts(known(plan, estimate_ns))];
    let sections = sections.into_iter().flatten().collect();
    Document { head, sections, ..Document::default() }
}

/// What is planned; nothing but that where nothing is measured, which takes no time.
fn known(plan: &Plan, estimate_ns: u64) -> Vec<(String, Cell)> {
    let live = plan.live().count();
    let cases = format!("{live} to measure, {} skipped", plan.cases.len() - live);
    let mut known = vec![("cases".to_owned(), Cell::text(cases))];
    if live > 0 {
        let takes = format!("about {}", number::expected(estimate_ns));
        known.push(("takes".to_owned(), Cell::text(takes)));
        known.extend(facts_of(plan, ELSEWHERE));
    }
    known
}

/// A plan for programs: `{schema, estimate_ns, plan}`, with a line feed at its end.
pub fn dry_run_json(plan: &Plan, estimate_ns: u64) -> String {
    let document = json!({ "schema": SCHEMA, "estimate_ns": estimate_ns, "plan": plan });
    format!("{document:#}\n")
}
