//! FORMAT.md does what it says: its Python reads samples, its SQL runs, and every
//! column stands in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{MIXED, STREAM, WAKE, fresh, make};
use hopcost_model::{RawRun, Stamp};
use rusqlite::Connection;
use tempfile::TempDir;

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../FORMAT.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks(document: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let parts = document.split(&opening).skip(1);
    parts.map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

fn run() -> (TempDir, PathBuf, RawRun) {
    let (dir, path) = fresh();
    let run = make(&path, 7, &[WAKE, STREAM, MIXED]);
    (dir, path, run)
}

#[test]
fn the_python_of_the_document_computes_the_p50() {
    let (_dir, path, run) = run();
    let blocks = blocks(&document(), "python");
    let [program] = blocks.as_slice() else { panic!("one Python program, not {}", blocks.len()) };
    let output = Command::new("python3").args(["-c", program]).arg(&path).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{err}");

    let mut expected = Vec::new();
    for (index, trial) in run.trials.iter().enumerate() {
        if trial.stamp == Some(Stamp::Each) {
            let mut sorted = trial.samples.clone();
            sorted.sort_unstable();
            let ns_per_tick = 1e9 / run.ticks_per_second(trial).unwrap();
            let p50_ns = sorted[sorted.len().div_ceil(2) - 1] as f64 * ns_per_tick;
            let id = run.plan.cases[trial.case as usize].id();
            expected.push((index as i64 + 1, id, p50_ns));
        }
    }
    let out = out.unwrap();
    let found: Vec<(i64, &str, f64)> = out
        .lines()
        .map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            (words[0].parse().unwrap(), words[1], words[2].parse().unwrap())
        })
        .collect();
    assert_eq!((found.len(), expected.len()), (10, 10));
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0, found.1), (expected.0, &*expected.1));
        assert!((found.2 / expected.2 - 1.0).abs() < 1e-12, "{found:?} for {expected:?}");
    }
}

#[test]
fn every_query_of_the_document_runs() {
    let (_dir, path, _) = run();
    let conn = Connection::open(path).unwrap();
    let queries = blocks(&document(), "sql");
    assert!(queries.len() >= 3);
    let mut rows = 0;
    for query in queries {
        let mut query = conn.prepare(&query).unwrap();
        let mut cursor = query.query([]).unwrap();
        while cursor.next().unwrap().is_some() {
            rows += 1;
        }
    }
    // 17 trials and 1 change of the host.
    assert_eq!(rows, 18);
}

#[test]
fn every_column_is_explained() {
    let (_dir, path, _) = run();
    let conn = Connection::open(path).unwrap();
    let query = "SELECT c.name FROM sqlite_schema s, pragma_table_info(s.name) c
                  WHERE s.type IN ('table', 'view')";
    let mut columns = conn.prepare(query).unwrap();
    let columns: Vec<String> =
        columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(columns.len() > 100);
    let document = document();
    let (_, explained) = document.split_once("## Tables").unwrap();
    for column in columns {
        assert!(explained.contains(&format!("`{column}`")), "{column} is not explained");
    }
    assert!(document.len() <= 10 << 10, "{} bytes", document.len());
}
