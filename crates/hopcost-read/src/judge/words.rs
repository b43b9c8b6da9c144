//! Sentences of verdicts.

use hopcost_model::case::Case;
use hopcost_model::finding::{Code, Finding};
use hopcost_model::group::distinct;
use hopcost_model::results::{Estimate, JudgedPart, JudgedUnit};
use hopcost_model::text::listed;
use hopcost_plan::{Check, Number, Quantity};

use crate::case::{Reading, known};
use crate::format;

/// The delayed acknowledgement's timer at its least (TCP_DELACK_MIN).
const DELACK_NS: f64 = 40e6;
/// Findings that say why a number is what it is, the most telling first.
const TELLING: [Code; 5] =
    [Code::NagleDelack, Code::ZeroCopyCopied, Code::Oversubscribed, Code::NeverSlept, Code::Lost];

/// A number with its unit.
fn number(value: f64, unit: JudgedUnit) -> String {
    match unit {
        JudgedUnit::Times if value > 0.0 && value < 0.01 => {
            let decimals = 1.0 - libm::floor(libm::log10(value));
            format!("{value:.*}", decimals as usize)
        }
        JudgedUnit::Times | JudgedUnit::Number => format::three(value),
        JudgedUnit::Share => format::percent(value),
        JudgedUnit::Ns => format::ns(value),
        JudgedUnit::Gbps => format!("{} Gbit/s", format::three(value)),
    }
}

fn point(estimate: &Estimate, unit: JudgedUnit) -> String {
    estimate.point.map_or("unknown".to_owned(), |point| number(point, unit))
}

/// `2.31 [2.20, 2.42]`
fn with_interval(estimate: &Estimate, unit: JudgedUnit) -> String {
    let point = point(estimate, unit);
    match estimate.low.zip(estimate.high).filter(|(low, high)| low < high) {
        Some((low, high)) => format!("{point} [{}, {}]", number(low, unit), number(high, unit)),
        None => point,
    }
}

fn quantity(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Headline => "time".to_owned(),
        Quantity::Statistic(statistic) => statistic.label().to_owned(),
        Quantity::Ticks => "time in ticks".to_owned(),
        Quantity::Cpu => "CPU time".to_owned(),
        Quantity::Switches => "number of context switches".to_owned(),
        Quantity::Event(event) => format!("number of {}", event.replace('-', " ")),
        Quantity::Throughput => "throughput".to_owned(),
        Quantity::CopiedShare => "copied share".to_owned(),
        Quantity::StalledShare => "stalled share".to_owned(),
        Quantity::LostShare => "lost share".to_owned(),
        Quantity::BetweenRuns => "difference between runs".to_owned(),
        Quantity::Finding(code, None) => format!("finding {code}"),
        Quantity::Finding(code, Some(name)) => format!("{} ({code})", name.replace('_', " ")),
    }
}

/// What is checked: `the CPU time of a2 over that of a1`.
pub fn subject(check: &Check) -> String {
    let (of, what) = (&check.of, quantity(&check.quantity));
    match &check.number {
        Number::Value => format!("the {what} of {of}"),
        Number::Over(over) => format!("the {what} of {of} over that of {over}"),
        Number::Minus(other) => format!("the {what} of {of} minus that of {other}"),
        Number::Printed(_) => "the printed figures".to_owned(),
        Number::Fails(why) => format!("that {of} fails: {why}"),
    }
}

/// What a check found, in one sentence over its levels: `tcp took 5.18 µs (place=same-cpu) and
/// 56.2 µs (place=same-llc)`.
pub fn evidence(check: &Check, parts: &[&JudgedPart]) -> String {
    let values: Vec<(&JudgedPart, &Estimate)> =
        parts.iter().filter_map(|part| Some((*part, part.value.as_ref()?))).collect();
    let points = distinct(values.iter().map(|(part, estimate)| point(estimate, part.unit)));
    let numbers: Vec<String> = match (values.as_slice(), points.as_slice()) {
        ([], _) => return distinct(parts.iter().map(|part| part.because.as_str())).join("; "),
        ([(part, estimate)], _) => vec![with_interval(estimate, part.unit)],
        (_, [_]) => points,
        (all, _) => {
            let one = |(part, estimate): &(&JudgedPart, &Estimate)| {
                let level = part.level.as_deref().unwrap_or_default();
                format!("{} ({level})", point(estimate, part.unit))
            };
            all.iter().map(one).collect()
        }
    };
    let (of, what, numbers) = (&check.of, quantity(&check.quantity), listed(&numbers));
    let is_time = check.quantity == Quantity::Headline;
    match &check.number {
        Number::Value if is_time => format!("{of} took {numbers}"),
        Number::Over(over) if is_time => format!("{of} took {numbers} × the time of {over}"),
        Number::Minus(other) if is_time => format!("{of} took {numbers} more than {other}"),
        Number::Value => format!("the {what} of {of} was {numbers}"),
        Number::Over(over) => format!("the {what} of {of} was {numbers} × that of {over}"),
        Number::Minus(other) => {
            format!("the {what} of {of} was {numbers} more than that of {other}")
        }
        Number::Printed(_) => format!("the printed figures give {numbers}"),
        Number::Fails(_) => format!("{of} did not fail"),
    }
}

/// A sentence without the intervals behind its numbers, which the table of the claims has.
pub fn without_intervals(text: &str) -> String {
    let mut parts = text.split(" [");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once(']').map_or(part, |(_, rest)| rest))
}

/// A text as a sentence: with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// What explains the numbers of these cases: for each telling code, its first finding.
pub fn causes(of: &[&String], all: &[Reading], findings: &[Finding]) -> Vec<String> {
    let first = |code: &Code| {
        let is_it =
            |f: &&Finding| f.code == *code && f.case.as_ref().is_some_and(|id| of.contains(&id));
        let finding = findings.iter().find(is_it)?;
        let reading = all.iter().find(|one| Some(&one.result.id) == finding.case.as_ref())?;
        let timer = (*code == Code::NagleDelack).then(|| delayed(reading, all)).flatten();
        let evidence = finding.evidence.trim_end_matches('.');
        let inner = evidence.strip_prefix("The ").map(|rest| format!("the {rest}"));
        Some(timer.or(inner).unwrap_or_else(|| evidence.to_owned()))
    };
    TELLING.iter().filter_map(first).collect()
}

/// How long a stalled message takes beside the timer that it waits for, and without Nagle's
/// algorithm if that was measured.
fn delayed(reading: &Reading, all: &[Reading]) -> Option<String> {
    let ns = reading.headline()?.point.filter(|ns| *ns >= 0.9 * DELACK_NS)?;
    let timer = format!(
        "{} is {} × the timer of the delayed acknowledgement (40 ms)",
        format::ns(ns),
        format::three(ns / DELACK_NS)
    );
    let mut without: Case = reading.case?.clone();
    without.parameters.insert("nodelay".to_owned(), "on".to_owned());
    let other = known(all).find(|(case, _)| **case == without);
    let other = other.and_then(|(_, other)| other.headline()?.point);
    Some(match other {
        Some(ns) => format!("{timer}; with TCP_NODELAY the same takes {}", format::ns(ns)),
        None => timer,
    })
}
