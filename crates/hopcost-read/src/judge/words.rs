//! Sentences of verdicts.

use hopcost_model::group::distinct;
use hopcost_model::text::{bytes, listed};
use hopcost_model::{Code, Estimate, Finding, JudgedUnit, Region, Ruling, document};
use hopcost_plan::{Check, Number, Quantity};

use crate::format;

document! {
    /// A check at one level.
    #[derive(Default)]
    pub struct JudgedPart {
        /// What is checked, in words.
        pub check: String,
        /// At which level of what its cases vary (`place=cross`); `null` if there is one.
        pub level: Option<String>,
        /// The verdict; `null` if the check reports a number and claims nothing of it.
        pub verdict: Option<Ruling>,
        /// What was measured, with the interval that decides; `null` if nothing was.
        pub value: Option<Estimate>,
        /// The unit of the value and the bounds.
        pub unit: JudgedUnit,
        /// What is claimed of the number.
        pub region: Region,
        /// The cases that it is about.
        pub cases: Vec<String>,
        /// The number in a sentence, or why there is none.
        pub because: String,
        /// Rounds that would probably decide; `null` if it is decided or if no number would.
        pub rounds_to_decide: Option<u32>,
    }
}

/// More levels than these are shown by the least and the greatest number.
const LEVELS_MAX: usize = 3;
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

/// What a check found, in one sentence over its levels: `tcp took 2.51 × the time of pipe at 64 bytes and
/// 0.628 × at 4 KiB`.
pub fn evidence(check: &Check, parts: &[&JudgedPart]) -> String {
    let values: Vec<(&JudgedPart, &Estimate)> =
        parts.iter().filter_map(|part| Some((*part, part.value.as_ref()?))).collect();
    let points = distinct(values.iter().map(|(part, estimate)| point(estimate, part.unit)));
    let is_time = check.quantity == Quantity::Headline;
    let (times, than) = match (&check.number, is_time) {
        (Number::Over(over), true) => (" ×", format!(" the time of {over}")),
        (Number::Over(over), false) => (" ×", format!(" that of {over}")),
        (Number::Minus(other), true) => ("", format!(" more than {other}")),
        (Number::Minus(other), false) => ("", format!(" more than that of {other}")),
        _ => ("", String::new()),
    };
    let numbers = match (values.as_slice(), points.as_slice()) {
        ([], _) => return distinct(parts.iter().map(|part| part.because.as_str())).join("; "),
        ([(part, estimate)], _) => format!("{}{times}{than}", with_interval(estimate, part.unit)),
        (_, [point]) => format!("{point}{times}{than}"),
        (all, _) => {
            let is_many = all.len() > LEVELS_MAX;
            let mut shown = all.to_vec();
            if is_many {
                let key = |estimate: &Estimate| estimate.point.unwrap_or(f64::NAN);
                shown.sort_by(|(_, a), (_, b)| key(a).total_cmp(&key(b)));
                shown.drain(1..shown.len() - 1);
            }
            let one = |(at, (part, estimate)): (usize, &(&JudgedPart, &Estimate))| {
                let than = if at == 0 { than.as_str() } else { "" };
                format!("{}{times}{than}{}", point(estimate, part.unit), at_level(part))
            };
            let words: Vec<String> = shown.iter().enumerate().map(one).collect();
            if is_many { words.join(" to ") } else { listed(&words) }
        }
    };
    let of = &check.of;
    match &check.number {
        Number::Printed(_) => format!("the printed figures give {numbers}"),
        Number::Fails(_) => format!("{of} did not fail"),
        _ if is_time => format!("{of} took {numbers}"),
        _ => format!("the {} of {of} was {numbers}", quantity(&check.quantity)),
    }
}

/// ` at 4 KiB with place=cross`
fn at_level(part: &JudgedPart) -> String {
    let pairs = part.level.iter().flat_map(|level| level.split(", "));
    let word = |pair: &str| match pair.split_once('=') {
        Some(("payload" | "field", size)) => {
            format!(" at {}", size.parse().map_or(size.to_owned(), bytes))
        }
        _ => format!(" with {pair}"),
    };
    pairs.map(word).collect()
}

/// At which levels a claim holds: `A takes less than B: at 256 bytes and 1 KiB; not at 64 KiB.`
pub fn by_level(sentence: &str, parts: &[JudgedPart]) -> String {
    let all = [(Ruling::Holds, ""), (Ruling::Fails, "not "), (Ruling::Undecided, "undecided ")];
    let at = |(verdict, word): (Ruling, &str)| {
        let parts = parts.iter().filter(|part| part.verdict == Some(verdict));
        let level = |part| Some(at_level(part)).filter(|level| !level.is_empty());
        let level = |part| level(part).map_or("here".to_owned(), |of| of.trim().to_owned());
        let levels = listed(&distinct(parts.map(level)));
        let once = levels.replace(", at ", ", ").replace(" and at ", " and ");
        (!levels.is_empty()).then(|| format!("{word}{once}"))
    };
    format!("{sentence}: {}.", all.into_iter().filter_map(at).collect::<Vec<_>>().join("; "))
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

/// What explains the numbers of these cases, and their most telling finding, from which it follows.
pub fn cause<'a>(of: &[&String], findings: &'a [Finding]) -> Option<(String, &'a Finding)> {
    let is_of = |found: &&Finding| found.case.as_ref().is_some_and(|id| of.contains(&id));
    let first = |code: &Code| findings.iter().filter(is_of).find(|found| found.code == *code);
    let found = TELLING.iter().find_map(first)?;
    let evidence = found.evidence.trim_end_matches('.');
    let inner = evidence.strip_prefix("The ").map(|rest| format!("the {rest}"));
    Some((inner.unwrap_or_else(|| evidence.to_owned()), found))
}
