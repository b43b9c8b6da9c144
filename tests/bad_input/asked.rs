//! What is asked for: words, numbers, cases that cannot be.

use super::{one_line, refused};
use crate::support::{Home, alone};

#[test]
fn unknown_words_get_a_suggestion() {
    refused(&["run", "pip"], &["pip", "did you mean `pipe`"]);
    refused(&["run", "rountrip/pipe"], &["rountrip", "roundtrip"]);
    refused(&["run", "pipe?plaec=free"], &["plaec", "place"]);
    refused(&["run", "pipe", "--wait", "blok"], &["blok", "block"]);
    refused(&["run", "--suite", "laddr"], &["laddr", "ladder"]);
    refused(&["show", "fute"], &["fute", "futex"]);
    refused(&["run", "--mechanism", "unix-*x"], &["unix-*x"]);
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

#[test]
fn absurd_numbers_are_refused() {
    refused(&["run", "pipe?payload=-1"], &["payload", "-1"]);
    refused(&["run", "pipe", "--payload", "4XiB"], &["4XiB"]);
    refused(&["run", "pipe", "--rounds", "0"], &["rounds"]);
    refused(&["run", "pipe", "--rounds", "-3"], &["-3"]);
    refused(&["run", "pipe", "--rounds", "99999999999"], &["99999999999"]);
    refused(&["run", "pipe", "--budget", "5"], &["5"]);
    refused(&["run", "pipe", "--budget", "99999999999999h"], &["too large"]);
    refused(&["run", "pipe", "--cpus", "4095"], &["4095"]);
    refused(&["run", "pipe", "--cpus", "0,0"], &["twice"]);
    refused(&["run", "pipe", "--sched", "fifo:200"], &["fifo"]);
    refused(&["run", "pipe?payload=64&payload=65"], &["payload"]);
    refused(&["run", "pipe?payload=99999999999999999999"], &["payload"]);
    refused(&["run", "pipe?payload=64KiB..64"], &["`64KiB..64` does not rise", "64..4KiB"]);
    refused(&["run", "pipe", "--payload", "1..99GiB"], &["--payload", "`99GiB` is over"]);
    refused(&["run", "wake/pipe?gap=1"], &["`1` has no unit; write 1us, 1ms or 1s"]);
    refused(&["run", "tcp", "--baseline", "udp"], &["--baseline: `udp` selects no case", "tcp"]);
}

#[test]
fn what_only_a_wake_up_has_is_checked() {
    refused(&["run", "wake/pipe", "--gap", "1xs"], &["--gap", "`1xs` is not a duration"]);
    refused(&["run", "wake/pipe", "--gap", "1h"], &["--gap", "10s"]);
    refused(&["run", "wake/pipe?gap=-1"], &["-1"]);
    refused(&["run", "pipe", "--gap", "1ms"], &["--gap", "only a wake-up has `gap`"]);
    refused(&["run", "wake/pipe", "--idle-knob", "spiner"], &["did you mean `spinner`"]);
    refused(&["run", "pipe", "--idle-knob", "spinner"], &["only a wake-up"]);
    refused(&["run", "call/syscall", "--operations", "9"], &["--operations", "a call"]);
    refused(&["run", "pipe", "--operations", "0"], &["--operations"]);
    refused(&["run", "pipe", "--operations", "-1"], &["-1"]);
    refused(&["run", "pipe", "--operations", "99999999999"], &["--operations", "100000000"]);
}

#[test]
fn what_only_a_stream_has_is_checked() {
    let stream = "stream/tcp-send";
    refused(&["run", stream, "--fields", "0"], &["--fields", "from 1 to 1024"]);
    refused(&["run", stream, "--flows", "65"], &["--flows", "from 1 to 64"]);
    refused(&["run", stream, "--ack", "sometimes"], &["--ack", "per-message", "window:N"]);
    refused(&["run", stream, "--field", "0"], &["--field", "0 bytes"]);
    refused(&["run", stream, "--field", "4XiB"], &["--field", "4XiB"]);
    refused(&["run", stream, "--field", "64", "--payload", "64"], &["`payload` and `field`"]);
    refused(&["run", "stream/tcp-send?payload=100"], &["payload 100", "fields 8"]);
    refused(&["run", "pipe", "--fields", "8"], &["--fields", "only a stream"]);
    refused(&["run", "stream/tcp-vmsplice?ack=none"], &["tcp-vmsplice", "needs an ack"]);
    refused(&["run", "stream/pipe"], &["pipe has no workload `stream`"]);
    refused(&["run", "stream/unix-sendmsg?boundary=namespace"], &["unix-sendmsg", "namespace"]);
}

#[test]
fn only_some_suites_have_a_full_form() {
    refused(&["run", "--full"], &["--full", "which suite", "wakeup"]);
    refused(&["run", "--suite", "ladder", "--full"], &["`ladder` has no full form", "wakeup"]);
    refused(&["run", "--suite", "wakup", "--full"], &["wakup"]);
    let home = Home::new();
    let plan = home.expect(&["run", "--suite", "wakeup", "--full", "--dry-run"], 0);
    assert!(plan.contains("wakeup-full") && plan.contains(" min "), "{plan}");
}

#[test]
fn impossible_cases_say_why() {
    refused(&["run", "websocket?boundary=inline"], &["websocket", "inline"]);
    refused(&["run", "udp?payload=70000"], &["65507"]);
    refused(&["run", "park?boundary=process"], &["park", "process"]);
    refused(&["run", "flag?place=same-cpu&wait=spin"], &["one CPU"]);
    refused(&["run", "pipe?place=cross-node"], &["cross-node"]);
}

#[test]
fn an_impossible_case_among_others_is_a_skipped_row() {
    let _alone = alone();
    let home = Home::new();
    let plan = home
        .expect(&["run", "--dry-run", "pipe,websocket?boundary=inline,process&place=same-cpu"], 0);
    assert!(plan.contains("inline"), "{plan}");
    let output = home.expect(
        &[
            "run",
            "--dry-run",
            "--format",
            "json",
            "websocket?boundary=inline,process&place=same-cpu",
        ],
        0,
    );
    let document: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let text = document.to_string();
    assert!(text.contains("boundary=inline") && text.contains("skip"), "{text}");
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
