//! Tables for other programs, as CSV after RFC 4180 (but lines end with a line
//! feed alone), with a header. `docs/csv.md` says to users what the columns hold.
//!
//! [`report`] has one row a case and statistic; a case without any (skipped,
//! failed) still has one row, with an empty `statistic`. [`samples`] has one
//! row a sample. An empty field is a value that is not known or does not apply.
//! What is compared over several cases (added costs, contrasts) is no row of a case:
//! the JSON document has it.

use std::io::{self, Write};

use hopcost_model::case::Role;
use hopcost_model::columns;
use hopcost_model::finding::Validity;
use hopcost_model::raw::RawRun;
use hopcost_model::results::{
    CaseResult, CounterResult, Estimate, Quiet, Ratio, Results, RuntimeCell, ThreadResult,
};

use crate::section::doubts;
use crate::section::threads::Plays;

/// Columns of [`samples`]. `sample` counts the stored samples of a trial from 0
/// in time order; `ticks` and `ns` are of the whole sample, which is a batch
/// where `stamp` says so.
const SAMPLES_HEADER: &str = "run,case,round,position,sample,ticks,ns,stamp";

/// A row: a case and one of its statistics.
pub(crate) struct Row<'a> {
    pub run: &'a str,
    /// What disturbed the run.
    pub disturbed: &'a str,
    /// What casts doubt on the run as a whole.
    pub notes: &'a str,
    pub result: &'a CaseResult,
    pub found: Found,
}

/// A statistic of a case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// What was counted is named `EVENT.END.per-operation`, `….per-byte` or `….per-trial`;
    /// the end is `caller`, `callee` or `both`.
    pub name: String,
    /// That of value, low and high.
    pub unit: &'static str,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// What it would be on the quiet machine.
    pub quiet: Option<Quiet>,
    /// Exact coverage of the interval.
    pub level: Option<f64>,
    /// Trials (rounds, for multiples) behind it.
    pub n: Option<u32>,
    pub pooled: Option<bool>,
    /// Whether the value is but an upper bound.
    pub at_most: Option<bool>,
    /// The smallest relative difference that could have been seen.
    pub detectable: Option<f64>,
    pub estimand: String,
    pub insufficient: Option<String>,
}

/// A column of a row: the case's own, or another with its name.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    Part(&'static columns::Column),
    Other(&'static str, Field),
}

type Field = fn(&Row) -> String;

impl Column {
    pub fn name(self) -> &'static str {
        match self {
            Column::Part(part) => part.name,
            Column::Other(name, _) => name,
        }
    }
    /// What it holds.
    pub fn text(self, row: &Row) -> String {
        match self {
            Column::Other(_, field) => field(row),
            Column::Part(part) => match (part.cell)(&row.result.case) {
                None => String::new(),
                Some(columns::Cell::Number(number)) => number.to_string(),
                Some(columns::Cell::Text(text)) => text,
                Some(columns::Cell::Parameters(all)) => {
                    let pairs = all.iter().map(|(key, value)| format!("{key}={value}"));
                    pairs.collect::<Vec<_>>().join(";")
                }
            },
        }
    }
}

