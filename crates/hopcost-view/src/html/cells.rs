//! Values as markup.

use hopcost_model::Severity;

use crate::markup::{Esc, put};
use crate::number::Shown;
use crate::section::finding_id;
use crate::section::model::{Cell, Kind, What};

/// What stands where there is no number, and where there are no words.
const NONE: [&str; 2] = ["<td class=\"n none\">–</td>", "<td class=\"none\">–</td>"];

/// What stands before an estimate that was pooled.
const POOLED: &str = "<small>pooled</small> ";

/// A cell of a table; an estimate takes two, so that values end below each other. The first of a row
/// names it, and has what stands below the row.
pub(super) fn cell(out: &mut String, cell: &Cell, kind: Kind, label: &str, below: Option<String>) {
    let (tag, end) = if below.is_some() { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let below = below.unwrap_or_default();
    let title = cell.hint.as_ref().map_or(String::new(), |h| format!(" title=\"{}\"", Esc(h)));
    let sort = match cell.key {
        Some(key) if key.is_finite() => format!(" data-v=\"{}\"", rounded(key)),
        _ => String::new(),
    };
    let class = match (kind.is_words(), cell.what) {
        (true, _) => "",
        (_, What::Words) => " class=\"n none\"",
        _ => " class=\"n\"",
    };
    match (kind, cell.what) {
        _ if cell.is_empty() => {
            out.push_str(NONE[usize::from(kind.is_words())]);
            out.push_str(if kind == Kind::Estimate { NONE[0] } else { "" });
        }
        (Kind::Estimate, What::Number) => {
            let text = linked(&amount(&cell.shown), cell.case);
            let pooled = cell.mark(POOLED);
            put!(out, "<{tag}{label}{class}{sort}{title}>{pooled}{text}{below}</{end}>");
            match &cell.shown.interval {
                Some(interval) => put!(out, "<td class=\"n iv\">{}</td>", Esc(interval)),
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
