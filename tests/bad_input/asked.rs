//! What is asked for: words, numbers, cases that cannot be.

use super::{one_line, refused};
use crate::support::Home;

/// A command line, its exit code, and what its one line says.
type Refusal = (&'static str, i32, &'static [&'static str]);

/// Words of cases are taken apart by hopcost-plan, whose tests have every mistake.
const REFUSALS: &[Refusal] = &[
    // Unknown words get a suggestion.
    ("run --suite laddr", 2, &["laddr", "ladder"]),
    ("show fute", 2, &["fute", "futex"]),
    ("report nothing-like-it", 2, &["nothing-like-it"]),
    ("report last", 2, &["no run"]),
    ("report --format xml", 2, &["'xml'", "[possible values: text, json"]),
    ("run --resume x --touch none", 2, &["'--resume <RUN>'", "'--touch <LIST>'"]),
    // The name of something else gets the command that was meant.
    ("run wakeup", 2, &["`wakeup` is a suite", "hopcost run --suite wakeup"]),
    ("run wake", 2, &["hopcost run wake/", "hopcost run 'wake/*'"]),
    ("run python", 2, &["is a runtime", "--runtime python"]),
    ("pip", 2, &["did you mean `pipe`"]),
    ("ping", 2, &["hopcost run roundtrip/"]),
    ("reprot", 2, &["reprot", "'report'"]),
    ("--ronds 3", 2, &["--ronds", "exists: '--rounds'"]),
    // What cannot be written is refused before anything is measured.
    ("run pipe --output /proc/nowhere/page.html", 2, &["cannot", "/proc/nowhere"]),
    ("advise --payload 64 --format csv --table cpu_gaps", 2, &["no answer has `cpu_gaps`"]),
    ("run --html pipe", 2, &["--html", "'pipe'", ".html"]),
    ("run pipe --dry-run --html", 2, &["--dry-run", "--html"]),
    // Absurd numbers.
    ("run pipe --rounds -3", 2, &["-3"]),
    ("run pipe --budget 5", 2, &["5"]),
    ("run pipe --budget 99999999999999h", 2, &["too large"]),
    ("run pipe --cpus 4095", 2, &["4095"]),
    ("run pipe --operations 99999999999", 2, &["--operations", "100000000"]),
    (
        "run load/pipe?rate=0.5 --budget 10s",
        2,
        &["0.5 a second needs 40 s for 20 messages", "give --budget 5m"],
    ),
    ("explain pipe pipe --place same-cpu", 2, &["both cases are the same"]),
    ("explain pipe --seed 1 tcp udp", 2, &["want one case or two"]),
    // advise
    ("advise --payload 64 --rate 0", 2, &["--rate", "want 0.01"]),
    ("advise --payload 4XiB", 2, &["--payload"]),
    ("advise --payload 64 --boundary inline", 2, &["--boundary", "thread, process"]),
    ("advise --payload 64 --sort throughput", 2, &["--sort", "known: p50"]),
    ("advise --payload 64 udp --wait block", 2, &["may lose messages"]),
    ("advise --payload 64 --percentiles 75", 2, &["--percentiles is of runs"]),
    ("run pipe --percentiles 100", 2, &["between 0 and 100"]),
    ("run pipe --percentiles 75 --format md", 2, &["--percentiles goes with"]),
    ("trial call/syscall --trace 10", 1, &["cannot be traced: ", "not a call"]),
    (
        "trial roundtrip/sleep:9us?boundary=inline&place=same-cpu&wait=block&clock=virtual --trace 9",
        1,
        &["cannot be traced: ", "processor's own counter"],
    ),
    ("run roundtrip/tcp?boundary=host", 2, &["needs another host"]),
    ("run tcp --peer-address 10.0.0.2", 2, &["--peer <COMMAND>"]),
    ("run tcp --peer cat --peer-address no.such.name.", 2, &["`no.such.name.` is no address"]),
    ("run tcp --peer cat --peer-address [fe80::1]", 2, &["name the interface of this host"]),
    // compare
    ("compare --live roundtrip/spin:4000?place=same-cpu call/null", 6, &["the same workload"]),
    ("compare --live pipe eventfd", 6, &["the same payload", "--payload 64"]),
    ("compare --live tcp?place=same-cpu", 2, &["name a second"]),
    ("compare --live pipe pipe?wait=block,epoll", 2, &["compare one of them"]),
    ("compare pipe tcp", 2, &["--live"]),
    ("compare --live pipe tcp --margin 3", 2, &["percentage"]),
    // compare --along
    ("compare pipe tcp --along payload", 2, &["wants a range"]),
    ("compare pipe tcp --place same-cpu --along flows=1..4", 2, &["only a stream has"]),
    ("compare pipe tcp?payload=64 --along payload=64..4KiB", 2, &["the payload is given twice"]),
    ("compare pipe tcp --along nodelay=on,off", 2, &["unknown axis of numbers"]),
    ("compare pipe tcp --along payload=4KiB..64", 2, &["does not rise"]),
    ("compare pipe tcp udp --along payload=64..4KiB", 2, &["compares two cases"]),
];

#[test]
fn what_cannot_be_done_is_refused_in_one_line() {
    for (arguments, code, parts) in REFUSALS {
        refused(&arguments.split(' ').collect::<Vec<_>>(), *code, parts);
    }
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
