//! What a run would do, before it is done.

use hopcost_model::SCHEMA;
use hopcost_model::plan::Plan;
use serde_json::json;

use crate::number;
use crate::style::{Paint, TextStyle};

/// A plan for people: every case in its canonical spelling (never broken, so
/// that it can be pasted), what is skipped and why, rounds, expected duration
/// (`estimate_ns`, which the planner knows) and the seed of the order.
pub fn dry_run(plan: &Plan, estimate_ns: u64, style: &TextStyle) -> String {
    let mut out = String::new();
    head(&mut out, plan, estimate_ns, style);
    let live: Vec<String> = plan.live().map(|(_, case)| case.id()).collect();
    heading(&mut out, style, "To measure, in the order of the suite");
    if live.is_empty() {
        out.push_str("  nothing: every case is skipped\n");
    }
    for id in &live {
        let base = if plan.baseline.as_ref() == Some(id) { "  (baseline)" } else { "" };
        out.push_str(&format!("  {}{}\n", style.clean(id), style.paint(Paint::Dim, base)));
    }
    let skipped = skipped(plan);
    if !skipped.is_empty() {
        heading(&mut out, style, "Skipped");
    }
    for (reason, ids) in skipped {
        style.paragraph(&mut out, "  ", "  ", &format!("{reason}:"));
        for id in ids {
            out.push_str(&format!("    {}\n", style.clean(&id)));
        }
    }
    out
}

fn head(out: &mut String, plan: &Plan, estimate_ns: u64, style: &TextStyle) {
    let live = plan.live().count();
    let cpus: Vec<String> = plan.cpus.iter().map(u32::to_string).collect();
    let relation = plan.relation.map(|relation| format!(" ({relation})")).unwrap_or_default();
    let budget = match plan.budget_ns {
        Some(ns) => format!("; no round starts after {}", number::expected(ns)),
        None => String::new(),
    };
    let trial = format!(
        "measures for about {}, up to {} to reach {} operations; killed after {} s",
        number::rough(plan.trial.measure_ns as f64, style.charset),
        number::rough(plan.trial.measure_max_ns as f64, style.charset),
        plan.trial.operations_min,
        plan.trial.deadline_ms as f64 / 1e3,
    );
    let trial = match plan.trial.operations {
        Some(n) => {
            format!("{n} operations where a case has two ends, of a stream at most; {trial}")
        }
        None => trial,
    };
    let pairs: Vec<String> = plan
        .pairs
        .iter()
        .map(|(placement, (caller, callee))| format!("{placement} {caller} and {callee}"))
        .collect();
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
    for (name, text) in lines {
        style.paragraph(out, &format!("{name:<8}"), "        ", &text);
    }
}

fn heading(out: &mut String, style: &TextStyle, text: &str) {
    out.push_str(&format!("\n{}\n", style.paint(Paint::Bold, text)));
}

/// The skipped cases by reason, in the order of the suite.
fn skipped(plan: &Plan) -> Vec<(&str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for case in &plan.cases {
        let Some(reason) = case.skip.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, ids)) => ids.push(case.id()),
            None => reasons.push((reason, vec![case.id()])),
        }
    }
    reasons
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
