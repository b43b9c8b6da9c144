//! What other runtimes have: below the list of mechanisms, and below what is shown
//! of one.

use hopcost_model::case::Runtime;
use hopcost_model::describe::{Description, RuntimeFacts};
use hopcost_model::mechanism::{Facts, Mechanism, Peers};

use super::{bytes, row, words};
use crate::markdown::{code, escape};
use crate::style::{Align, Paint, TextStyle, pad, width_of};

/// Where no worker was found at all.
const NONE: &str = "none was found; build them in a copy of hopcost's source with scripts/setup \
                    workers, and set HOPCOST_WORKERS to the absolute path of its folder workers";

/// A mechanism as one runtime has it.
pub(super) struct Row<'a> {
    pub runtime: &'a Runtime,
    pub mechanism: &'a Mechanism,
}

/// What runtimes have by a name.
pub(super) fn rows<'a>(name: &str, runtimes: &'a [RuntimeFacts]) -> Vec<Row<'a>> {
    let found = runtimes.iter().filter_map(|facts| {
        Some(Row { runtime: &facts.runtime, mechanism: facts.mechanism(name)? })
    });
    found.collect()
}

/// What goes over a mechanism in other runtimes, and is not called so: `tcp-asyncio
/// in python`.
pub(super) fn carried(name: &str, runtimes: &[RuntimeFacts]) -> Vec<String> {
    let mut carried = Vec::new();
    for facts in runtimes {
        let all = facts.state.iter().flat_map(|described| &described.mechanisms);
        for row in all.filter(|row| row.carrier.as_deref() == Some(name) && row.name != name) {
            carried.push(format!("{} in {}", row.name, facts.runtime));
        }
    }
    carried
}

/// What a runtime has that is not among these.
pub(super) fn besides<'a>(runtime: &'a RuntimeFacts, mechanisms: &[&Facts]) -> Vec<&'a Mechanism> {
    let all = runtime.state.iter().flat_map(|described| &described.mechanisms);
    all.filter(|row| !mechanisms.iter().any(|facts| facts.name == row.name)).collect()
}

/// What it has that is among them, by name.
fn shared<'a>(described: &'a Description, mechanisms: &[&Facts]) -> Vec<&'a str> {
    let all = described.mechanisms.iter().map(|row| row.name.as_str());
    all.filter(|name| mechanisms.iter().any(|facts| facts.name == *name)).collect()
}

/// What it is made of: the language first, then libraries.
fn made_of(described: &Description) -> String {
    let part = |name: &str, version: &str| match name {
        // The version says itself what it is of (`GCC 12.2.0`).
        _ if version.contains(char::is_alphabetic) && name == described.runtime => {
            version.to_owned()
        }
        name => format!("{name} {version}"),
    };
    let language = described.libraries.get_key_value(&described.runtime);
    let others = described.libraries.iter().filter(|(name, _)| **name != described.runtime);
    let parts: Vec<String> =
        language.into_iter().chain(others).map(|(name, version)| part(name, version)).collect();
    if parts.is_empty() { format!("worker {}", described.version) } else { parts.join(", ") }
}

/// In a line: what it is, with the reason if it cannot be used.
fn about(row: &Mechanism) -> String {
    match &row.unavailable {
        None => row.about.clone(),
        Some(reason) => format!("{} (not available here: {reason})", row.about),
    }
}

/// Boundaries, waits, sizes and the rest that fits a line.
fn form(row: &Mechanism) -> String {
    let mut parts = vec![
        words(&row.workloads, |workload| workload.word()),
        words(&row.boundaries, |boundary| boundary.word()),
        words(&row.waits, |wait| wait.word()),
        match row.payload {
            Some(range) => format!("payload {}", bytes(range.min, range.max, range.default)),
            None => "payload none".to_owned(),
        },
    ];
    for parameter in &row.parameters {
        let values = parameter.values.join("|");
        parts.push(format!("{}={values}, {} by default", parameter.name, parameter.default));
    }
    if let Some(calls) = row.system_calls {
        parts.push(match calls.min == calls.max {
            true => format!("{} system calls in one operation", calls.min),
            false => format!("{} to {} system calls in one operation", calls.min, calls.max),
        });
    }
    parts.push(match (row.peers, row.carrier.as_deref()) {
        (Peers::Own, _) => "both ends of this runtime".to_owned(),
        (Peers::Any, None) => "the other end may be of any runtime".to_owned(),
        (Peers::Any, Some(carrier)) => {
            format!("the other end may be of any runtime, and plays {carrier}")
        }
    });
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// What is said at length.
fn prose(row: &Mechanism) -> Vec<(&'static str, &str)> {
    let mut prose = vec![
        ("What crosses", row.crosses.as_str()),
        ("Who copies", &row.copies),
        ("Who wakes", &row.wakes),
        ("Between two stamps", &row.between_stamps),
        ("Limits", &row.limits),
    ];
    prose.retain(|(_, text)| !text.is_empty());
    prose
}

/// The table below the list, for the terminal.
pub(super) fn text_list(
    mechanisms: &[&Facts],
    runtimes: &[RuntimeFacts],
    style: &TextStyle,
) -> String {
    let mut out = String::from("\n");
    out.push_str(&style.paint(Paint::Bold, "other runtimes"));
    out.push('\n');
    if runtimes.is_empty() {
        style.paragraph(&mut out, "  ", "  ", NONE);
        return out;
    }
    let name = widest(runtimes.iter().map(|facts| facts.runtime.word()));
    let own = |facts| besides(facts, mechanisms);
    let names = widest(runtimes.iter().flat_map(own).map(|row| row.name.as_str()));
    for facts in runtimes {
        let indent = " ".repeat(name + 4);
        let head = style.paint(Paint::Cyan, &pad(facts.runtime.word(), name, Align::Left));
        let mut lines = String::new();
        match &facts.state {
            Err(reason) => {
                let mut text = String::new();
                style.paragraph(&mut text, &indent, &indent, &format!("absent: {reason}"));
                paint_lines(&mut lines, Paint::Yellow, text.trim_start(), style);
            }
            Ok(described) => {
                style.paragraph(&mut lines, &indent, &indent, &made_of(described));
                let shared = shared(described, mechanisms);
                let mut text = String::new();
                let has = match shared.as_slice() {
                    [] => "has none of the above".to_owned(),
                    names => format!("has {} of the above: {}", names.len(), names.join(", ")),
                };
                style.paragraph(&mut text, &indent, &indent, &has);
                for row in own(facts) {
                    let label = pad(&style.clean(&row.name), names, Align::Left);
                    let below = " ".repeat(name + names + 6);
                    style.paragraph(&mut text, &format!("{indent}{label}  "), &below, &about(row));
                }
                paint_lines(&mut lines, Paint::Dim, &text, style);
            }
        }
        out.push_str(&format!("  {head}  "));
        out.push_str(lines.trim_start());
    }
    out
}

fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(width_of).max().unwrap_or(0)
}

