//! `hopcost lint`: what it prints, and how it ends.

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::Home;

/// A total that is not its mean times n, beside one that is.
const FAULTY: &str =
    "method,iterations,total_us,mean_us\na,10000,80411,8.0411\nb,10000,430262,43.0300\n";

#[test]
fn faults_are_told_and_fail_only_a_gate() {
    let home = Home::new();
    let (faulty, clean) = (home.path().join("faulty.csv"), home.path().join("clean.csv"));
    fs::write(&faulty, FAULTY).expect("a file");
    fs::write(&clean, FAULTY.replace("43.0300", "43.0262")).expect("a file");
    let [faulty, clean] = [&faulty, &clean].map(|path| path.to_str().expect("UTF-8"));
    let said = home.expect(&["lint", faulty], 0);
    assert!(said.contains("faulty.csv:3: total: b: mean_us: 43.0300"), "{said}");
    assert!(said.contains("430262 ÷ 10000 = 43.0262"), "{said}");
    home.expect(&["lint", "--gate", clean, faulty], 4);
    home.expect(&["lint", "--gate", clean], 0);
    let json = home.expect(&["lint", "--format", "json", clean, faulty], 0);
    let reports: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(reports[0]["findings"].as_array().map(Vec::len), Some(0), "{json}");
    assert_eq!(reports[1]["findings"][0]["check"], "total", "{json}");
    assert_eq!(reports[1]["findings"][0]["cells"][0]["line"], 3, "{json}");
    assert!(home.expect(&["lint", "--format", "md", faulty], 0).contains("| 3 | total | b: mean"));
    // In which the second column is what the user says.
    home.expect(&["lint", "--gate", "--column", "mean_us=other", faulty], 0);
}

#[test]
fn what_cannot_be_checked_is_one_line_and_exit_code_2() {
    let home = Home::new();
    let (table, prose) = (home.path().join("t.csv"), home.path().join("prose.md"));
    fs::write(&table, FAULTY).expect("a file");
    fs::write(&prose, "Nothing was measured.\n").expect("a file");
    let (fifo, long) = (home.path().join("fifo"), home.path().join("long.csv"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let wide = "mean_us,".repeat(201) + "x\n" + &"1,".repeat(201) + "\n";
    fs::write(&long, wide).expect("a file");
    let paths = [&table, &prose, &fifo, &long];
    let [table, prose, fifo, long] = paths.map(|path| path.to_str().expect("UTF-8"));
    for (args, why) in [
        (&["lint"][..], "FILE"),
        (&["lint", "/nonexistent.md"], "cannot read /nonexistent.md"),
        (&["lint", "/"], "cannot read /"),
        (&["lint", "--format", "csv", table], "text, json or md"),
        (&["lint", "--column", "total", table], "NAME=ROLE"),
        (&["lint", "--column", "total_us=fast", table], "`fast` is no role"),
        (
            &["lint", "--column", "rtt=mean:us", table],
            "no column of numbers is `rtt`; iterations, total_us",
        ),
        (&["lint", fifo], "not a regular file"),
        (&["lint", "--gate", prose], "no table was found"),
        (
            &["lint", "--gate", long],
            "long.csv was not checked in full: the table of line 1 has 202",
        ),
    ] {
        let output = home.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{args:?}: {said}");
    }
}

#[test]
fn a_pipe_that_hopcost_was_given_is_read_to_its_end() {
    let home = Home::new();
    let mut lint = home.hopcost(&["lint", "/dev/fd/0"]);
    lint.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut lint = lint.spawn().expect("the binary starts");
    let mut table = lint.stdin.take().expect("a pipe");
    for part in FAULTY.split_inclusive('\n') {
        // It has read what there is, and waits.
        std::thread::sleep(Duration::from_millis(100));
        table.write_all(part.as_bytes()).expect("to write");
    }
    drop(table);
    let output = lint.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("/dev/fd/0:3: total"), "{output:?}");
    // Of these two, hopcost holds the end that is written to: nothing would end them.
    let fifo = home.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let both = File::options().read(true).write(true).open(&fifo).expect("a FIFO");
    for (path, stdin) in [("/dev/fd/1", Stdio::null()), ("fifo", Stdio::from(both))] {
        let output = home.hopcost(&["lint", path]).stdin(stdin).output().expect("it ends");
        assert_eq!(output.status.code(), Some(2), "{path}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("not a regular file"), "{path}");
    }
}
