//! Tables for other programs, as CSV after RFC 4180 (but lines end with a line
//! feed alone), with a header.
//!
//! [`report`] has one row a case and statistic; a case without any (skipped,
//! failed) still has one row, with an empty `statistic`. [`samples`] has one
//! row a sample. An empty field is a value that is not known or does not apply.

use std::io::{self, Write};

use hopcost_model::case::{Role, Workload};
use hopcost_model::raw::RawRun;
use hopcost_model::results::{
    CaseResult, CounterResult, Estimate, Ratio, Results, RuntimeCell, Statistic, ThreadResult,
};

use crate::section::runtimes::threads::Plays;

/// Columns of [`report`]. `value`, `low` and `high` are in `unit`; `level` is the
/// exact coverage of the interval; `n` are the trials (rounds, for `ratio`)
/// behind the row; `detectable` is the smallest relative difference that could
/// have been seen; `at_most` says that `value` is but an upper bound.
///
/// A statistic that was counted is named `EVENT.END.per-operation`, `….per-byte` or
/// `….per-trial`; the end is `caller`, `callee` or `both`.
///
/// `runtime` is in one word (`python`, `python:rust` for a pair), and apart in
/// `runtime_caller` and `runtime_callee`. `ratio_to_rust` is the multiple of the same
/// mechanism in Rust. `thread-cpu-ns.PROCESS.PLAYS.NAME`, `thread-cpu-share.…` and
/// `thread-switches.…` are of the threads of one name in the caller's or the callee's
/// process, per operation; PLAYS is the end that they play, `hidden`, or `any` where the
/// runtime moves its ends from thread to thread. What is
/// compared over several cases (added costs, contrasts) is no row of a case: the JSON
/// document has it. [`samples`] has no such columns: the spelling of the case carries the
/// runtime. `docs/csv.md` says the same to users.
pub const REPORT_HEADER: &str = "run,case,workload,mechanism,payload_bytes,fields,field_bytes,\
flows,ack,gap_ns,idle_knob,boundary,placement,wait_caller,wait_callee,spin_budget_ns,runtime,\
runtime_caller,runtime_callee,sched,parameters,status,reason,validity,findings,stamp,n_trials,n_failed,statistic,unit,value,low,high,level,n,pooled,at_most,detectable,estimand,\
insufficient";

/// Columns of [`samples`]. `sample` counts the stored samples of a trial from 0
/// in time order; `ticks` and `ns` are of the whole sample, which is a batch
/// where `stamp` says so.
pub const SAMPLES_HEADER: &str = "run,case,round,position,sample,ticks,ns,stamp";

/// All results, tidy: one row a case and statistic.
pub fn report(results: &Results) -> String {
    let mut out = format!("{REPORT_HEADER}\n");
    for (index, result) in results.results.iter().enumerate() {
        let mut fields = identity(&results.about.id, result);
        let fixed = fields.len();
        let mut rows = statistics(result);
        rows.extend(of_rust(results, index));
        if rows.is_empty() {
            rows.push(Default::default());
        }
        for row in rows {
            fields.truncate(fixed);
            fields.extend(row);
            push_row(&mut out, &fields);
        }
    }
    out
}

