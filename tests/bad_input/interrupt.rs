//! An interrupt keeps and shows what is finished, and the run goes on from there.

use std::io::{BufRead, BufReader};
use std::process::Output;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::faults::{alive, processes_of, signal, until};
use crate::support::wait::InTime;
use crate::support::{Home, start, stderr, stored, together};

/// A run that would go on for long, each of whose trials is short.
const LONG: [&str; 6] = ["run", "pipe,futex?place=same-cpu", "--rounds", "500", "--measure", "2ms"];

/// Interrupts a command that measures into this file once it has some trials.
fn interrupted(home: &Home, arguments: &[&str], file: &str) -> Output {
    let child = home.start(arguments);
    let finished = || stored(&home.path().join(file)).is_ok_and(|run| run.trials.len() > 2);
    until(Duration::from_secs(30), "trials", finished);
    signal(child.id(), libc::SIGINT);
    let output = child.finish();
    assert_eq!(output.status.code(), Some(130), "{arguments:?}: {output:?}");
    output
}

/// A subcommand that measures, and what of the finished part it shows.
const SHOWN: [(&[&str], &str); 4] = [
    (&["run", "pipe?place=same-cpu", "--rounds", "500"], "This run was cut off"),
    (&["compare", "--live", "pipe?place=same-cpu", "unix-stream?place=same-cpu"], "unix-stream"),
    (&["advise", "pipe", "--payload", "64", "--place", "same-cpu"], "Not decided"),
    (&["judge", "own.toml"], "So it is."),
];

#[test]
fn what_is_finished_is_shown_by_every_subcommand_that_measures() {
    let home = Home::together();
    let claims = include_str!("../support/own.toml");
    std::fs::write(home.path().join("own.toml"), claims).expect("to write");
    for (at, (arguments, part)) in SHOWN.into_iter().enumerate() {
        let file = format!("{at}.hopcost");
        let more = ["--measure", "2ms", "--out", &file];
        let output = interrupted(&home, &[arguments, &more].concat(), &file);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(part), "{arguments:?}: no `{part}` in: {shown}");
        let said = stderr(&output);
        assert!(said.contains("finished trials are kept in "), "{arguments:?}: {said}");
    }
}

#[test]
fn a_run_that_was_interrupted_is_resumed_and_loses_no_trial() {
    let home = Home::together();
    let done = || {
        let document = home.json(&["report", "a.hopcost", "--format", "json"]);
        assert_eq!(document["runs"][0]["complete"], false);
        document["runs"][0]["trials_done"].as_u64().expect("a number")
    };
    interrupted(&home, &[&LONG[..], &["--out", "a.hopcost"]].concat(), "a.hopcost");
    let before = done();
    let child = home.start(&["run", "--resume", "a.hopcost"]);
    let more = || {
        assert!(alive(child.id()), "it ended by itself");
        done() > before
    };
    until(Duration::from_secs(30), "more trials", more);
    signal(child.id(), libc::SIGINT);
    assert_eq!(child.finish().status.code(), Some(130));
    assert!(left(&home).is_empty(), "{:?}", left(&home));
}

/// Calls of the control process that may block, and a signal that comes meanwhile.
const CALLS: [(&str, i32); 7] = [
    ("connect", libc::SIGTERM),
    ("accept", libc::SIGHUP),
    ("reply", libc::SIGUSR1),
    ("wait", libc::SIGALRM),
    ("spacing", libc::SIGINT),
    ("store", libc::SIGTERM),
    ("write", libc::SIGTERM),
];

#[test]
fn a_signal_ends_a_run_within_a_second_in_whatever_call_it_is() {
    let _together = together();
    for (call, number) in CALLS {
        let home = Home::new();
        // Rounds so short that the second has to wait for its time.
        let case = ["run", "tcp?place=same-cpu", "--rounds", "2", "--measure", "1ms"];
        let mut child = start(home.hopcost(&case).env("HOPCOST_STALL", call));
        let said = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            said.lines().map_while(Result::ok).try_for_each(|l| sender.send(l))
        });
        let stalled = format!("stalled: {call}");
        let patience = Duration::from_secs(30);
        let heard = || lines.recv_timeout(patience).unwrap_or_else(|_| panic!("{call}: not made"));
        while heard() != stalled {}
        let since = Instant::now();
        signal(child.id(), number);
        let mut code = None;
        until(patience, call, || {
            code = child.try_wait().expect("our child").map(|status| status.code());
            code.is_some()
        });
        let took = since.elapsed();
        assert_eq!(code, Some(Some(130)), "{call}");
        assert!(took < Duration::from_millis(1_300), "{call}: {took:?}");
        assert!(processes_of(&home).is_empty() && left(&home).is_empty(), "{call}");
    }
}

/// Scratch directories that are there.
fn left(home: &Home) -> Vec<std::fs::DirEntry> {
    let entries = std::fs::read_dir(home.path()).expect("home").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("hopcost-")).collect()
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_so() {
    let home = Home::together();
    let case = ["run", "pipe?place=same-cpu", "--rounds", "2", "--measure", "20ms"];
    // As nohup(1) and a shell do.
    let ignoring = ["sh", "-c", "trap '' HUP INT; exec \"$@\"", "sh"];
    let mut child = start(&mut home.hopcost_by(&ignoring, &case));
    until(Duration::from_secs(10), "it starts", || !left(&home).is_empty());
    while child.try_wait().expect("our child").is_none() {
        signal(child.id(), libc::SIGHUP);
        signal(child.id(), libc::SIGINT);
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.finish();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
}