fn paint_lines(out: &mut String, paint: Paint, text: &str, style: &TextStyle) {
    for line in text.lines() {
        out.push_str(&style.paint(paint, line));
        out.push('\n');
    }
}

/// A mechanism in other runtimes, for the terminal; under its name where Rust has it
/// not.
pub(super) fn text_rows(
    name: &str,
    alone: bool,
    (rows, carried): (&[Row], &[String]),
    style: &TextStyle,
) -> String {
    let mut out = String::new();
    if alone {
        out.push_str(&style.paint(Paint::Bold, &style.clean(name)));
        out.push_str(" (not in Rust)\n");
    }
    for row in rows {
        out.push('\n');
        let head = format!("In {}: ", row.runtime);
        let indent = "  ";
        let mut lines = String::new();
        style.paragraph(&mut lines, &" ".repeat(width_of(&head)), indent, &about(row.mechanism));
        out.push_str(&style.paint(Paint::Bold, head.trim_end()));
        out.push(' ');
        out.push_str(lines.trim_start());
        let mut text = String::new();
        style.paragraph(&mut text, indent, indent, &form(row.mechanism));
        paint_lines(&mut out, Paint::Dim, &text, style);
        for (heading, text) in prose(row.mechanism) {
            style.paragraph(&mut out, indent, indent, &format!("{heading}: {text}"));
        }
        if !row.mechanism.sources.is_empty() {
            let see = format!("See: {}", row.mechanism.sources.join(", "));
            style.paragraph(&mut out, indent, indent, &see);
        }
    }
    if !carried.is_empty() {
        out.push('\n');
        style.paragraph(&mut out, "", "", &format!("Goes over it: {}", carried.join(", ")));
    }
    out
}

/// The table below the list, for documents.
pub(super) fn markdown_list(mechanisms: &[&Facts], runtimes: &[RuntimeFacts]) -> String {
    if runtimes.is_empty() {
        return format!("\nOther runtimes: {}.\n", escape(NONE));
    }
    let mut out = String::from("\n");
    let head = ["runtime", "made of", "has of the above", "has besides", "here"];
    out.push_str(&row(head.map(str::to_owned)));
    out.push_str(&row(head.map(|_| "---".to_owned())));
    for facts in runtimes {
        let own: Vec<String> =
            besides(facts, mechanisms).iter().map(|row| code(&row.name)).collect();
        let (made_of, shared, here) = match &facts.state {
            Ok(described) => {
                let shared = shared(described, mechanisms);
                let shared: Vec<String> = shared.into_iter().map(code).collect();
                (escape(&made_of(described)), shared.join(", "), "yes".to_owned())
            }
            Err(reason) => (String::new(), String::new(), escape(&format!("no: {reason}"))),
        };
        out.push_str(&row([code(facts.runtime.word()), made_of, shared, own.join(", "), here]));
    }
    out
}

/// A mechanism in other runtimes, for documents.
pub(super) fn markdown_rows(
    name: &str,
    alone: bool,
    (rows, carried): (&[Row], &[String]),
) -> String {
    let mut out = String::new();
    if alone {
        out.push_str(&format!("## {}\n\n*Not in Rust.*\n", escape(name)));
    }
    for row in rows {
        let name = escape(row.runtime.word());
        out.push_str(&format!("\n### In {name}\n\n{}\n\n", escape(&about(row.mechanism))));
        out.push_str(&format!("- **Form:** {}\n", escape(&form(row.mechanism))));
        for (heading, text) in prose(row.mechanism) {
            out.push_str(&format!("- **{heading}:** {}\n", escape(text)));
        }
        if !row.mechanism.sources.is_empty() {
            let sources: Vec<String> = row.mechanism.sources.iter().map(|s| escape(s)).collect();
            out.push_str(&format!("- **See:** {}\n", sources.join(", ")));
        }
    }
    if !carried.is_empty() {
        out.push_str(&format!("\nGoes over it: {}.\n", escape(&carried.join(", "))));
    }
    out
}
