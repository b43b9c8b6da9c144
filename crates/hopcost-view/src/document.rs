//! The streams of a run in the layout of the published table that they answer to:
//! one row a way of sending, field size and number of flows.

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::results::{CaseResult, CounterResult, Estimate, Results, Statistic, Status};

use crate::section::words::sum;

/// The columns, as published. `msg_size` is the bytes of one of a message's eight
/// fields, `threads` the flows; `throughput_gbps` is of one flow, `latency_us` a
/// mean; the counts are of both ends over one trial. An empty field was not counted.
pub const HEADER: &str = "impl,msg_size,threads,throughput_gbps,latency_us,cycles,instructions,\
cache_misses,context_switches";

/// Fields of a message in the published table.
const FIELDS: u32 = 8;

/// Why there is no such table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoDocument {
    /// No case of the run belongs to the published grid.
    Nothing,
    /// Two cases would be one row.
    Twice(String, String),
}

impl std::fmt::Display for NoDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoDocument::Nothing => f.write_str(
                "no measured case of this run belongs to the table: it has streams of tcp-send \
                 (more=off), tcp-sendmsg and tcp-zerocopy with nodelay=off between two processes, \
                 with 8 fields and ack=per-message",
            ),
            NoDocument::Twice(a, b) => {
                write!(f, "two cases of this run would be one row of the table: {a} and {b}")
            }
        }
    }
}
impl std::error::Error for NoDocument {}

/// The table as CSV.
///
/// # Errors
/// No case belongs to it, or two belong to one row of it.
pub fn table(results: &Results) -> Result<String, NoDocument> {
    let mut rows: Vec<((&str, u32, u32), &CaseResult)> = Vec::new();
    for case in results.results.iter().filter(|case| case.status == Status::Measured) {
        let Some(key) = key(case) else { continue };
        if let Some((_, other)) = rows.iter().find(|(known, _)| *known == key) {
            return Err(NoDocument::Twice(other.id.clone(), case.id.clone()));
        }
        rows.push((key, case));
    }
    if rows.is_empty() {
        return Err(NoDocument::Nothing);
    }
    // As published: by size, then by threads, then A1 to A3.
    rows.sort_by_key(|((name, size, threads), _)| (*size, *threads, *name));
    let mut out = format!("{HEADER}\n");
    for (key, case) in rows {
        out.push_str(&line(key, case));
    }
    Ok(out)
}

/// Name in the table, field bytes and flows of a case that belongs to it.
fn key(case: &CaseResult) -> Option<(&'static str, u32, u32)> {
    let parts = &case.case;
    let is = |name: &str, value: &str| parts.parameters.get(name).is_none_or(|v| v == value);
    let name = match parts.mechanism.as_str() {
        _ if !is("nodelay", "off") => return None,
        "tcp-send" if is("more", "off") => "A1",
        "tcp-sendmsg" => "A2",
        "tcp-zerocopy" => "A3",
        _ => return None,
    };
    let belongs = parts.workload == Workload::Stream
        && parts.boundary == Boundary::Process
        && parts.ack.as_deref() == Some("per-message")
        && parts.fields == Some(FIELDS)
        && parts.runtime == "rust";
    belongs.then_some((name, parts.field_bytes?, parts.flows?))
}

fn line((name, size, threads): (&str, u32, u32), case: &CaseResult) -> String {
    let point = |estimate: Option<&Estimate>| estimate.and_then(|estimate| estimate.point);
    let per_flow = case.stream.as_ref().and_then(|stream| point(stream.per_flow_gbps.as_ref()));
    let mean = case.estimates.as_ref().and_then(|e| point(e.get(Statistic::Mean)));
    let text = |value: Option<f64>, decimals: usize| {
        let value = value.filter(|value| value.is_finite());
        value.map(|value| format!("{value:.decimals$}")).unwrap_or_default()
    };
    let total = |event: &str| sum(case, event, |counter: &CounterResult| counter.per_trial);
    let fields = [
        name.to_owned(),
        size.to_string(),
        threads.to_string(),
        text(per_flow, 6),
        text(mean.map(|ns| ns / 1e3), 3),
        text(total("cycles"), 0),
        text(total("instructions"), 0),
        text(total("llc-misses"), 0),
        text(total("context-switches"), 0),
    ];
    fields.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn rows_stand_as_published_and_what_was_not_counted_is_empty() {
        let table = table(&fixture::example_copies()).expect("three ways, three sizes");
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], HEADER);
        assert_eq!(lines.len(), 1 + 3 * 3 * 2, "one row a measured case");
        let cells: Vec<Vec<&str>> = lines[1..].iter().map(|l| l.split(',').collect()).collect();
        let keys: Vec<[&str; 3]> = cells.iter().map(|c| [c[0], c[1], c[2]]).collect();
        assert_eq!(
            keys[..4],
            [["A1", "256", "1"], ["A2", "256", "1"], ["A3", "256", "1"], ["A1", "256", "4"]]
        );
        for row in &cells {
            assert_eq!(row.len(), 9);
            assert_eq!(row[5..8], ["", "", ""], "no PMU");
            // One message a flow in flight: throughput times latency is its bits.
            let (gbps, us): (f64, f64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
            let bits = 8.0 * 8.0 * row[1].parse::<f64>().unwrap();
            assert!((gbps * us * 1e3 / bits - 1.0).abs() < 0.02, "{row:?}");
            assert_eq!(row[8], "42000", "of both ends");
        }
    }

    #[test]
    fn a_row_is_never_one_of_two_cases() {
        let mut results = fixture::example_copies();
        let mut again = results.results[1].clone();
        again.id.push_str("&nodelay=on");
        again.case.parameters.insert("nodelay".to_owned(), "on".to_owned());
        results.results.push(again.clone());
        assert_eq!(table(&results), table(&fixture::example_copies()), "not one of the ways");
        again.case.parameters.clear();
        results.results.push(again);
        assert!(matches!(table(&results), Err(NoDocument::Twice(..))));
        assert_eq!(table(&fixture::example_results()), Err(NoDocument::Nothing));
    }
}