/// The columns of [`report`].
pub(crate) fn columns() -> impl Iterator<Item = Column> {
    let other = |(name, field): &(&'static str, Field)| Column::Other(name, *field);
    let parts = columns::Column::of(columns::Table::Csv).map(Column::Part);
    BEFORE.iter().map(other).chain(parts).chain(BEHIND.iter().map(other))
}

/// Before the parts of the case, and behind them.
const BEFORE: &[(&str, Field)] =
    &[("run", |row| row.run.to_owned()), ("case", |row| row.result.id.clone())];
const BEHIND: &[(&str, Field)] = &[
    ("status", |row| row.result.status.word().to_owned()),
    ("reason", |row| text(row.result.reason.as_ref())),
    ("validity", |row| text(row.result.validity.map(Validity::word))),
    ("findings", |row| {
        let mut codes: Vec<&str> = row.result.findings.iter().map(|f| f.code.word()).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.join(";")
    }),
    ("stamp", |row| text(row.result.stamp)),
    ("n_trials", |row| row.result.n_trials.to_string()),
    ("n_failed", |row| row.result.n_failed.to_string()),
    ("statistic", |row| row.found.name.clone()),
    ("unit", |row| row.found.unit.to_owned()),
    ("value", |row| number(row.found.value)),
    ("low", |row| number(row.found.low)),
    ("high", |row| number(row.found.high)),
    ("quiet", |row| number(row.found.quiet.map(|quiet| quiet.point))),
    ("quiet_low", |row| number(row.found.quiet.and_then(|quiet| quiet.low))),
    ("quiet_high", |row| number(row.found.quiet.and_then(|quiet| quiet.high))),
    ("level", |row| number(row.found.level)),
    ("n", |row| text(row.found.n)),
    ("pooled", |row| text(row.found.pooled)),
    ("at_most", |row| text(row.found.at_most)),
    ("detectable", |row| number(row.found.detectable)),
    ("estimand", |row| row.found.estimand.clone()),
    ("insufficient", |row| text(row.found.insufficient.as_ref())),
    ("disturbed", |row| row.disturbed.to_owned()),
    ("notes", |row| row.notes.to_owned()),
];

/// All results, tidy: one row a case and statistic.
pub fn report(results: &Results) -> String {
    let mut out = String::new();
    push_row(&mut out, columns().map(|column| column.name().to_owned()));
    let notes: Vec<&str> = doubts(results).map(|found| found.evidence.as_str()).collect();
    let notes = notes.join(" ");
    for (index, result) in results.results.iter().enumerate() {
        let mut all = statistics(result);
        all.extend(of_rust(results, index));
        if all.is_empty() {
            all.push(Found::default());
        }
        for found in all {
            let disturbed = results.disturbed.as_deref().unwrap_or_default();
            let row = Row { run: &results.about.id, disturbed, notes: &notes, result, found };
            push_row(&mut out, columns().map(|column| column.text(&row)));
        }
    }
    out
}

/// A statistic that only has a value: name, unit, value, what is estimated.
type Plain = (&'static str, &'static str, fn(&CaseResult) -> Option<f64>, &'static str);

#[rustfmt::skip]
const PLAIN: &[Plain] = &[
    ("cpu_per_message", "ns", |case| case.cpu_ns_per_message, "CPU time of both ends per message: median over trials"),
    ("switches_per_operation", "1", |case| case.switches_per_operation, "context switches of both ends per operation: median over trials"),
    ("cost_ticks", "tick", |case| case.cost_ticks, "cost of one operation in ticks of the clock"),
    ("p50_ticks", "tick", |case| case.p50_ticks, "p50 of one operation in ticks of the clock"),
    ("cost_cycles", "cycle", |case| case.cost_cycles, "cost of one call in core cycles"),
    ("lost", "1", lost, "exchanges that lost a message"),
    ("gap_found", "ns", |case| case.wake.as_ref()?.gap_found_ns, "mean time from one notification to the next: median over trials"),
    ("clock_bound", "ns", CaseResult::clock_bound_ns, "largest error of the clocks' offset over the trials"),
    ("clock_offset", "ns", |case| case.wake.as_ref()?.clock_offset_ns, "offset that was taken out: median over trials"),
    ("clock_moved", "ns", |case| case.wake.as_ref()?.clock_moved_ns, "largest change of the offset during a trial"),
    ("overrun_share", "1", |case| Some(case.wake.as_ref()?.overrun_share), "share of wake-ups deferred"),
    ("achieved", "1", |case| case.load.as_ref()?.achieved, "the schedule's length over the time until the last message was sent and the last one received, lost ones aside: median over trials"),
    ("received_per_s", "1/s", |case| case.load.as_ref()?.received_per_s.point, "messages received a second: median over trials"),
    ("lost_share", "1", |case| Some(case.load.as_ref()?.lost_share), "share of the messages offered that did not come"),
    ("dropped_share", "1", |case| Some(case.load.as_ref()?.dropped_share), "share of the messages offered that were dropped because the case says so"),
    ("lag_p50", "ns", |case| case.load.as_ref()?.lag.p50_ns, "begin of the send minus intended: median of all trials' messages"),
    ("lag_p99", "ns", |case| case.load.as_ref()?.lag.p99_ns, "begin of the send minus intended: p99 of all trials' messages"),
    ("own_lag_p99", "ns", |case| case.load.as_ref()?.own_lag.p99_ns, "what of the lag is the sender's own: p99 of all trials' messages"),
    ("held_lag_p99", "ns", |case| case.load.as_ref()?.held_lag.p99_ns, "what of the lag the mechanism held the sender up for: p99 of all trials' messages"),
    ("own_late_share", "1", |case| case.load.as_ref()?.own_late_share, "share of the messages that the sender was late for by itself, by a tenth of the response's p99: median over trials"),
    ("service_p50", "ns", |case| case.load.as_ref()?.service.p50_ns, "received minus begin of the send: median of all trials' messages"),
    ("service_p99", "ns", |case| case.load.as_ref()?.service.p99_ns, "received minus begin of the send: p99 of all trials' messages"),
    ("generator_lag_p99", "ns", |case| case.load.as_ref()?.generator_lag_p99_ns, "how late the sender is without a channel, p99: median over trials"),
    ("messages_per_s", "1/s", |case| case.stream.as_ref()?.messages_per_s, "messages a second, all flows: median over trials"),
    ("copied_share", "1", |case| case.stream.as_ref()?.copied_share, "share of the sends without a copy that were copied after all"),
    ("outstanding", "1", |case| case.stream.as_ref()?.little_outstanding, "messages in flight a flow by Little's law: median over trials"),
];

fn lost(case: &CaseResult) -> Option<f64> {
    let counts = case.case.workload.spec().loses && case.estimates.is_some();
    counts.then_some(case.lost as f64)
}

/// Every statistic of a case that it has by itself.
pub(crate) fn statistics(result: &CaseResult) -> Vec<Found> {
    let mut all = Vec::new();
    if let Some(estimates) = &result.estimates {
        let intervals = estimates.intervals();
        all.extend(intervals.map(|(statistic, e)| of_estimate(statistic.label(), "ns", e)));
        let bare = estimates.exact_values();
        all.extend(bare.filter_map(|(s, ns)| Some(plain(s.label(), "ns", ns, s.bare()?))));
    }
    all.extend(result.ratio.as_ref().map(|ratio| multiple("ratio", ratio)));
    let value = |(name, unit, value, of): &Plain| Some(plain(name, unit, value(result)?, of));
    all.extend(PLAIN.iter().filter_map(value));
    if let Some(stream) = &result.stream {
        let rates =
            [("aggregate_gbps", &stream.aggregate_gbps), ("per_flow_gbps", &stream.per_flow_gbps)];
        let rate = |(name, e): (&str, &Option<Estimate>)| {
            e.as_ref().map(|e| of_estimate(name, "Gbit/s", e))
        };
        all.extend(rates.into_iter().filter_map(rate));
    }
    all.extend(result.counters.iter().flat_map(counted));
    all.extend(result.threads.iter().flat_map(|found| thread(found, result)));
    all
}

/// The multiple of the same mechanism in Rust, where it was compared.
fn of_rust(results: &Results, index: usize) -> Option<Found> {
    let runtimes = results.runtimes.as_ref()?;
    let mut cells = runtimes.matrices.iter().flat_map(|m| &m.rows).flat_map(|row| &row.cells);
    let is_it =
        |cell: &&RuntimeCell| cell.result.is_some_and(|at| usize::try_from(at) == Ok(index));
    Some(multiple("ratio_to_rust", cells.find(is_it)?.ratio.as_ref()?))
}

fn multiple(name: &str, ratio: &Ratio) -> Found {
    Found {
        low: ratio.low,
        high: ratio.high,
        n: Some(ratio.n_rounds),
        ..plain(name, "1", ratio.point, &format!("multiple of {}", ratio.baseline))
    }
}

/// Of the threads of one name: PROCESS.PLAYS.NAME, where PLAYS is the end that they play,
/// `hidden`, or `any` where the runtime moves its ends from thread to thread.
fn thread(thread: &ThreadResult, case: &CaseResult) -> [Found; 3] {
    let plays = Plays::of(thread, case).word();
    let of = match thread.threads {
        0 | 1 => "median over trials".to_owned(),
        n => format!("{n} threads of this name together: median over trials"),
    };
    [
        ("cpu-ns", "ns", thread.cpu_ns_per_operation),
        ("cpu-share", "1", thread.cpu_share),
        ("switches", "1", thread.switches_per_operation),
    ]
    .map(|(what, unit, value)| {
        let name = format!("thread-{what}.{}.{plays}.{}", thread.process, thread.name);
        plain(&name, unit, value, &of)
    })
}

/// Of an event; one that was not counted has one row, without a value.
fn counted(counter: &CounterResult) -> Vec<Found> {
    let end = counter.role.map_or("both", Role::word);
    let unit = if counter.event == "cpu-ns" { "ns" } else { "1" };
    let name = |per: &str| format!("{}.{end}.{per}", counter.event);
    if let (Some(reason), None) = (&counter.unavailable, counter.per_operation) {
        let insufficient = Some(reason.clone());
        let (name, value) = (name("per-operation"), None);
        return vec![Found { name, unit, value, insufficient, ..Found::default() }];
    }
    let estimand = match counter.counted_share {
        None => "median over trials".to_owned(),
        Some(share) => format!("median over trials, counted {share} of the time and scaled"),
    };
    let of = [
        ("per-operation", counter.per_operation),
        ("per-byte", counter.per_byte),
        ("per-trial", counter.per_trial),
    ];
    let found =
        |(per, value): (&str, Option<f64>)| Some(plain(&name(per), unit, value?, &estimand));
    of.into_iter().filter_map(found).collect()
}

fn plain(name: &str, unit: &'static str, value: f64, estimand: &str) -> Found {
    Found {
        name: name.to_owned(),
        unit,
        value: Some(value),
        estimand: estimand.to_owned(),
        ..Found::default()
    }
}

fn of_estimate(name: &str, unit: &'static str, estimate: &Estimate) -> Found {
    Found {
        name: name.to_owned(),
        unit,
        value: estimate.point,
        low: estimate.low,
        high: estimate.high,
        quiet: estimate.quiet,
        level: estimate.level,
        n: Some(estimate.n_trials),
        pooled: Some(estimate.pooled),
        at_most: Some(estimate.at_most),
        detectable: estimate.detectable,
        estimand: estimate.estimand.clone(),
        insufficient: estimate.insufficient.clone(),
    }
}

pub(crate) fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Shortest decimal that reads back as the same number; empty if not finite.
pub(crate) fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

/// Streams every stored sample.
///
/// # Errors
/// What writing to `out` reports, a closed pipe included.
pub fn samples(run: &RawRun, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{SAMPLES_HEADER}")?;
    for trial in &run.trials {
        let case = usize::try_from(trial.case).ok().and_then(|case| run.plan.cases.get(case));
        let id = case.map(|case| case.id()).unwrap_or_default();
        let head =
            format!("{},{},{},{}", quoted(&run.about.id), quoted(&id), trial.round, trial.position);
        let stamp = quoted(&trial.stamp.map(|stamp| stamp.to_string()).unwrap_or_default());
        let rate = run.ticks_per_second(trial);
        for (index, &ticks) in trial.samples.iter().enumerate() {
            let ns = number(rate.map(|rate| f64::from(ticks) * 1e9 / rate));
            writeln!(out, "{head},{index},{ticks},{ns},{stamp}")?;
        }
    }
    Ok(())
}

pub(crate) fn push_row(out: &mut String, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.map(|field| quoted(&field)).collect();
    out.push_str(&fields.join(","));
    out.push('\n');
}

/// A field, in quotes where it holds a comma, a quote or a line break. A text that a
/// spreadsheet would calculate (`=1+1`) is marked as text by an apostrophe.
fn quoted(field: &str) -> String {
    if field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err() {
        return quoted(&format!("'{field}"));
    }
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::{self, worn};

    /// A reader of RFC 4180, to read back what was written.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let mut rows = vec![vec![String::new()]];
        let mut quoted = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let row = rows.last_mut().expect("never empty");
            let field = row.last_mut().expect("never empty");
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    field.push(chars.next().expect("peeked"))
                }
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(String::new()),
                '\n' if !quoted => rows.push(vec![String::new()]),
                c => field.push(c),
            }
        }
        rows.pop();
        rows
    }

    #[test]
    fn every_case_is_there_and_every_row_has_every_column() {
        let mut results = worn();
        let odd = "a \"quoted\", two-line\nreason";
        let last = results.results.last_mut().expect("a case");
        last.reason = Some(odd.to_owned());
        let rows = parse(&report(&results));
        let columns = columns().count();
        assert!(rows.iter().all(|row| row.len() == columns));
        for result in &results.results {
            assert!(rows.iter().any(|row| row[1] == result.id), "{}", result.id);
        }
        let reason = rows[0].iter().position(|name| name == "reason").expect("a column");
        assert!(rows.iter().any(|row| row[reason] == odd));
        let at = |column: &str| rows[0].iter().position(|name| name == column).expect(column);
        for row in &rows[1..] {
            assert_eq!(row[at("validity")].is_empty(), row[at("status")] != "measured", "{row:?}");
        }
        assert!(rows[1..].iter().any(|row| row[at("status")] != "measured"));
        let value = rows[0].iter().position(|name| name == "value").expect("a column");
        for row in &rows[1..] {
            assert!(row[value].is_empty() || row[value].parse::<f64>().is_ok(), "{}", row[value]);
        }
    }

    #[test]
    fn a_spreadsheet_calculates_nothing() {
        let fields = ["=1+1", "+a", "-a", "@SUM(A1)", "-0.5", "+1e3", "a=b", "=\"x\",y"];
        let mut out = String::new();
        push_row(&mut out, fields.map(str::to_owned).into_iter());
        assert_eq!(out, "'=1+1,'+a,'-a,'@SUM(A1),-0.5,+1e3,a=b,\"'=\"\"x\"\",y\"\n");
    }

    #[test]
    fn every_column_is_documented() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/csv.md"));
        let columns = super::columns().map(Column::name);
        for column in columns.chain(SAMPLES_HEADER.split(',')) {
            assert!(page.contains(&format!("`{column}`")), "{column} is not in docs/csv.md");
        }
    }

    #[test]
    fn a_runtime_stands_in_its_columns_beside_its_multiple_and_its_threads() {
        let rows = parse(&report(&stored::results("runtimes")));
        let column = |name: &str| rows[0].iter().position(|n| n == name).expect("a column");
        let ends = ["runtime", "runtime_caller", "runtime_callee"].map(column);
        let pair = rows.iter().find(|row| row[ends[0]] == "python:rust").expect("a pair");
        assert_eq!(ends.map(|at| pair[at].as_str()), ["python:rust", "python", "rust"]);
        let with = |case: &str, statistic: &str| -> f64 {
            let is_it =
                |row: &&Vec<String>| row[1] == case && row[column("statistic")] == statistic;
            rows.iter().find(is_it).expect("a row")[column("value")].parse().expect("a number")
        };
        let rust = "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block";
        let go = format!("{rust}&runtime=go");
        let (own, rust) = (with(&go, "p50"), with(rust, "p50"));
        let multiple = with(&go, "ratio_to_rust");
        assert!((0.5..2.0).contains(&(own / rust / multiple)), "{own} {rust} {multiple}");
        let threads = rows.iter().map(|row| &row[column("statistic")]);
        let hidden = |name: &&String| name.starts_with("thread-cpu-share.caller.hidden.");
        assert!(threads.clone().any(|name| hidden(&name)));
        assert!(threads.clone().any(|name| name.starts_with("thread-cpu-ns.caller.any.")));
    }

    #[test]
    fn what_was_not_counted_has_a_reason_and_no_value() {
        let rows = parse(&report(&stored::results("copies")));
        let column = |name: &str| rows[0].iter().position(|n| n == name).expect("a column");
        let (statistic, value) = (column("statistic"), column("value"));
        let with = |name: &str| rows.iter().find(|row| row[statistic] == name).expect("a row");
        let cycles = with("cycles.callee.per-operation");
        let reason = &cycles[column("insufficient")];
        assert!(cycles[value].is_empty() && reason.contains("no performance monitoring unit"));
        let calls = with("system-calls.both.per-operation");
        assert!(calls[value].parse::<f64>().is_ok_and(|calls| calls >= 10.0), "{calls:?}");
        assert_eq!(calls[column("flows")], "1");
        assert_eq!(with("aggregate_gbps")[column("unit")], "Gbit/s");
        assert_eq!(with("copied_share")[value], "1");
    }
}
