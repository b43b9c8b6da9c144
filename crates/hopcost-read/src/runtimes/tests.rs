use hopcost_model::describe::WarmUp;

use super::{RuntimeCell, RuntimeMatrix};
use crate::testing::{Builder, PIPE, PIPE_PYTHON, TCP, read, worker};

fn of(id: &str, runtime: &str) -> String {
    format!("{id}&runtime={runtime}")
}
fn labels(matrix: &RuntimeMatrix) -> Vec<&str> {
    matrix.rows.iter().map(|row| row.label.as_str()).collect()
}
fn point(cell: &RuntimeCell) -> Option<f64> {
    cell.value.as_ref()?.point
}

fn compared() -> Vec<RuntimeMatrix> {
    let queue = PIPE.replace("pipe", "queue");
    let channel = PIPE.replace("pipe", "channel");
    let raw = Builder::new()
        .runtime(worker("python", WarmUp::Planned, &["pipe", "tcp", "queue"]))
        .runtime(worker("go", WarmUp::Planned, &["pipe", "channel"]))
        .case(&of(&queue, "python"), 8, |_, t| t.each(&[7000; 50]))
        .case(&of(PIPE, "python"), 8, |round, t| t.each(&[12_000 << round; 50]))
        .case(&of(TCP, "python"), 8, |_, t| t.fails("refused"))
        .case(&of(PIPE, "go"), 8, |round, t| t.each(&[6000 << round; 50]))
        .case(&of(&channel, "go"), 8, |_, t| t.batch(100, &[40_000; 50]))
        .case(TCP, 8, |_, t| t.each(&[9000; 50]))
        .case(PIPE, 8, |round, t| t.each(&[3000 << round; 50]))
        // What is not of one runtime, or of Rust alone, has no place here.
        .case(&of(PIPE, "python:rust"), 8, |_, t| t.each(&[5000; 50]))
        .case(&PIPE.replace("pipe", "eventfd"), 8, |_, t| t.each(&[2000; 50]))
        .case(&of(&PIPE.replace("=64", "=1024"), "go"), 8, |_, t| t.each(&[7000; 50]))
        .build();
    read(&raw).runtimes
}

#[test]
fn what_several_have_stands_together() {
    let found = compared();
    let titles: Vec<&str> = found.iter().map(|m| m.title.as_str()).collect();
    assert_eq!(titles, ["round trip, 64 bytes each way, two processes, one CPU",]);
    let common = &found[0];
    assert_eq!(common.runtimes, ["rust", "python", "go"]);
    assert_eq!(labels(common), ["tcp", "pipe"], "by the cost in Rust");
    let pipe = &common.rows[1].cells;
    assert_eq!(pipe[1].result, Some(1));
    assert_eq!(point(&pipe[0]), Some(3000.0 * 12.0), "the median of eight doublings");
    let ratios: Vec<Option<f64>> =
        pipe.iter().map(|cell| Some((cell.ratio.as_ref()?.point * 1e6).round() / 1e6)).collect();
    assert_eq!(ratios, [Some(1.0), Some(4.0), Some(2.0)]);
    let ratio = pipe[1].ratio.as_ref().unwrap();
    assert!((ratio.low.unwrap() - 4.0).abs() < 1e-9, "paired by round");
    assert_eq!((ratio.baseline.as_str(), ratio.n_rounds), (PIPE, 8));
    let tcp = &common.rows[0].cells;
    assert_eq!((tcp[1].result, tcp[2].result), (Some(2), None));
}

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
