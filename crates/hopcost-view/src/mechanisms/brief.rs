//! The list of mechanisms for a terminal: a line each, so that all are seen at once.

use hopcost_model::describe::RuntimeFacts;
use hopcost_model::group::grouped;
use hopcost_model::mechanism::Mechanism;

use crate::section::model::{Cell, Document, Rows, notes, repeated, words};
use crate::style::{TextStyle, width_of};

/// Longest text of what a mechanism is, for which 80 columns have room beside everything else.
const ABOUT_MAX: usize = 35;
/// What the other columns take, with the longest names that are in them.
const OTHERS: usize = 2 + 13 + 2 + 18 + 2 + 2;
/// Heading of the runtimes by their names.
const SPELLED: &str = "also in";
/// What notes may stand in from the left.
const HANGING: usize = 2;

/// The list as a document.
pub(super) fn list(
    mechanisms: &[Mechanism],
    runtimes: &[RuntimeFacts],
    style: &TextStyle,
) -> Document {
    let groups = grouped(mechanisms, |mechanism| group(&mechanism.family).to_owned());
    let rows: Vec<(String, &Mechanism)> = groups
        .into_iter()
        .flat_map(|(group, members)| members.into_iter().map(move |row| (group.clone(), row)))
        .collect();
    let here: Vec<&RuntimeFacts> = runtimes.iter().filter(|facts| facts.state.is_ok()).collect();
    let names: Vec<&str> = here.iter().map(|facts| facts.runtime.word()).collect();
    let room = style.columns().saturating_sub(OTHERS + ABOUT_MAX);
    let spelled = width_of(&names.join(" ")).max(SPELLED.len()) <= room;
    let marks = if spelled { names.clone() } else { initials(&names) };
    let table = Rows::of(&rows)
        .column(repeated("group"), |(group, _)| Cell::text(group))
        .column(words("mechanism"), |(_, row)| Cell::code(&row.name))
        .column(words("what it is"), |(_, row)| Cell::text(is(row, style)))
        .column(words(if spelled { SPELLED } else { "also" }), |(_, row)| {
            let has = here.iter().zip(&marks).filter(|(facts, _)| has(facts, &row.name));
            let has: Vec<&str> = has.map(|(_, mark)| *mark).collect();
            Cell::text(has.join(if spelled { " " } else { "" }))
        });
    let mut below: Vec<String> = Vec::new();
    if !spelled {
        let legend = names.iter().zip(&marks).map(|(name, mark)| format!("{mark} {name}"));
        below.push(format!("Also in: {}.", legend.collect::<Vec<_>>().join(", ")));
    }
    below.extend(own(mechanisms, &here));
    let absent = runtimes.iter().filter_map(|facts| Some((facts, facts.state.as_ref().err()?)));
    below.extend(absent.map(|(facts, reason)| {
        let line = format!("Absent: {}: {reason}", facts.runtime);
        clipped(&line, style.columns() - HANGING, style)
    }));
    below.push(count(mechanisms));
    let mut head = vec![table.table()];
    head.extend(notes(below));
    Document { head, ..Document::default() }
}

/// What families have in common: what somebody looks for who knows no name.
fn group(family: &str) -> &str {
    match family {
        "call" => "calls",
        "notifier" => "notifications",
        "pipe" | "unix socket" | "message queue" | "channel" => "messages",
        "inet socket" | "websocket" => "network",
        "inet stream" | "unix stream" | "memory of another process" | "shared memory stream" => {
            "streams"
        }
        family => family,
    }
}

/// What a mechanism is, or why it cannot be measured here.
fn is(mechanism: &Mechanism, style: &TextStyle) -> String {
    let text = match &mechanism.unavailable {
        None => mechanism.words.about.clone(),
        Some(reason) => format!("not here: {reason}"),
    };
    clipped(&text, ABOUT_MAX, style)
}

/// The beginning of a text that is too long.
fn clipped(text: &str, most: usize, style: &TextStyle) -> String {
    let text = style.clean(text);
    if width_of(&text) <= most {
        return text;
    }
    let more = style.pick("…", "..");
    let mut kept = String::new();
    for c in text.chars() {
        if width_of(&kept) + width_of(c.encode_utf8(&mut [0; 4])) + width_of(more) > most {
            break;
        }
        kept.push(c);
    }
    kept.trim_end().to_owned() + more
}

/// Whether a mechanism of this name can be measured in a runtime.
fn has(facts: &RuntimeFacts, name: &str) -> bool {
    facts.mechanism(name).is_some_and(|row| row.unavailable.is_none())
}

/// The shortest beginnings that tell names apart.
fn initials<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let of = |name: &&'a str| {
        let ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut starts = ends.map(|end| &name[..end]);
        let alone = |start: &&str| names.iter().filter(|n| n.starts_with(*start)).count() == 1;
        starts.find(alone).unwrap_or(name)
    };
    names.iter().map(of).collect()
}

/// What runtimes have and Rust has not, in a sentence.
fn own(mechanisms: &[Mechanism], here: &[&RuntimeFacts]) -> Option<String> {
    let of = |facts: &&RuntimeFacts| {
        let all = facts.state.iter().flat_map(|described| &described.mechanisms);
        let own = all.filter(|row| !mechanisms.iter().any(|known| known.name == row.name));
        let (usable, not): (Vec<&Mechanism>, Vec<&Mechanism>) =
            own.partition(|row| row.unavailable.is_none());
        let named = |rows: &[&Mechanism]| {
            rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut text = named(&usable);
        if !not.is_empty() {
            text.push_str(&format!(" (not here: {})", named(&not)));
        }
        (!text.is_empty()).then(|| format!("{}: {}", facts.runtime, text.trim()))
    };
    let all: Vec<String> = here.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("Runtimes' own: {}.", all.join("; ")))
}

/// How many there are, and where to read on.
fn count(mechanisms: &[Mechanism]) -> String {
    let here = mechanisms.iter().filter(|mechanism| mechanism.unavailable.is_none()).count();
    let here = match here == mechanisms.len() {
        true => "all can be measured here".to_owned(),
        false => format!("{here} can be measured here"),
    };
    format!(
        "{} mechanisms, {here}. `hopcost show NAME` describes one, `hopcost worker list` tells \
         where the other runtimes are.",
        mechanisms.len()
    )
}
