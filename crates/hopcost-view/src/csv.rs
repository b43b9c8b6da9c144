//! Tables for other programs, as CSV after RFC 4180 (but lines end with a line
//! feed alone), with a header.
//!
//! [`report`] has one row a case and statistic; a case without any (skipped,
//! failed) still has one row, with an empty `statistic`. [`samples`] has one
//! row a sample. An empty field is a value that is not known or does not apply.

use std::io::{self, Write};

use hopcost_model::raw::RawRun;
use hopcost_model::results::{CaseResult, Estimate, Results};

/// Columns of [`report`]. `value`, `low` and `high` are in `unit`; `level` is the
/// exact coverage of the interval; `n` are the trials (rounds, for `ratio`)
/// behind the row; `detectable` is the smallest relative difference that could
/// have been seen; `at_most` says that `value` is but an upper bound.
pub const REPORT_HEADER: &str = "run,case,workload,mechanism,payload_bytes,boundary,placement,\
wait_caller,wait_callee,spin_budget_ns,runtime,sched,parameters,status,reason,validity,findings,\
stamp,n_trials,n_failed,statistic,unit,value,low,high,level,n,pooled,at_most,detectable,estimand,\
insufficient";

/// Columns of [`samples`]. `sample` counts the stored samples of a trial from 0
/// in time order; `ticks` and `ns` are of the whole sample, which is a batch
/// where `stamp` says so.
pub const SAMPLES_HEADER: &str = "run,case,round,position,sample,ticks,ns,stamp";

/// All results, tidy: one row a case and statistic.
pub fn report(results: &Results) -> String {
    let mut out = format!("{REPORT_HEADER}\n");
    for result in &results.results {
        let mut fields = identity(&results.about.id, result);
        let fixed = fields.len();
        let mut rows = statistics(result);
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
    vec![
        run.to_owned(),
        result.id.clone(),
        case.workload.word().to_owned(),
        case.mechanism.clone(),
        case.payload_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        case.boundary.word().to_owned(),
        word(case.placement.map(|placement| placement.word())),
        word(case.wait_caller.map(|wait| wait.word())),
        word(case.wait_callee.map(|wait| wait.word())),
        case.spin_budget_ns.map(|ns| ns.to_string()).unwrap_or_default(),
        case.runtime.word().to_owned(),
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

/// The columns from `statistic` on.
type Statistic = [String; 12];

fn statistics(result: &CaseResult) -> Vec<Statistic> {
    let mut rows = Vec::new();
    if let Some(estimates) = &result.estimates {
        let named = [
            ("cost", &estimates.cost_ns),
            ("p50", &estimates.p50_ns),
            ("p90", &estimates.p90_ns),
            ("p99", &estimates.p99_ns),
            ("p99.9", &estimates.p999_ns),
            ("min", &estimates.min_ns),
            ("mean", &estimates.mean_ns),
        ];
        let present = named.iter().filter_map(|(name, e)| e.as_ref().map(|e| (name, e)));
        rows.extend(present.map(|(name, e)| from_estimate(name, e)));
        rows.extend(estimates.max_ns.map(|ns| plain("max", "ns", ns, "greatest of all trials")));
    }
    if let Some(ratio) = &result.ratio {
        let mut row = plain("ratio", "1", ratio.point, &format!("multiple of {}", ratio.baseline));
        row[3] = number(ratio.low);
        row[4] = number(ratio.high);
        row[6] = ratio.n_rounds.to_string();
        rows.push(row);
    }
    let cpu = "CPU time of both ends per message: median over trials";
    rows.extend(result.cpu_ns_per_message.map(|ns| plain("cpu_per_message", "ns", ns, cpu)));
    let switches = "context switches of both ends per operation: median over trials";
    let per_operation = result.switches_per_operation;
    rows.extend(per_operation.map(|n| plain("switches_per_operation", "1", n, switches)));
    rows
}

fn plain(name: &str, unit: &str, value: f64, estimand: &str) -> Statistic {
    let mut row = Statistic::default();
    row[0] = name.to_owned();
    row[1] = unit.to_owned();
    row[2] = number(Some(value));
    row[10] = estimand.to_owned();
    row
}

fn from_estimate(name: &str, estimate: &Estimate) -> Statistic {
    [
        name.to_owned(),
        "ns".to_owned(),
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
        let head = format!(
            "{},{},{},{}",
            quoted(&run.about.id),
            quoted(case.map_or("", |case| &case.id)),
            trial.round,
            trial.position
        );
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

/// A field, in quotes where it holds a comma, a quote or a line break.
fn quoted(field: &str) -> String {
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
        assert!(rows.iter().any(|row| row[14] == odd));
        let value = rows[0].iter().position(|name| name == "value").expect("a column");
        for row in &rows[1..] {
            assert!(row[value].is_empty() || row[value].parse::<f64>().is_ok(), "{}", row[value]);
        }
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
