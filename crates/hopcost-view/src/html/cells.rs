//! Values as markup.

use hopcost_model::finding::Severity;

use crate::markup::{Esc, put};
use crate::number::Shown;
use crate::section::finding_id;
use crate::section::model::{Cell, Kind, Value};

/// What stands where there is no number, and where there are no words.
const NONE: [&str; 2] = ["<td class=\"n none\">–</td>", "<td class=\"none\">–</td>"];

/// What stands before an estimate that was pooled.
const POOLED: &str = "<small>pooled</small> ";

/// Where a cell stands in its row.
#[derive(Debug, Clone)]
pub(super) enum Place<'a> {
    /// First: it names the row; with what it is where it is a number and carries that along, and
    /// with what stands below it.
    Head(Option<&'a str>, String),
    /// Below the head of its column.
    Under,
    /// Below this head, which it carries along to where the row is a card.
    Labelled(&'a str),
    /// The same, the first in its row of those that have a heading in common: with that.
    Begins(String),
}

/// A cell of a table; an estimate takes two, so that values end below each other.
pub(super) fn cell(out: &mut String, cell: &Cell, kind: Kind, place: Place<'_>) {
    let (tag, end) = match place {
        Place::Head(..) => ("th scope=\"row\"", "th"),
        _ => ("td", "td"),
    };
    let label = |head: &str| format!(" data-l=\"{}\"", Esc(head));
    let label = match &place {
        Place::Head(None, _) | Place::Under => String::new(),
        Place::Head(Some(head), _) | Place::Labelled(head) => label(head),
        Place::Begins(whole) => label(whole) + " data-g=\"\"",
    };
    let below = if let Place::Head(_, below) = &place { below } else { "" };
    let title = cell.hint.as_ref().map_or(String::new(), |h| format!(" title=\"{}\"", Esc(h)));
    let sort = match cell.value.key() {
        Some(key) if key.is_finite() => format!(" data-v=\"{}\"", rounded(key)),
        _ => String::new(),
    };
    let class = match (kind.is_words(), &cell.value) {
        (true, _) => "",
        (_, Value::Words(_)) => " class=\"n none\"",
        _ => " class=\"n\"",
    };
    match (kind, cell.value.shown()) {
        _ if cell.is_empty() => {
            out.push_str(NONE[usize::from(kind.is_words())]);
            out.push_str(if kind == Kind::Estimate { NONE[0] } else { "" });
        }
        (Kind::Estimate, Some(shown)) => {
            let text = linked(&amount(&shown), cell.case);
            let pooled = cell.value.mark(POOLED);
            put!(out, "<{tag}{label}{class}{sort}{title}>{pooled}{text}{below}</{end}>");
            match &shown.interval {
                Some(interval) => {
                    put!(out, "<td class=\"n iv\">{}</td>", Esc(interval));
                }
                None => out.push_str(NONE[0]),
            }
        }
        _ => {
            put!(out, "<{tag}{label}{class}{sort}{title}>{}{below}</{end}>", inline(cell));
            out.push_str(if kind == Kind::Estimate { NONE[0] } else { "" });
        }
    }
}

/// A number to sort by, with the digits that an order can need.
fn rounded(key: f64) -> f64 {
    format!("{key:.6e}").parse().unwrap_or(key)
}

/// A cell in a line.
pub(super) fn inline(cell: &Cell) -> String {
    let text = match &cell.value {
        Value::Empty => String::new(),
        Value::Words(text) => Esc(text).to_string(),
        Value::Code(text) => format!("<span class=\"case\">{}</span>", Esc(text)),
        Value::Verdict(bad, word) => {
            let class = bad.map_or("valid", Severity::word);
            format!("<span class=\"v-{class}\">{word}</span>")
        }
        Value::Finding(code, severity) => {
            let id = finding_id(*code, *severity);
            format!("<a class=\"code\" href=\"#{id}\">{code}</a>")
        }
        value => {
            let Some(shown) = value.shown() else { return String::new() };
            let pooled = value.mark(POOLED);
            let interval = shown.interval.as_deref();
            let interval = interval.map_or(String::new(), |interval| {
                format!(" <span class=\"iv\">{}</span>", Esc(interval))
            });
            return format!("{pooled}{}{interval}", linked(&amount(&shown), cell.case));
        }
    };
    linked(&text, cell.case)
}

/// The value, its unit apart so that digits stand below each other.
fn amount(shown: &Shown) -> String {
    match shown.unit.as_str() {
        "" => Esc(&shown.value).to_string(),
        unit => format!("{}<i> {}</i>", Esc(&shown.value), Esc(unit)),
    }
}

/// A text as a link to a case's details, where there is one.
fn linked(markup: &str, case: Option<usize>) -> String {
    match case {
        Some(case) => format!("<a href=\"#case-{case}\">{markup}</a>"),
        None => markup.to_owned(),
    }
}
