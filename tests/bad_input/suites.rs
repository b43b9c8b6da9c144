//! Suite files that are broken, hostile or no files.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::one_line;
use crate::support::wait::InTime;
use crate::support::{Home, start};

#[test]
fn broken_and_hostile_suites_are_refused_with_their_place() {
    let home = Home::new();
    let deep = format!("x = {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!("name = \"{}\"", "x".repeat(2 << 20));
    for (text, parts) in [
        ("name = ", vec![":1:"]),
        ("name = \"a\"\nronds = 3\n", vec![":2:", "ronds", "rounds"]),
        ("", vec!["suite.toml", "`name` is missing"]),
        ("\u{0}\u{1b}[31m", vec!["suite.toml"]),
        (&deep, vec!["suite.toml"]),
        (&huge, vec!["suite.toml", "1 MiB"]),
    ] {
        std::fs::write(home.path().join("suite.toml"), text).expect("to write");
        let output = home.run(&["run", "--suite", "./suite.toml"]);
        let shown: String = text.chars().take(60).collect();
        let line = one_line(&output, &shown, 2);
        assert_eq!(line.trim_end().lines().count(), 1, "{shown}: {line}");
        assert!(line.len() < 600 && !line.contains('\u{1b}'), "{shown}: {line}");
        assert!(parts.iter().all(|part| line.contains(part)), "{shown}: no {parts:?} in: {line}");
    }
    for (file, why) in [("./nothing.toml", "nothing.toml"), ("./", "directory")] {
        home.refuses(&["run", "--suite", file], 2, why);
    }
}

#[test]
fn a_pipe_is_read_to_its_end_and_one_without_a_writer_is_empty() {
    let home = Home::new();
    assert!(Command::new("mkfifo").arg(home.path().join("fifo.toml")).finish().status.success());
    home.refuses(&["run", "--suite", "./fifo.toml"], 2, "`name` is missing");
    let mut run = home.hopcost(&["run", "--dry-run", "--suite", "/dev/fd/0"]);
    let mut run = start(run.stdin(Stdio::piped()));
    let mut suite = run.stdin.take().expect("a pipe");
    for part in ["name = \"given\"\n[[cases]]\n", "select = \"pipe\"\n"] {
        // It has read what there is, and waits.
        std::thread::sleep(Duration::from_millis(50));
        suite.write_all(part.as_bytes()).expect("to write");
    }
    drop(suite);
    let output = run.finish();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("roundtrip/pipe"), "{output:?}");
}

#[test]
fn a_full_stderr_is_no_reason_to_fail() {
    let home = Home::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut report = home.hopcost(&["report", "nope"]);
    assert_eq!(report.stdout(Stdio::null()).stderr(full).finish().status.code(), Some(2));
}