/// What a row is about: the columns up to `n_failed`.
fn identity(run: &str, result: &CaseResult) -> Vec<String> {
    let case = &result.case;
    let word = |word: Option<&'static str>| word.unwrap_or_default().to_owned();
    let parameters: Vec<String> =
        case.parameters.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut codes: Vec<&str> = result.findings.iter().map(|f| f.code.word()).collect();
    codes.sort_unstable();
    codes.dedup();
    let has_knob = case.workload == Workload::Wake;
    vec![
        run.to_owned(),
        result.id.clone(),
        case.workload.word().to_owned(),
        case.mechanism.clone(),
        text(case.payload_bytes),
        text(case.fields),
        text(case.field_bytes),
        text(case.flows),
        text(case.ack.as_ref()),
        text(case.gap_ns),
        text(has_knob.then_some(case.idle_knob)),
        case.boundary.word().to_owned(),
        word(case.placement.map(|placement| placement.word())),
        word(case.wait_caller.map(|wait| wait.word())),
        word(case.wait_callee.map(|wait| wait.word())),
        text(case.spin_budget_ns),
        case.runtime.clone(),
        case.runtime_caller.clone(),
        case.runtime_callee.clone(),
        case.sched.clone(),
        parameters.join(";"),
        result.status.word().to_owned(),
        result.reason.clone().unwrap_or_default(),
        result.validity.word().to_owned(),
        codes.join(";"),
        result.stamp.map(|stamp| stamp.to_string()).unwrap_or_default(),
        result.n_trials.to_string(),
        result.n_failed.to_string(),
    ]
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The columns from `statistic` on.
type Values = [String; 12];

fn statistics(result: &CaseResult) -> Vec<Values> {
    let mut rows = Vec::new();
    if let Some(estimates) = &result.estimates {
        let intervals = estimates.intervals();
        rows.extend(intervals.map(|(statistic, e)| from_estimate(statistic.label(), "ns", e)));
        rows.extend(
            estimates
                .exact(Statistic::Max)
                .map(|ns| plain("max", "ns", ns, "greatest of all trials")),
        );
    }
    if let Some(ratio) = &result.ratio {
        rows.push(multiple("ratio", ratio));
    }
    let cpu = "CPU time of both ends per message: median over trials";
    rows.extend(result.cpu_ns_per_message.map(|ns| plain("cpu_per_message", "ns", ns, cpu)));
    let switches = "context switches of both ends per operation: median over trials";
    let per_operation = result.switches_per_operation;
    rows.extend(per_operation.map(|n| plain("switches_per_operation", "1", n, switches)));
    rows.extend(particular(result));
    rows.extend(result.counters.iter().flat_map(counted));
    rows.extend(result.threads.iter().flat_map(|found| thread(found, result)));
    rows
}

/// The multiple of the same mechanism in Rust, where it was compared.
fn of_rust(results: &Results, index: usize) -> Option<Values> {
    let runtimes = results.runtimes.as_ref()?;
    let mut cells = runtimes.matrices.iter().flat_map(|m| &m.rows).flat_map(|row| &row.cells);
    let is_it =
        |cell: &&RuntimeCell| cell.result.is_some_and(|at| usize::try_from(at) == Ok(index));
    let ratio = cells.find(is_it)?.ratio.as_ref()?;
    Some(multiple("ratio_to_rust", ratio))
}

fn multiple(name: &str, ratio: &Ratio) -> Values {
    let mut row = plain(name, "1", ratio.point, &format!("multiple of {}", ratio.baseline));
    row[3] = number(ratio.low);
    row[4] = number(ratio.high);
    row[6] = ratio.n_rounds.to_string();
    row
}

/// The rows of the threads of one name.
fn thread(thread: &ThreadResult, case: &CaseResult) -> [Values; 3] {
    let plays = Plays::of(thread, case).word();
    let name = |what: &str| format!("thread-{what}.{}.{plays}.{}", thread.process, thread.name);
    let of = match thread.threads {
        0 | 1 => "median over trials".to_owned(),
        n => format!("{n} threads of this name together: median over trials"),
    };
    let row = |what: &str, unit: &str, value: f64| plain(&name(what), unit, value, &of);
    [
        row("cpu-ns", "ns", thread.cpu_ns_per_operation),
        row("cpu-share", "1", thread.cpu_share),
        row("switches", "1", thread.switches_per_operation),
    ]
}

/// What only some workloads have.
fn particular(result: &CaseResult) -> Vec<Values> {
    let mut rows = Vec::new();
    let mut maybe = |name: &str, unit: &str, value: Option<f64>, estimand: &str| {
        rows.extend(value.map(|value| plain(name, unit, value, estimand)));
    };
    let ticks = "cost of one call in ticks of the clock";
    maybe("cost_ticks", "tick", result.cost_ticks, ticks);
    maybe("cost_cycles", "cycle", result.cost_cycles, "cost of one call in core cycles");
    let lost = Some(result.lost as f64).filter(|_| result.case.workload == Workload::Roundtrip);
    maybe(
        "lost",
        "1",
        lost.filter(|_| result.estimates.is_some()),
        "exchanges that lost a message",
    );
    if let Some(wake) = &result.wake {
        let found = "mean time from one notification to the next: median over trials";
        maybe("gap_found", "ns", wake.gap_found_ns, found);
        let bound = "largest error of the clocks' offset over the trials";
        maybe("clock_bound", "ns", wake.clock_bound_ns, bound);
        let offset = "offset that was taken out: median over trials";
        maybe("clock_offset", "ns", wake.clock_offset_ns, offset);
        let moved = "largest change of the offset during a trial";
        maybe("clock_moved", "ns", wake.clock_moved_ns, moved);
        maybe("overrun_share", "1", Some(wake.overrun_share), "share of wake-ups put off");
    }
    if let Some(stream) = &result.stream {
        let per_s = "messages a second, all flows: median over trials";
        maybe("messages_per_s", "1/s", stream.messages_per_s, per_s);
        let copied = "share of the sends without a copy that were copied after all";
        maybe("copied_share", "1", stream.copied_share, copied);
        let little = "messages in flight a flow by Little's law: median over trials";
        maybe("outstanding", "1", stream.little_outstanding, little);
        for (name, estimate) in
            [("aggregate_gbps", &stream.aggregate_gbps), ("per_flow_gbps", &stream.per_flow_gbps)]
        {
            rows.extend(estimate.as_ref().map(|e| from_estimate(name, "Gbit/s", e)));
        }
    }
    rows
}

/// The rows of an event; one that was not counted has one, without a value.
fn counted(counter: &CounterResult) -> Vec<Values> {
    let end = counter.role.map_or("both", Role::word);
    let unit = if counter.event == "cpu-ns" { "ns" } else { "1" };
    let of = [
        ("per-operation", counter.per_operation),
        ("per-byte", counter.per_byte),
        ("per-trial", counter.per_trial),
    ];
    let name = |per: &str| format!("{}.{end}.{per}", counter.event);
    let share = counter.counted_share;
    let estimand = share.map_or_else(
        || "median over trials".to_owned(),
        |share| format!("median over trials, counted {share} of the time and scaled"),
    );
    if let (Some(reason), None) = (&counter.unavailable, counter.per_operation) {
        let mut row = plain(&name("per-operation"), unit, f64::NAN, "");
        row[11].clone_from(reason);
        return vec![row];
    }
    let rows = of.into_iter().filter_map(|(per, value)| Some((per, value?)));
    rows.map(|(per, value)| plain(&name(per), unit, value, &estimand)).collect()
}

fn plain(name: &str, unit: &str, value: f64, estimand: &str) -> Values {
    let mut row = Values::default();
    row[0] = name.to_owned();
    row[1] = unit.to_owned();
    row[2] = number(Some(value));
    row[10] = estimand.to_owned();
    row
}

fn from_estimate(name: &str, unit: &str, estimate: &Estimate) -> Values {
    [
        name.to_owned(),
        unit.to_owned(),
        number(estimate.point),
        number(estimate.low),
        number(estimate.high),
        number(estimate.level),
        estimate.n_trials.to_string(),
        estimate.pooled.to_string(),
        estimate.at_most.to_string(),
        number(estimate.detectable),
        estimate.estimand.clone(),
        estimate.insufficient.clone().unwrap_or_default(),
    ]
}

/// Shortest decimal that reads back as the same number; empty if not finite.
fn number(value: Option<f64>) -> String {
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

fn push_row(out: &mut String, fields: &[String]) {
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&quoted(field));
    }
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
    use crate::fixture;

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
        let mut results = fixture::example_results();
        let odd = "a \"quoted\", two-line\nreason";
        let last = results.results.last_mut().expect("the fixture has cases");
        last.reason = Some(odd.to_owned());
        let rows = parse(&report(&results));
        let columns = REPORT_HEADER.split(',').count();
        assert!(rows.iter().all(|row| row.len() == columns));
        for result in &results.results {
            assert!(rows.iter().any(|row| row[1] == result.id), "{}", result.id);
        }
        let reason = rows[0].iter().position(|name| name == "reason").expect("a column");
        assert!(rows.iter().any(|row| row[reason] == odd));
        let value = rows[0].iter().position(|name| name == "value").expect("a column");
        for row in &rows[1..] {
            assert!(row[value].is_empty() || row[value].parse::<f64>().is_ok(), "{}", row[value]);
        }
    }

    #[test]
    fn a_spreadsheet_calculates_nothing() {
        let fields = ["=1+1", "+a", "-a", "@SUM(A1)", "-0.5", "+1e3", "a=b", "=\"x\",y"];
        let mut out = String::new();
        push_row(&mut out, &fields.map(str::to_owned));
        assert_eq!(out, "'=1+1,'+a,'-a,'@SUM(A1),-0.5,+1e3,a=b,\"'=\"\"x\"\",y\"\n");
    }

    #[test]
    fn every_column_is_documented() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/csv.md"));
        for column in REPORT_HEADER.split(',').chain(SAMPLES_HEADER.split(',')) {
            assert!(page.contains(&format!("`{column}`")), "{column} is not in docs/csv.md");
        }
    }

    #[test]
    fn a_runtime_stands_in_its_columns_beside_its_multiple_and_its_threads() {
        let rows = parse(&report(&fixture::example_runtimes()));
        let column = |name: &str| rows[0].iter().position(|n| n == name).expect("a column");
        let ends = ["runtime", "runtime_caller", "runtime_callee"].map(column);
        let pair = rows.iter().find(|row| row[ends[0]] == "python:rust").expect("a pair");
        assert_eq!(ends.map(|at| pair[at].as_str()), ["python:rust", "python", "rust"]);
        let with = |case: &str, statistic: &str| {
            let is_it =
                |row: &&Vec<String>| row[1] == case && row[column("statistic")] == statistic;
            rows.iter().find(is_it).map(|row| row[column("value")].clone())
        };
        let call = "call/mutex-uncontended?runtime=go";
        let found: f64 = with(call, "ratio_to_rust").unwrap().parse().unwrap();
        assert!((found - 14.9 / 11.4).abs() < 1e-9, "{found}");
        let library = "roundtrip/websocket?payload=64&boundary=process&place=same-cpu&wait=block\
                       &runtime=python";
        let hidden = with(library, "thread-cpu-share.callee.hidden.recv_events");
        assert_eq!(hidden.as_deref(), Some("0.26"));
    }

    #[test]
    fn what_was_not_counted_has_a_reason_and_no_value() {
        let rows = parse(&report(&fixture::example_copies()));
        let column = |name: &str| rows[0].iter().position(|n| n == name).expect("a column");
        let (statistic, value) = (column("statistic"), column("value"));
        let with = |name: &str| rows.iter().find(|row| row[statistic] == name).expect("a row");
        let cycles = with("cycles.callee.per-operation");
        assert!(cycles[value].is_empty() && cycles[column("insufficient")].contains("no PMU"));
        let calls = with("system-calls.both.per-operation");
        assert_eq!((calls[value].as_str(), calls[column("flows")].as_str()), ("17.4", "1"));
        assert_eq!(with("aggregate_gbps")[column("unit")], "Gbit/s");
        assert_eq!(with("copied_share")[value], "1");
    }

    #[test]
    fn samples_carry_their_time_and_stamp() {
        let mut out = Vec::new();
        samples(&fixture::example_raw(), &mut out).expect("a vector takes all");
        let rows = parse(&String::from_utf8(out).expect("text"));
        assert_eq!(rows.len(), 1 + 5);
        assert_eq!(rows[1][1], "call/syscall");
        assert_eq!(rows[1][7], "batch(64)");
        // 6104 ticks at 2.3 GHz.
        let ns: f64 = rows[3][6].parse().expect("a number");
        assert!((ns - 2_653.913).abs() < 0.001);
        assert_eq!(
            rows[3][..6],
            ["20250314-092653-7f3a", fixture::BASELINE, "0", "1", "0", "6104"]
        );
    }
}
