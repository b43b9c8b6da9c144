//! Values as markup.

use hopcost_model::Severity;

use crate::markup::{Esc, put};
use crate::number::Shown;
use crate::section::finding_id;
use crate::section::model::{Cell, Kind, What};

/// What stands before an estimate that was pooled.
const POOLED: &str = "<small>pooled</small> ";

/// A cell of a table. The first of a row names it, and has what stands below the row.
pub(super) fn cell(out: &mut String, cell: &Cell, kind: Kind, label: &str, below: Option<String>) {
    let class = match (kind, cell.what) {
        (Kind::Words | Kind::Repeated, What::Empty) => " class=\"none\"",
        (Kind::Words | Kind::Repeated, _) => "",
        (_, What::Empty | What::Words) => " class=\"n none\"",
        (Kind::Estimate, _) => " class=\"n e\"",
        (Kind::Number, _) => " class=\"n\"",
    };
    if cell.is_empty() {
        put!(out, "<td{class}>–</td>");
        return;
    }
    let (tag, end) = if below.is_some() { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let sort = match cell.key {
        // An order needs no more digits.
        Some(key) if key.is_finite() => format!(" data-v=\"{key:.6e}\""),
        _ => String::new(),
    };
    let below = below.unwrap_or_default();
    put!(out, "<{tag}{label}{class}{sort}>{}{below}</{end}>", inline(cell));
}

/// A cell in a line.
pub(super) fn inline(cell: &Cell) -> String {
    let written = amount(&cell.shown);
    let text = match cell.what {
        What::Code => format!("<span class=\"case\">{written}</span>"),
        What::Verdict(bad) => {
            let class = bad.map_or("valid", Severity::word);
            format!("<span class=\"v-{class}\">{written}</span>")
        }
        What::Finding(severity) => {
            let id = finding_id(&cell.shown.value, severity);
            format!("<a class=\"code\" href=\"#{id}\">{written}</a>")
        }
        _ => written,
    };
    let interval = cell.shown.interval.as_ref();
    let interval = interval
        .map_or(String::new(), |interval| format!(" <span class=\"iv\">{}</span>", Esc(interval)));
    format!("{}{}{interval}", cell.mark(POOLED), linked(&text, cell.case))
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
