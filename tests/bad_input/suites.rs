//! Suite files that are broken, hostile or no files.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::one_line;
use crate::support::wait::InTime;
use crate::support::{Home, together};

#[test]
fn broken_and_hostile_suites_are_refused_with_their_place() {
    let home = Home::new();
    let deep = format!("x = {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!("name = \"{}\"", "x".repeat(2 << 20));
    let product = format!(
        "name = \"a\"\n[[cases]]\nselect = \"pipe\"\npayload = [{}]\nwait = [\"block\", \"spin\", \"yield\", \"epoll\"]\n",
        (1..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
    );
    for (text, parts) in [
        ("name = ", vec![":1:"]),
        ("name = \"a\"\nronds = 3\n", vec![":2:", "ronds", "rounds"]),
        ("name = \"a\"\n", vec!["cases"]),
        ("", vec!["suite.toml"]),
        ("\u{0}\u{1b}[31m", vec!["suite.toml"]),
        (&deep, vec!["suite.toml"]),
        (&huge, vec!["suite.toml", "1 MiB"]),
        (&product, vec!["suite.toml"]),
    ] {
        let file = home.path().join("suite.toml");
        std::fs::write(&file, text).expect("to write");
        let output = home.run(&["run", "--suite", "./suite.toml"]);
        let shown: String = text.chars().take(60).collect();
        let line = one_line(&output, &shown, 2);
        assert_eq!(line.trim_end().lines().count(), 1, "{shown}: {line}");
        assert!(line.len() < 600, "{shown}: {line}");
        assert!(!line.contains('\u{1b}'), "{shown}: control characters get through");
        for part in parts {
            assert!(line.contains(part), "{shown}: no `{part}` in: {line}");
        }
    }
    let missing = home.run(&["run", "--suite", "./nothing.toml"]);
    assert!(one_line(&missing, "a missing suite", 2).contains("nothing.toml"));
    let directory = home.run(&["run", "--suite", "./"]);
    one_line(&directory, "a directory as a suite", 2);
}

#[test]
fn a_fifo_is_no_suite_and_a_full_stderr_no_reason_to_fail() {
    let _together = together();
    let home = Home::new();
    let fifo = home.path().join("fifo.toml");
    let made = Command::new("mkfifo").arg(&fifo).finish().status;
    assert!(made.success());
    one_line(&home.run(&["run", "--suite", "./fifo.toml"]), "a FIFO", 2);
    let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    for (arguments, code) in
        [(vec!["run", case, "--rounds", "1"], None), (vec!["report", "nope"], Some(2))]
    {
        let status = home.hopcost(&arguments).stdout(Stdio::null()).stderr(full()).finish().status;
        assert!(status.code().is_some(), "{arguments:?}: {status:?}");
        assert!(code.is_none() || status.code() == code, "{arguments:?}: {status:?}");
    }
}

#[test]
fn a_pipe_that_hopcost_was_given_is_read_to_its_end() {
    let home = Home::new();
    let mut run = home.hopcost(&["run", "--dry-run", "--suite", "/dev/fd/0"]);
    run.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = run.spawn().expect("the binary starts");
    let mut suite = run.stdin.take().expect("a pipe");
    for part in ["name = \"given\"\n[[cases]]\n", "select = \"pipe\"\n"] {
        // It has read what there is, and waits.
        std::thread::sleep(Duration::from_millis(100));
        suite.write_all(part.as_bytes()).expect("to write");
    }
    drop(suite);
    let output = run.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("roundtrip/pipe"), "{output:?}");
    // Of these two, hopcost holds the end that is written to: nothing would end them.
    let fifo = home.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let both = File::options().read(true).write(true).open(&fifo).expect("a FIFO");
    for (path, stdin) in [("/dev/fd/1", Stdio::null()), ("./fifo", Stdio::from(both))] {
        let output =
            home.hopcost(&["run", "--suite", path]).stdin(stdin).output().expect("it ends");
        assert!(one_line(&output, path, 2).contains("not a regular file"), "{path}");
    }
}
