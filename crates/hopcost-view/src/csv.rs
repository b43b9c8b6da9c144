//! Rows of CSV after RFC 4180 (but lines end with a line feed alone), and the stored samples of a run.
//! An empty field is a value that is not known or does not apply.

use hopcost_model::RawRun;

use crate::markup::put;

/// Columns of [`samples`]. `sample` counts the stored samples of a trial from 0
/// in time order; `ticks` and `ns` are of the whole sample, which is a batch
/// where `stamp` says so.
const SAMPLES_HEADER: &str = "run,case,round,position,sample,ticks,ns,stamp";

/// Every stored sample.
pub fn samples(run: &RawRun) -> String {
    let mut out = format!("{SAMPLES_HEADER}\n");
    for trial in &run.trials {
        let case = usize::try_from(trial.case).ok().and_then(|case| run.plan.cases.get(case));
        let id = case.map(|case| case.id()).unwrap_or_default();
        let head =
            format!("{},{},{},{}", quoted(&run.about.id), quoted(&id), trial.round, trial.position);
        let stamp = quoted(&trial.stamp.map(|stamp| stamp.to_string()).unwrap_or_default());
        let rate = run.ticks_per_second(trial);
        for (index, &ticks) in trial.samples.iter().enumerate() {
            let ns = rate.map(|rate| ticks as f64 * 1e9 / rate);
            let ns = ns.filter(|ns| ns.is_finite()).map_or(String::new(), |ns| ns.to_string());
            put!(out, "{head},{index},{ticks},{ns},{stamp}\n");
        }
    }
    out
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

    #[test]
    fn a_spreadsheet_calculates_nothing() {
        let fields = ["=1+1", "+a", "-a", "@SUM(A1)", "-0.5", "+1e3", "a=b", "=\"x\",y"];
        let mut out = String::new();
        push_row(&mut out, fields.map(str::to_owned).into_iter());
        assert_eq!(out, "'=1+1,'+a,'-a,'@SUM(A1),-0.5,+1e3,a=b,\"'=\"\"x\"\",y\"\n");
    }
}
