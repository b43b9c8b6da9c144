//! Suite files that are broken, hostile or no files.

use std::fs::File;
use std::process::{Command, Stdio};

use super::one_line;
use crate::support::Home;
use crate::support::wait::InTime;

#[test]
fn broken_and_hostile_suites_are_refused_with_their_place() {
    let home = Home::new();
    let deep = format!("x = {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!("name = \"{}\"", "x".repeat(2 << 20));
    for (text, parts) in [
        ("name = ", vec![":1:"]),
        ("name = \"a\"\nronds = 3\n", vec![":2:", "ronds", "rounds"]),
        ("", vec!["suite.toml", "missing field `name`"]),
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
    assert!(Command::new("mkfifo").arg(home.path().join("fifo.toml")).finish().status.success());
    let files =
        [("./nothing.toml", "nothing.toml"), ("./", "directory"), ("./fifo.toml", "regular file")];
    for (file, why) in files {
        home.refuses(&["run", "--suite", file], 2, why);
    }
}

#[test]
fn a_full_stderr_is_no_reason_to_fail() {
    let home = Home::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut report = home.hopcost(&["report", "nope"]);
    assert_eq!(report.stdout(Stdio::null()).stderr(full).finish().status.code(), Some(2));
}
