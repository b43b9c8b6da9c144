//! What a run shows as counted is of every thread of a trial's processes: those of a
//! mechanism, a library and a runtime too, held against ptrace(2) and /proc.

use hopcost_model::case::{Boundary, Case, Placement, WaitKind};
use hopcost_model::raw::RawTrial;
use serde_json::Value;

use crate::runtimes::{default_case, described, here};
use crate::support::trace::of_operation;
use crate::support::{Home, mechanism, roundtrip, rows_of, switches, text, trial};

/// Round trips of the shorter of two traced trials.
const TRACED: u64 = 1000;
/// Runtimes whose number of system calls does not depend on how long everything takes, which under
/// ptrace is longer.
const SAME_UNDER_PTRACE: [&str; 3] = ["rust", "cpp", "node"];

/// Cases as measured by a suite that counts system calls, in JSON.
fn measured(home: &Home, ids: &[(String, String)]) -> Value {
    let suite = home.path().join("counted.toml");
    let ids: Vec<&str> = ids.iter().map(|(_, id)| id.as_str()).collect();
    let asked = format!(
        "name = \"counted\"\nabout = \"some cases\"\nrounds = 1\n[trial]\nmeasure = \"20ms\"\n\
         count-system-calls = 2000\n[[cases]]\nselect = {ids:?}\n"
    );
    std::fs::write(&suite, asked).expect("to write");
    let document = home.json(&["run", "--suite", text(&suite), "--format", "json"]);
    assert_eq!(document["cases"].as_array().expect("cases").len(), ids.len(), "{ids:?}");
    document
}

/// What a report says of an event of both ends of a case, an operation; or why nothing.
fn of_both(report: &Value, case: usize, event: &str) -> Result<f64, String> {
    let counters = rows_of(report, "counters", case);
    let counter = counters.iter().find(|c| c["event"] == event && c["role"].is_null());
    let counter = counter.unwrap_or_else(|| panic!("no {event} of both ends: {counters:?}"));
    counter["per_operation"].as_f64().ok_or_else(|| counter["unavailable"].to_string())
}

fn websocket_threaded(boundary: Boundary) -> Case {
    roundtrip(mechanism("websocket-threaded"), boundary, Placement::SameCpu, WaitKind::Block)
}

#[test]
fn system_calls_shown_are_those_of_all_threads() {
    let home = Home::alone();
    let boundaries = [Boundary::Process, Boundary::Thread];
    let native = boundaries.map(|boundary| ("rust".to_owned(), websocket_threaded(boundary).id()));
    let here = here();
    let foreign = described().iter().filter_map(|worker| {
        let name = here.iter().find(|name| worker["runtime"] == name.as_str())?;
        let mut rows = worker["mechanisms"].as_array()?.iter();
        let row = rows.find(|row| row["name"] == "websocket")?;
        Some((name.clone(), default_case(row, name)))
    });
    let mut wrong = Vec::new();
    let cases: Vec<_> = native.into_iter().chain(foreign).collect();
    let report = measured(&home, &cases);
    for (at, (runtime, id)) in cases.iter().enumerate() {
        assert_eq!(report["cases"][at]["status"], "measured", "{id}: {report}");
        let shown = match of_both(&report, at, "system-calls") {
            Ok(shown) => shown,
            Err(reason) => return eprintln!("skipped: {reason}"),
        };
        // Two messages are sent and received, at least.
        assert!(shown >= 4.0, "{id}: {shown}");
        if !SAME_UNDER_PTRACE.contains(&runtime.as_str()) {
            continue;
        }
        let traced = of_operation(&home, id, TRACED);
        eprintln!("{id}: {shown:.2} shown, {traced:.2} traced");
        // Under ptrace threads take turns in another order: of websocket-threaded the futex calls
        // are 4 instead of up to 10, of 12 others.
        if !(0.75..=1.5).contains(&(shown / traced)) {
            wrong.push(format!("{id}: {shown:.2} are shown, ptrace counts {traced:.2}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_end_has_its_own_io_thread_and_each_thread_is_counted_once() {
    const N: u64 = 1000;
    let home = Home::alone();
    for boundary in [Boundary::Process, Boundary::Thread] {
        let case = websocket_threaded(boundary);
        let row: RawTrial = trial(&home, &case, N).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(row.threads.len(), 4, "{case}: {:?}", row.threads);
        for end in &row.ends {
            let its: Vec<_> = row.threads.iter().filter(|t| t.process == end.role).collect();
            let [played, helps] =
                [Some(end.role), None].map(|seat| its.iter().filter(|t| t.seat == seat).count());
            assert_eq!((played, helps), (1, 1), "{case}: {its:?}");
            let own = end.voluntary + end.involuntary;
            // On one CPU each message passes through every thread, and so do the switches.
            assert!(own >= N, "{case}: {own} switches of the {}", end.role);
            let helper = its.iter().find(|thread| thread.seat.is_none()).expect("its helper");
            assert!(helper.voluntary + helper.involuntary >= N, "{case}: {its:?}");
        }
        assert!(switches(&row) >= 6 * N, "{case}: {:?}", row.threads);
        let cpu_ns: u64 = row.threads.iter().map(|thread| thread.cpu_ns).sum();
        assert!((0.8..1.25).contains(&(cpu_ns as f64 / row.cpu_ns as f64)), "{case}: {cpu_ns}");
    }
}
