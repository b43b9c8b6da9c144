//! Mechanisms for documents.

use hopcost_model::mechanism::Facts;

use super::{
    boundaries, count, counts, families, kind, operation, payload, prose, reasons, row, waits,
};
use crate::markdown::{code, escape};

/// Whether to say if a mechanism can be used on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Here {
    Asked,
    /// Documents must be the same on every machine.
    Omitted,
}

/// The reference page of all mechanisms but the hidden ones: a table, then a
/// section for each. It does not depend on the machine.
pub fn reference(mechanisms: &[&Facts]) -> String {
    let shown: Vec<&Facts> = mechanisms.iter().copied().filter(|facts| !facts.hidden).collect();
    let mut out = table(&shown, Here::Omitted);
    for (_, members) in families(&shown) {
        for facts in members {
            out.push('\n');
            out.push_str(&show(facts, Here::Omitted));
        }
    }
    out
}

pub(super) fn table(mechanisms: &[&Facts], here: Here) -> String {
    let mut head = vec![
        "mechanism",
        "family",
        "shape",
        "boundaries",
        "waits",
        "payload",
        "system calls",
        "about",
    ];
    if here == Here::Asked {
        head.push("here");
    }
    let mut out = row(head.iter().map(|text| (*text).to_owned()));
    out.push_str(&row(head.iter().map(|_| "---".to_owned())));
    for (family, members) in families(mechanisms) {
        for facts in members {
            let mut cells = vec![
                code(facts.name),
                escape(family),
                facts.shape.word().to_owned(),
                boundaries(facts),
                waits(facts),
                payload(facts),
                system_calls(facts),
                escape(facts.about),
            ];
            if here == Here::Asked {
                cells.push(match (facts.available)() {
                    Ok(()) => "yes".to_owned(),
                    Err(reason) => escape(&format!("no: {reason}")),
                });
            }
            out.push_str(&row(cells));
        }
    }
    out
}

/// System calls in one operation under the default wait.
fn system_calls(facts: &Facts) -> String {
    let calls = facts.call_system_calls.or(facts.waits.first().map(|wait| wait.system_calls));
    calls.map(count).unwrap_or_default()
}

pub(super) fn show(facts: &Facts, here: Here) -> String {
    let mut out = format!("## {}\n\n{}\n\n", facts.name, escape(facts.about));
    out.push_str(&format!("*{}.*", escape(&kind(facts))));
    if here == Here::Asked {
        out.push_str(&match (facts.available)() {
            Ok(()) => " Available here.".to_owned(),
            Err(reason) => format!(" Not available here: {}.", escape(&reason)),
        });
    }
    out.push_str("\n\n");
    for (heading, text) in prose(facts) {
        out.push_str(&format!("- **{heading}:** {}\n", escape(&text)));
    }
    if !facts.sources.is_empty() {
        out.push_str(&format!("- **See:** {}\n", sources(facts)));
    }
    let rows = counts(facts);
    if rows.is_empty() {
        return out;
    }
    out.push_str(&format!(
        "\nIn one {}, both ends together and both waiting this way:\n\n",
        operation(facts)
    ));
    let head = ["wait", "system calls", "switches, one CPU", "switches, two CPUs"];
    out.push_str(&row(head.map(str::to_owned)));
    out.push_str("| --- | ---: | ---: | ---: |\n");
    for [wait, calls, one, two] in rows {
        out.push_str(&row([code(&wait), calls, one, two]));
    }
    let reasons = reasons(facts);
    if !reasons.is_empty() {
        out.push('\n');
    }
    for reason in reasons {
        out.push_str(&format!("- {}\n", escape(&reason)));
    }
    out
}

/// Man pages and other sources; an address stands as it is.
fn sources(facts: &Facts) -> String {
    let shown = facts.sources.iter().map(|source| match source.starts_with("https://") {
        true => format!("<{source}>"),
        false => escape(source),
    });
    shown.collect::<Vec<_>>().join(", ")
}
