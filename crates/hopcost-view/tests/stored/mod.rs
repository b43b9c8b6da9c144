//! The stored runs of `tests/runs`, read as `hopcost report` reads them.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use hopcost_model::{ClaimsPlan, Question, RawRun};
use hopcost_read::results::Results;
use hopcost_view::StoredRun;
use serde_json::Value;

/// Names of the runs, one a suite and one that was cut off.
#[allow(dead_code, reason = "the golden texts are of some of them")]
pub const RUNS: [&str; 8] = [
    "ladder",
    "quick",
    "microkernel",
    "threads-udp-websocket",
    "wakeup",
    "copies",
    "runtimes",
    "interrupted",
];

/// What a run says.
pub fn results(name: &str) -> Results {
    static READ: OnceLock<Mutex<HashMap<String, Results>>> = OnceLock::new();
    let mut read = READ.get_or_init(Mutex::default).lock().unwrap();
    let entry = read.entry(name.to_owned());
    entry
        .or_insert_with(|| hopcost_read::read(&raw(name), &hopcost_probe::worker::mechanisms()))
        .clone()
}

/// A run as it is shown.
pub fn shown(results: &Results) -> StoredRun<'_> {
    StoredRun { results, stored: None, percentiles: &[] }
}

/// The run `quick` with what a good machine does not show: a case that failed, one that
/// failed in part, one that was skipped, a host in two states and changed afterwards,
/// counted cycles and lost messages.
pub fn worn() -> Results {
    static READ: OnceLock<Results> = OnceLock::new();
    let read = || hopcost_read::read(&worn_raw(), &hopcost_probe::worker::mechanisms());
    READ.get_or_init(read).clone()
}

/// The run `quick`, by which the claims of a file are judged, of every verdict one at least.
pub fn judged() -> Results {
    let claims = ClaimsPlan::of("claims.toml", include_str!("claims.toml"), &[]);
    let mut raw = raw("quick");
    raw.plan.question = Some(Question::Claims(vec![claims]));
    hopcost_read::read(&raw, &hopcost_probe::worker::mechanisms())
}

fn worn_raw() -> RawRun {
    let mut raw = raw("quick");
    let of = |part: &str| -> Vec<u32> {
        let cases = (0..).zip(&raw.plan.cases);
        cases.filter(|(_, case)| case.id().contains(part)).map(|(at, _)| at).collect()
    };
    let (failed, partly) = (of("/futex?payload=0&boundary=process&place=same-cpu"), of("/pipe?"));
    for &case in &of("/unix-stream?") {
        raw.plan.cases[case as usize].skip = Some("no such device on this host".to_owned());
        raw.trials.retain(|trial| trial.case != case);
    }
    for trial in &mut raw.trials {
        let is_partly = partly.contains(&trial.case);
        if failed.contains(&trial.case) || is_partly && trial.round % 3 == 1 {
            trial.error = Some("the callee's worker: \"no answer\" after 10 s".to_owned());
            trial.stamp = None;
            trial.samples.clear();
        }
        for end in &mut trial.ends {
            end.lost += u64::from(is_partly);
            for event in end.events.iter_mut().filter(|event| event.event == "cycles") {
                event.value = Some(3 * trial.wall_ns);
                event.unavailable = None;
            }
        }
    }
    let mut after = raw.host_before.clone();
    for reading in after.readings.iter_mut().filter(|reading| reading.key == "thp.enabled") {
        reading.value = Some("never".to_owned());
    }
    raw.host_after = Some(after);
    raw
}

/// `results` with `text` for every text under one of these names, and for what is in a list there.
#[allow(dead_code, reason = "the golden texts are of no such results")]
pub fn with_texts(results: &Results, names: &str, text: &str) -> Results {
    fn put(value: &mut Value, is_named: bool, names: &[&str], text: &str) {
        match value {
            Value::String(old) if is_named => text.clone_into(old),
            Value::Array(list) => list.iter_mut().for_each(|v| put(v, is_named, names, text)),
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(k, v)| put(v, names.contains(&&**k), names, text));
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(results).unwrap();
    put(&mut value, false, &names.split_whitespace().collect::<Vec<_>>(), text);
    serde_json::from_value(value).unwrap()
}

/// A run as it was stored.
pub fn raw(name: &str) -> RawRun {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/runs");
    let packed = std::fs::read(runs.join(name).with_extension("hopcost.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    hopcost_file::open(file.path(), &|| Ok(Box::new(tempfile::tempdir()?))).unwrap()
}
