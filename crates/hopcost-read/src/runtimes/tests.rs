use hopcost_model::WarmUp;

use super::RuntimeCell;
use crate::testing::{Builder, PIPE, PIPE_PYTHON, read, worker};

#[test]
fn a_parameter_that_a_runtime_does_not_declare_has_its_default() {
    // The test facts give this mechanism `more` and `nodelay`, off if not asked for.
    let id = PIPE.replace("pipe", "tcp-send");
    let of = |parameters: &str, runtime: &str| format!("{id}{parameters}&runtime={runtime}");
    let raw = Builder::new()
        .case(&format!("{id}&more=off&nodelay=off"), 8, |_, t| t.each(&[3000; 50]))
        .case(&format!("{id}&more=off&nodelay=on"), 8, |_, t| t.each(&[4000; 50]))
        .case(&of("", "go"), 8, |_, t| t.each(&[6000; 50]))
        .case(&of("&nodelay=on", "python"), 8, |_, t| t.each(&[20_000; 50]))
        .build();
    let found = read(&raw).runtimes;
    let rows: Vec<(&str, Vec<Option<f64>>)> = found[0]
        .rows
        .iter()
        .map(|row| {
            let ratio = |c: &RuntimeCell| Some(c.ratio.as_ref()?.point.round());
            (row.label.as_str(), row.cells.iter().map(ratio).collect())
        })
        .collect();
    let (one, two, five) = (Some(1.0), Some(2.0), Some(5.0));
    assert_eq!(
        rows,
        [("tcp-send", vec![one, two, None]), ("tcp-send nodelay=on", vec![one, None, five])]
    );
}

#[test]
fn there_is_nothing_to_compare_without_another_runtime() {
    let rust = Builder::new().case(PIPE, 6, |_, t| t.each(&[3000; 50]));
    assert!(rust.read().runtimes.is_empty());
    let results = Builder::new()
        .runtime(worker("python", WarmUp::Planned, &["pipe"]))
        .skipped(PIPE_PYTHON, "no python3 here")
        .read();
    assert!(results.runtimes.is_empty(), "one runtime is no comparison");
    assert_eq!(results.workers[0].runtime, "python");
    assert_eq!(results.workers[0].libraries["python"], "1.2.3");
    assert_eq!(results.workers[0].remarks, ["the lock is on"]);
}
