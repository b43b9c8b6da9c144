//! The report of a fleet in every format.

use std::collections::HashMap;

use hopcost_model::fleet::{IndexedEstimate, RawFleet};
use hopcost_model::results::{FleetHost, FleetReport, HostValue, PairValue};

use crate::csv::{self, push_row};
use crate::section::fleet::{self, PAGE, SCREEN, WHOLE};
use crate::section::fleet_host;
use crate::style::TextStyle;
use crate::{html, markdown, text as terminal};

/// On one screen.
pub fn text(found: &FleetReport, style: &TextStyle) -> String {
    terminal::document(&fleet::document(found, SCREEN), style)
}

/// All of it as text.
pub fn details(found: &FleetReport, style: &TextStyle) -> String {
    terminal::document(&fleet::document(found, WHOLE), style)
}

/// As Markdown.
pub fn markdown(found: &FleetReport) -> String {
    markdown::document(&fleet::document(found, WHOLE))
}

/// As a page, which leads to `hosts/NAME.html`.
pub fn html(found: &FleetReport) -> String {
    let document = fleet::document(found, PAGE);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

/// The page of one host.
pub fn host_html(found: &FleetReport, host: &FleetHost) -> String {
    let document = fleet_host::document(found, host);
    html::page(&document, &document.title, env!("CARGO_PKG_VERSION"), "")
}

/// A row of the table for programs: a statistic of a case on a host or a pair; one without a statistic where there
/// is no value.
struct Row<'a> {
    host: &'a str,
    peer: Option<&'a str>,
    of: Option<&'a FleetHost>,
    case: Option<&'a str>,
    estimate: Option<&'a IndexedEstimate>,
    /// Where this is what hosts are compared by.
    compared: Option<&'a HostValue>,
    /// The same of a pair.
    of_pair: Option<&'a PairValue>,
}

/// What a column holds of a row.
enum Field {
    Text(fn(&Row) -> Option<String>),
    Number(fn(&Row) -> Option<f64>),
}

/// The columns of the table.
const COLUMNS: &[(&str, Field)] = &[
    ("host", Field::Text(|row| Some(row.host.to_owned()))),
    ("peer", Field::Text(|row| row.peer.map(str::to_owned))),
    ("state", Field::Text(|row| Some(row.of?.state.clone()))),
    ("reason", Field::Text(|row| row.of?.reason.clone())),
    ("case", Field::Text(|row| row.case.map(str::to_owned))),
    ("statistic", Field::Text(|row| Some(row.estimate?.statistic.to_string()))),
    ("unit", Field::Text(|row| Some(row.estimate?.unit.to_string()))),
    ("value", Field::Number(|row| row.estimate?.point)),
    ("low", Field::Number(|row| row.estimate?.low)),
    ("high", Field::Number(|row| row.estimate?.high)),
    ("trials", Field::Number(|row| Some(f64::from(row.estimate?.trials)))),
    ("validity", Field::Text(|row| Some(row.estimate?.validity?.word().to_owned()))),
    ("skip", Field::Text(|row| Some(row.estimate?.skip.as_ref()?.to_string()))),
    (
        "ratio",
        Field::Number(|row| match row.of_pair {
            Some(pair) => Some(pair.ratio),
            None => Some(row.compared?.ratio),
        }),
    ),
    ("distance", Field::Number(|row| row.compared?.score)),
    (
        "off",
        Field::Text(|row| {
            let off = row.of_pair.map_or(row.compared.and_then(|of| of.off), |pair| pair.off);
            Some(off?.word().to_owned())
        }),
    ),
    ("cpu", Field::Text(|row| row.of?.cpu.clone())),
    ("kernel", Field::Text(|row| row.of?.kernel.clone())),
    ("hypervisor", Field::Text(|row| row.of?.hypervisor.clone())),
    ("labels", Field::Text(|row| labels(row.of?))),
];

fn labels(host: &FleetHost) -> Option<String> {
    let labels: Vec<String> =
        host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    (!labels.is_empty()).then(|| labels.join(";"))
}

/// Every row, hosts first and then pairs.
fn rows(found: &FleetReport, raw: &RawFleet, write: &mut dyn FnMut(&Row)) {
    let files: HashMap<&str, usize> =
        raw.files.iter().enumerate().map(|(at, file)| (file.file.as_str(), at)).collect();
    for host in &found.hosts {
        let file = host.file.as_deref().and_then(|name| files.get(name));
        let bare = Row {
            host: &host.name,
            peer: None,
            of: Some(host),
            case: None,
            estimate: None,
            compared: None,
            of_pair: None,
        };
        let estimates = file.map_or(&[][..], |file| &raw.files[*file].estimates);
        if estimates.is_empty() {
            write(&bare);
        }
        for estimate in estimates {
            let case = raw.cases[estimate.case].as_str();
            let compared = host.values.iter().find(|value| {
                let of = &found.cases[value.case as usize];
                of.case == case && of.statistic == *estimate.statistic
            });
            write(&Row { case: Some(case), estimate: Some(estimate), compared, ..bare });
        }
    }
    for case in &found.pairs {
        for pair in &case.pairs {
            let estimate = IndexedEstimate {
                case: 0,
                statistic: case.statistic.as_str().into(),
                unit: case.unit.as_str().into(),
                point: Some(pair.value),
                low: pair.low,
                high: pair.high,
                trials: 0,
                validity: None,
                skip: None,
            };
            write(&Row {
                host: &pair.a,
                peer: Some(&pair.b),
                of: None,
                case: Some(&case.case),
                estimate: Some(&estimate),
                compared: None,
                of_pair: Some(pair),
            });
        }
    }
}

/// As CSV: one row a host, case and statistic, then one a pair and case.
pub fn csv(found: &FleetReport, raw: &RawFleet) -> String {
    let mut out = String::new();
    push_row(&mut out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    rows(found, raw, &mut |row| {
        let fields = COLUMNS.iter().map(|(_, field)| match field {
            Field::Text(text) => csv::text(text(row)),
            Field::Number(number) => csv::number(number(row)),
        });
        push_row(&mut out, fields);
    });
    out
}
