//! What is known of the mechanisms, from their one row in the registry.

mod json;
mod markdown;
mod runtimes;
mod text;

use hopcost_model::case::Workload;
use hopcost_model::describe::RuntimeFacts;
use hopcost_model::mechanism::{Facts, Payload, PerOperation};

use crate::style::TextStyle;

pub use markdown::reference;

/// How to show mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For the terminal.
    Text(TextStyle),
    /// For programs.
    Json,
    /// For documents.
    Markdown,
}

/// All mechanisms but the hidden ones by family, in the order given, with
/// whether each can be used here, and below them what other runtimes have. Asks
/// each whether it is available, which may open and close something in the kernel.
pub fn list(mechanisms: &[&Facts], runtimes: &[RuntimeFacts], format: Format) -> String {
    let shown: Vec<&Facts> = mechanisms.iter().copied().filter(|facts| !facts.hidden).collect();
    match format {
        Format::Text(style) => {
            text::list(&shown, &style) + &runtimes::text_list(&shown, runtimes, &style)
        }
        Format::Json => json::list(&shown, runtimes),
        Format::Markdown => {
            let table = markdown::table(&shown, markdown::Here::Asked);
            table + &runtimes::markdown_list(&shown, runtimes)
        }
    }
}

/// Everything known of one mechanism: of Rust's, and of what other runtimes have by
/// this name. `None` if none has it.
pub fn show(
    name: &str,
    facts: Option<&Facts>,
    runtimes: &[RuntimeFacts],
    format: Format,
) -> Option<String> {
    let rows = runtimes::rows(name, runtimes);
    if facts.is_none() && rows.is_empty() {
        return None;
    }
    let carried = runtimes::carried(name, runtimes);
    let others = (rows.as_slice(), carried.as_slice());
    Some(match format {
        Format::Text(style) => {
            facts.map_or(String::new(), |facts| text::show(facts, &style))
                + &runtimes::text_rows(name, facts.is_none(), others, &style)
        }
        Format::Json => json::show(facts, &rows),
        Format::Markdown => {
            facts.map_or(String::new(), |facts| markdown::show(facts, markdown::Here::Asked))
                + &runtimes::markdown_rows(name, facts.is_none(), others)
        }
    })
}

/// Mechanisms by family, both in the order in which they first occur.
fn families<'a>(mechanisms: &[&'a Facts]) -> Vec<(&'static str, Vec<&'a Facts>)> {
    let mut families: Vec<(&'static str, Vec<&Facts>)> = Vec::new();
    for &facts in mechanisms {
        match families.iter_mut().find(|(family, _)| *family == facts.family) {
            Some((_, members)) => members.push(facts),
            None => families.push((facts.family, vec![facts])),
        }
    }
    families
}

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> String {
    all.iter().map(|&item| word(item)).collect::<Vec<_>>().join(", ")
}

fn workloads(facts: &Facts) -> String {
    words(facts.workloads, Workload::word)
}

fn boundaries(facts: &Facts) -> String {
    words(facts.boundaries, |boundary| boundary.word())
}

/// The waits, the default first.
fn waits(facts: &Facts) -> String {
    words(facts.waits, |facts| facts.wait.word())
}

fn payload(facts: &Facts) -> String {
    match facts.payload {
        Payload::None => "none".to_owned(),
        Payload::Bytes { min, max, default } => bytes(min, max, default),
    }
}

fn bytes(min: u32, max: u32, default: u32) -> String {
    let size = |bytes: u32| match hopcost_model::units::format_size(u64::from(bytes)) {
        text if text.ends_with('B') => text,
        text => format!("{text} bytes"),
    };
    format!("{min} to {}, {default} by default", size(max))
}

fn count(count: PerOperation) -> String {
    match count {
        PerOperation::Exactly(n) => n.to_string(),
        PerOperation::Between(low, high, _) if high.is_infinite() => format!("{low} or more"),
        PerOperation::Between(low, high, _) => format!("{low} to {high}"),
    }
}

fn because(count: PerOperation) -> Option<&'static str> {
    match count {
        PerOperation::Exactly(_) => None,
        PerOperation::Between(_, _, reason) => Some(reason),
    }
}

/// Family and shape, said once where they are the same word.
fn kind(facts: &Facts) -> String {
    match facts.shape.word() {
        shape if shape == facts.family => shape.to_owned(),
        shape => format!("{}, {shape}", facts.family),
    }
}

/// What one operation is called.
fn operation(facts: &Facts) -> &'static str {
    // The counts are of the first of these that the mechanism takes part in.
    let named = [
        (Workload::Roundtrip, "round trip"),
        (Workload::Stream, "message"),
        (Workload::Wake, "wake-up"),
    ];
    let found = named.iter().find(|(workload, _)| facts.workloads.contains(workload));
    found.map_or("call", |(_, name)| name)
}

/// The facts in prose: heading and text.
fn prose(facts: &Facts) -> Vec<(&'static str, String)> {
    let mut prose = vec![
        ("What crosses", facts.crosses.to_owned()),
        ("Who copies", facts.copies.to_owned()),
        ("Who wakes", facts.wakes.to_owned()),
        ("Between two stamps", facts.between_stamps.to_owned()),
        ("Limits", facts.limits.to_owned()),
        ("Workloads", workloads(facts)),
        ("Boundaries", boundaries(facts)),
        ("Payload", payload(facts)),
    ];
    if !facts.waits.is_empty() {
        prose.push(("Waits", format!("{} (the first is the default)", waits(facts))));
    }
    if let Some(calls) = facts.call_system_calls {
        let reason = because(calls).map(|reason| format!(" ({reason})")).unwrap_or_default();
        prose.push(("System calls", format!("{} in one call{reason}", count(calls))));
    }
    for parameter in facts.parameters {
        let values = parameter.values.join(", ");
        let text = format!(
            "{}: {}; one of {values}; {} by default",
            parameter.name, parameter.about, parameter.default
        );
        prose.push(("Parameter", text));
    }
    prose.retain(|(_, text)| !text.is_empty());
    prose
}

/// The counts by wait: wait, system calls, switches on one CPU, on two.
fn counts(facts: &Facts) -> Vec<[String; 4]> {
    facts
        .waits
        .iter()
        .map(|wait| {
            [
                wait.wait.word().to_owned(),
                count(wait.system_calls),
                count(wait.switches_one_cpu),
                count(wait.switches_two_cpus),
            ]
        })
        .collect()
}

/// Why counts are ranges: which, for which waits, and the reason; each reason once.
fn reasons(facts: &Facts) -> Vec<String> {
    let mut reasons: Vec<(&'static str, Vec<String>)> = Vec::new();
    for wait in facts.waits {
        for (what, count) in [
            ("system calls", wait.system_calls),
            ("switches on one CPU", wait.switches_one_cpu),
            ("switches on two CPUs", wait.switches_two_cpus),
        ] {
            let Some(reason) = because(count) else { continue };
            let place = format!("{what} of {}", wait.wait);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, places)) => places.push(place),
                None => reasons.push((reason, vec![place])),
            }
        }
    }
    reasons.into_iter().map(|(reason, places)| format!("{}: {reason}", places.join(", "))).collect()
}

/// A row of a Markdown table.
fn row(cells: impl IntoIterator<Item = String>) -> String {
    format!("| {} |\n", cells.into_iter().collect::<Vec<_>>().join(" | "))
}
