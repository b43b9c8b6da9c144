//! What a run would do, before it is done.

use hopcost_model::SCHEMA;
use hopcost_model::group::grouped;
use hopcost_model::plan::Plan;
use serde_json::json;

use crate::number;
use crate::section::model::{Block, Cell, Document, Rows, Section, facts, numbers, says, words};

/// A suite as a list shows it.
pub struct SuiteLine {
    /// What `--suite` takes.
    pub name: &'static str,
    /// How long it takes here, as far as the planner knows.
    pub estimate_ns: u64,
    /// What it is, in a few words.
    pub about: String,
}

/// Suites, a line each.
pub fn suites(suites: &[SuiteLine]) -> Document {
    let table = Rows::of(suites)
        .column(words("suite"), |suite| Cell::code(suite.name))
        .column(numbers("takes"), |suite| Cell::text(number::expected(suite.estimate_ns)))
        .column(words("what it is"), |suite| Cell::text(&suite.about));
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
    let head = vec![facts(known(plan, estimate_ns))];
    let sections = sections.into_iter().flatten().collect();
    Document { head, sections, ..Document::default() }
}

fn known(plan: &Plan, estimate_ns: u64) -> Vec<(&'static str, Cell)> {
    let live = plan.live().count();
    let cpus: Vec<String> = plan.cpus.iter().map(u32::to_string).collect();
    let relation = plan.relation.map(|relation| format!(" ({relation})")).unwrap_or_default();
    let budget = match plan.budget_ns {
        Some(ns) => format!("; no round starts after {}", number::expected(ns)),
        None => String::new(),
    };
    let least = match plan.trial.operations {
        Some(n) => format!("{n} operations where a case has two ends, of a stream at most; "),
        None => String::new(),
    };
    let trial = format!(
        "{least}measures for about {}, up to {} to reach {} operations; killed after {} s",
        number::time(plan.trial.measure_ns as f64, 2),
        number::time(plan.trial.measure_max_ns as f64, 2),
        plan.trial.operations_min,
        plan.trial.deadline_ms as f64 / 1e3,
    );
    let pair = |(placement, (caller, callee)): (_, &(u32, u32))| {
        format!("{placement} {caller} and {callee}")
    };
    let pairs: Vec<String> = plan.pairs.iter().map(pair).collect();
    let cpus = match pairs.is_empty() {
        true => format!("{}{relation}", cpus.join(", ")),
        false => format!("{}; of two: {}", cpus.join(", "), pairs.join(", ")),
    };
    let lines = [
        ("Suite", plan.suite.clone()),
        ("Cases", format!("{live} to measure, {} skipped", plan.cases.len() - live)),
        ("Rounds", format!("{}, each case once in each{budget}", plan.rounds)),
        ("Order", format!("at random in every round, from seed {}", plan.seed)),
        ("Trial", trial),
        ("CPUs", cpus),
        ("Takes", format!("about {}", number::expected(estimate_ns))),
    ];
    // Where nothing is measured nothing takes time.
    let shown = if live == 0 { 2 } else { lines.len() };
    lines.into_iter().take(shown).map(|(name, text)| (name, Cell::text(text))).collect()
}

/// A plan for programs: `{schema, estimate_ns, plan}`, with a line feed at its end.
///
/// # Errors
/// If a value cannot be written as JSON, which no `Plan` should contain.
pub fn dry_run_json(plan: &Plan, estimate_ns: u64) -> Result<String, serde_json::Error> {
    let plan = serde_json::to_value(plan)?;
    let document = json!({ "schema": SCHEMA, "estimate_ns": estimate_ns, "plan": plan });
    Ok(format!("{document:#}\n"))
}
