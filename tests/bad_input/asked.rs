//! What is asked for: words, numbers, cases that cannot be.

use super::{one_line, refused};
use crate::support::Home;

#[test]
fn unknown_words_get_a_suggestion() {
    refused(&["run", "pip"], &["pip", "did you mean `pipe`"]);
    refused(&["run", "pipe", "--wait", "blok"], &["blok", "block"]);
    refused(&["run", "--suite", "laddr"], &["laddr", "ladder"]);
    refused(&["show", "fute"], &["fute", "futex"]);
    refused(&["rnu"], &["rnu"]);
    refused(&["run", "--ronds", "3"], &["--ronds", "exists: '--rounds'"]);
    refused(
        &["run", "--resume", "x", "--touch", "none"],
        &["'--resume <RUN>'", "'--touch <LIST>'"],
    );
    refused(&["report", "--format", "xml"], &["'xml'", "[possible values: text, json"]);
}

#[test]
fn the_name_of_something_else_gets_the_command_that_was_meant() {
    refused(&["run", "wakeup"], &["`wakeup` is a suite", "hopcost run --suite wakeup"]);
    refused(&["run", "wakup"], &["`wakup`", "hopcost run --suite wakeup"]);
    refused(&["run", "ping"], &["hopcost run roundtrip/", "hopcost run 'roundtrip/*'"]);
    refused(&["run", "wake"], &["hopcost run wake/", "hopcost run 'wake/*'"]);
    refused(&["run", "python"], &["is a runtime", "--runtime python"]);
    refused(&["pip"], &["did you mean `pipe`"]);
    refused(&["ping"], &["hopcost run roundtrip/"]);
    refused(&["reprot"], &["reprot", "'report'"]);
    refused(&["--ronds", "3"], &["--ronds", "exists: '--rounds'"]);
    refused(&["wakeup", "--ronds"], &["--ronds"]);
}

#[test]
fn without_a_subcommand_what_is_named_is_run() {
    let home = Home::new();
    let plan = |words: &[&str]| home.expect(&[words, &["--dry-run", "--seed", "1"]].concat(), 0);
    assert_eq!(plan(&["pipe", "tcp"]), plan(&["run", "pipe", "tcp"]));
    assert_eq!(plan(&["wakeup"]), plan(&["run", "--suite", "wakeup"]));
    assert_eq!(plan(&["--suite", "quick"]), plan(&["run", "--suite", "quick"]));
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_measured() {
    for option in ["--output", "--html", "--plots"] {
        let file = "/proc/nowhere/page.html";
        refused(&["run", "pipe", option, file], &["cannot", "/proc/nowhere"]);
    }
    refused(&["run", "--html", "pipe"], &["--html", "'pipe'", ".html"]);
    refused(&["run", "pipe", "--dry-run", "--open"], &["--dry-run", "--open"]);
}

/// Words of cases are taken apart by hopcost-plan, whose tests have every mistake.
#[test]
fn absurd_numbers_are_refused() {
    refused(&["run", "pipe", "--payload", "4XiB"], &["4XiB"]);
    refused(&["run", "pipe", "--rounds", "-3"], &["-3"]);
    refused(&["run", "pipe", "--rounds", "99999999999"], &["99999999999"]);
    refused(&["run", "pipe", "--budget", "5"], &["5"]);
    refused(&["run", "pipe", "--budget", "99999999999999h"], &["too large"]);
    refused(&["run", "pipe", "--cpus", "4095"], &["4095"]);
    refused(&["run", "pipe", "--cpus", "0,0"], &["twice"]);
    refused(&["run", "pipe", "--sched", "fifo:200"], &["fifo"]);
    refused(&["run", "pipe?payload=99999999999999999999"], &["payload"]);
    refused(&["run", "pipe", "--operations", "-1"], &["-1"]);
    refused(&["run", "pipe", "--operations", "99999999999"], &["--operations", "100000000"]);
    refused(&["run", "--full"], &["--full", "which suite", "wakeup"]);
    refused(&["run", "udp?payload=70000"], &["65507"]);
}

#[test]
fn an_impossible_case_among_others_is_a_skipped_row() {
    let home = Home::new();
    let case = "websocket?boundary=inline,process&place=same-cpu";
    let text = home.expect(&["run", "--dry-run", "--format", "json", case], 0);
    assert!(text.contains("boundary=inline") && text.contains("\"skip\": \"websocket"), "{text}");
}

#[test]
fn hostile_arguments_do_not_reach_the_terminal() {
    let home = Home::new();
    let long = "x".repeat(100_000);
    for argument in ["x\u{1b}[31m", long.as_str()] {
        for command in [["show", argument], ["report", argument]] {
            let line = one_line(&home.run(&command), command[0], 2);
            assert!(
                !line.contains('\u{1b}') && line.len() < 4_000,
                "{}: {}",
                command[0],
                line.len()
            );
        }
    }
}
