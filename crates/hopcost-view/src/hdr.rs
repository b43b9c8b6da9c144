//! Single operations as an interval log of HdrHistogram, for the tools that read one.

use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hopcost_model::finding::Validity;
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::results::Results;
use hopcost_model::text::escaped;

/// Decimal digits that a value keeps, as HdrHistogram's own tools record.
const DIGITS: u8 = 3;

/// Every trial whose operations were timed one by one, as an interval of its case's tag.
///
/// # Errors
/// In one line, why there is no such log.
pub fn log(run: &RawRun, results: &Results, began: SystemTime) -> Result<Vec<u8>, String> {
    let mut builder = IntervalLogWriterBuilder::new();
    comments(run, results).iter().for_each(|line| _ = builder.add_comment(&escaped(line)));
    builder.with_start_time(began).with_base_time(began);
    let (mut log, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let failed = |why: &dyn std::fmt::Display| format!("cannot make a histogram log: {why}");
    let mut writer = builder.begin_log_with(&mut log, &mut serializer).map_err(|e| failed(&e))?;
    let mut is_empty = true;
    for trial in run.trials.iter().filter(|trial| is_of_operations(trial)) {
        let Some(rate) = run.ticks_per_second(trial) else { continue };
        let mut histogram = Histogram::<u64>::new(DIGITS).map_err(|e| failed(&e))?;
        for ticks in &trial.samples {
            let ns = (f64::from(*ticks) * 1e9 / rate).round() as u64;
            histogram.record(ns).map_err(|e| failed(&e))?;
        }
        let tag = tag(run, trial.case);
        let (started, took) = (trial.started_ns, trial.took_ns);
        let [started, took] = [started, took].map(Duration::from_nanos);
        let written = writer.write_histogram(&histogram, started, took, Tag::new(&tag));
        written.map_err(|e| failed(&e))?;
        is_empty = false;
    }
    match is_empty {
        true => {
            Err("the run has no operations that were timed one by one, so no histograms".into())
        }
        false => Ok(log),
    }
}

/// What a reader of the log must know.
fn comments(run: &RawRun, results: &Results) -> Vec<String> {
    let mut lines = vec![
        format!("hopcost {}, run {}", run.about.version, run.about.id),
        "Unit: nanoseconds. Of a load: response, the time of receipt minus the intended time of \
         sending; messages that did not come are not in it."
            .to_owned(),
        "Tag: the case; a second one of the same spelling ends in #2.".to_owned(),
        format!(
            "Interval: a trial, from its start to its end; where it had more than {} operations, \
             so many of them chosen at random.",
            run.plan.trial.samples_max
        ),
    ];
    for case in results.results.iter().filter(|case| case.validity == Some(Validity::Invalid)) {
        lines.push(format!("Invalid: {} (see hopcost report)", case.id));
    }
    let batches = run.trials.iter().filter(|of| of.error.is_none() && !is_of_operations(of));
    let mut batches: Vec<u32> = batches.map(|trial| trial.case).collect();
    batches.sort_unstable();
    batches.dedup();
    lines.extend(batches.iter().map(|case| {
        let id = run.plan.case(*case).map(|case| case.to_string()).unwrap_or_default();
        format!("Left out, because its operations were not timed one by one: {id}")
    }));
    lines
}

fn is_of_operations(trial: &RawTrial) -> bool {
    trial.error.is_none() && trial.stamp == Some(Stamp::Each) && !trial.samples.is_empty()
}

/// A case as a tag, which ends at a comma or a space.
fn tag(run: &RawRun, case: u32) -> String {
    let id = |case: u32| run.plan.case(case).map(|case| case.to_string()).unwrap_or_default();
    let own = id(case);
    let safe = |c: char| match c == ',' || c.is_whitespace() || c.is_control() {
        true => format!("%{:02X}", u32::from(c)),
        false => c.to_string(),
    };
    let tag: String = own.chars().map(safe).collect();
    match (0..case).filter(|before| id(*before) == own).count() {
        0 => tag,
        same => format!("{tag}#{}", same + 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::UNIX_EPOCH;

    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use hopcost_model::case::{Case, Workload};

    use super::*;
    use crate::stored;

    fn base64(text: &str) -> Vec<u8> {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |c| digits.iter().position(|digit| *digit == c).unwrap() as u32;
        let text = text.trim_end_matches('=').as_bytes();
        let bytes = text.chunks(4).flat_map(|four| {
            let word = (0..4).fold(0, |word, at| word << 6 | four.get(at).map_or(0, |c| digit(*c)));
            word.to_be_bytes()[1..four.len()].to_vec()
        });
        bytes.collect()
    }

    #[test]
    fn a_reader_of_hdrhistogram_finds_each_trial_with_its_count_and_its_quantiles() {
        let mut raw = stored::raw("quick");
        let case = raw.trials.iter().find(|trial| is_of_operations(trial)).unwrap().case;
        // A load, whose case stands in the plan twice, under a name that is no tag.
        let Ok(known) = raw.plan.cases[case as usize].case.clone() else { unreachable!() };
        let parameters = BTreeMap::from([("key".to_owned(), "a, b".to_owned())]);
        let load = Case { workload: Workload::Load, rate: Some(1000), parameters, ..known };
        raw.plan.cases[case as usize].case = Ok(load.clone());
        raw.plan.cases[0].case = Ok(load);
        let results = stored::results("quick");
        let began = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let log = log(&raw, &results, began).unwrap();
        let mut trials = raw.trials.iter().filter(|trial| is_of_operations(trial));
        let mut tags = Vec::new();
        for entry in IntervalLogIterator::new(&log) {
            let found = match entry.unwrap() {
                LogEntry::Interval(found) => found,
                LogEntry::StartTime(at) | LogEntry::BaseTime(at) => {
                    assert_eq!(at.as_secs(), 1_700_000_000);
                    continue;
                }
            };
            let trial = trials.next().unwrap();
            tags.push((trial.case, found.tag().unwrap().as_str().to_owned()));
            let close = |time: Duration, ns: u64| time.as_nanos().abs_diff(ns.into()) < 1_000_000;
            assert!(close(found.start_timestamp(), trial.started_ns), "{found:?}");
            assert!(close(found.duration(), trial.took_ns), "{found:?}");
            let bytes = base64(found.encoded_histogram());
            let histogram: Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            assert_eq!(histogram.len(), trial.samples.len() as u64);
            let mut sorted = trial.samples.clone();
            sorted.sort_unstable();
            let rate = raw.ticks_per_second(trial).unwrap();
            for q in [0.01, 0.5, 0.9, 0.99, 1.0] {
                let rank = ((sorted.len() as f64 * q).ceil() as usize).max(1);
                let ns = f64::from(sorted[rank - 1]) * 1e9 / rate;
                let error = histogram.value_at_quantile(q) as f64 - ns;
                assert!(error.abs() <= 1.0 + ns / 1000.0, "{q}: {error} of {ns}");
            }
        }
        assert!(trials.next().is_none());
        let tag = &tags.iter().find(|(of, _)| *of == case).unwrap().1;
        assert!(tag.starts_with("load/") && tag.contains("key=a%2C%20b"), "{tag}");
        assert!(case == 0 || tag.ends_with("#2"), "{tag}");
        let of_cases: BTreeMap<_, _> = tags.iter().cloned().collect();
        let cases: BTreeMap<_, _> = tags.iter().map(|(case, tag)| (tag, case)).collect();
        assert_eq!(of_cases.len(), cases.len(), "a tag for each case");
    }

    #[test]
    fn a_run_of_batches_has_no_log() {
        let mut raw = stored::raw("quick");
        raw.trials.retain(|trial| !is_of_operations(trial));
        let none = log(&raw, &stored::results("quick"), UNIX_EPOCH).unwrap_err();
        assert!(none.contains("no operations that were timed one by one"), "{none}");
    }
}
