//! The workers that took part.

use hopcost_model::results::{Results, WorkerBrief};

use super::super::{Cell, Column, Part, Row, Section, sentence};

const LEAD: &str = "Each end of these runtimes was a program of its own that speaks the worker \
    protocol.";

pub(super) fn section(results: &Results) -> Option<Section> {
    if results.workers.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("runtime"),
        Column::words("worker"),
        Column::words("language and libraries"),
    ];
    let remark = |worker: &WorkerBrief| {
        let remarks: Vec<String> = worker.remarks.iter().map(|text| sentence(text)).collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", worker.runtime, remarks.join(" ")))
    };
    Some(Section {
        id: "workers",
        title: "Workers of other runtimes",
        lead: LEAD.to_owned(),
        parts: vec![Part {
            columns,
            rows: results.workers.iter().map(row).collect(),
            notes: results.workers.iter().filter_map(remark).collect(),
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
