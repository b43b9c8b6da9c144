//! The workers that took part.

use hopcost_model::results::{Results, WorkerBrief};

use super::super::{Cell, Column, Detail, Part, Row, Section, sentence};

const LEAD: &str = "Each end of these runtimes was a program of its own that speaks the worker \
    protocol.";

pub(super) fn section(results: &Results, detail: Detail) -> Option<Section> {
    if results.workers.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("runtime"),
        Column::words("worker"),
        Column::words("language and libraries"),
    ];
    // A terminal is told the first remark of each.
    let most = if detail == Detail::Brief { 1 } else { usize::MAX };
    let remark = |worker: &WorkerBrief| {
        let remarks: Vec<String> = worker.remarks.iter().take(most).map(|r| sentence(r)).collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", worker.runtime, remarks.join(" ")))
    };
    let mut notes: Vec<String> = results.workers.iter().filter_map(remark).collect();
    let left_out = |worker: &WorkerBrief| worker.remarks.len().saturating_sub(most);
    if results.workers.iter().any(|worker| left_out(worker) > 0) {
        let all: usize = results.workers.iter().map(left_out).sum();
        notes.push(format!("{all} more remarks are in the HTML, Markdown and JSON reports."));
    }
    Some(Section {
        id: "workers",
        title: "Workers of other runtimes",
        lead: LEAD.to_owned(),
        parts: vec![Part {
            columns,
            rows: results.workers.iter().map(row).collect(),
            notes,
            ..Part::default()
        }],
    })
}

fn row(worker: &WorkerBrief) -> Row {
    let libraries: Vec<String> =
        worker.libraries.iter().map(|(name, version)| format!("{name} {version}")).collect();
    Row {
        cells: vec![
            Cell::Text(worker.runtime.clone()),
            Cell::Text(worker.version.clone()),
            Cell::Text(libraries.join(", ")),
        ],
        case: None,
    }
}
