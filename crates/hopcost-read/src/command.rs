//! Command lines to paste into a shell.

use hopcost_model::protocol::Stamp;
use hopcost_model::raw::{RawRun, RawTrial};
use hopcost_model::text::shell_word;

/// The command that makes the run again, in the same order: its arguments after
/// the program's name, and its seed where they do not say it.
pub fn of_run(argv: &[String], seed: u64) -> String {
    let mut command = "hopcost".to_owned();
    let arguments = argv.get(1..).unwrap_or_default();
    if arguments.is_empty() {
        command.push_str(" run");
    }
    for word in arguments {
        command.push(' ');
        command.push_str(&shell_word(word));
    }
    if !arguments.iter().any(|word| word == "--seed" || word.starts_with("--seed=")) {
        command.push_str(&format!(" --seed {seed}"));
    }
    command
}

/// The command that repeats one case alone.
pub fn of_case(id: &str) -> String {
    format!("hopcost run '{}'", id.replace('\'', r"'\''"))
}

/// What `hopcost trial` allows a trial by default.
const DEADLINE_MS: u64 = 10_000;

/// The command that replays a trial by hand with as many operations in as large
/// batches, and shows every line of the worker protocol.
pub fn of_trial(id: &str, trial: &RawTrial, run: &RawRun) -> String {
    let mut command = format!("hopcost trial '{}' --transcript", id.replace('\'', r"'\''"));
    let mut add = |word: &str, value: u64| command.push_str(&format!(" {word} {value}"));
    let count = trial.ends.first().map(|end| end.count).filter(|count| *count > 0);
    if let Some(count) = count.or(Some(trial.operations).filter(|count| *count > 0)) {
        add("--count", count);
    }
    if let Some(Stamp::Batch { n } | Stamp::TwoLengths { n }) = trial.stamp {
        add("--batch", n);
    }
    let deadline_ms = run.plan.trial.deadline_ms;
    if deadline_ms > DEADLINE_MS {
        add("--deadline-ms", deadline_ms);
    }
    for worker in workers(&run.about.argv) {
        command.push_str(&format!(" --worker {}", shell_word(worker)));
    }
    command
}

/// The programs that were given as workers on a command line.
fn workers(argv: &[String]) -> impl Iterator<Item = &str> {
    argv.iter().enumerate().filter_map(|(i, word)| match word.as_str() {
        "--worker" => argv.get(i + 1).map(String::as_str),
        word => word.strip_prefix("--worker="),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        let argv = ["/usr/bin/hopcost", "run", "pipe?payload=64&wait=block", "--rounds=6", "it's"];
        let argv: Vec<String> = argv.map(str::to_owned).into();
        let command = of_run(&argv, 7);
        assert_eq!(
            command,
            r"hopcost run 'pipe?payload=64&wait=block' --rounds=6 'it'\''s' --seed 7"
        );
        let output = std::process::Command::new("sh")
            .args(["-c", &command.replace("hopcost run", "printf '%s\\n'")])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "pipe?payload=64&wait=block\n--rounds=6\nit's\n--seed\n7\n"
        );
        assert_eq!(of_run(&["hopcost".to_owned()], 7), "hopcost run --seed 7");
        assert_eq!(of_case("call/syscall"), "hopcost run 'call/syscall'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_trial_is_replayed_with_its_exact_counts() {
        use crate::testing::{Builder, CALL, PIPE, TCP, read};
        let python = format!("{TCP}&runtime=python:rust");
        let mut raw = Builder::new()
            .case(PIPE, 2, |round, t| t.each(&vec![100; 50 + round as usize]))
            .case(CALL, 2, |_, t| t.two_lengths(10, &[100; 50]))
            .case(&python, 2, |round, t| if round == 0 { t.fails("x") } else { t.each(&[100; 70]) })
            .case(&format!("{PIPE}&sched=fifo:1"), 0, |_, _| ())
            .build();
        raw.about.argv =
            ["hopcost", "run", "--worker", "./mine", "--worker=a b"].map(str::to_owned).into();
        let replays: Vec<_> = read(&raw).results.into_iter().map(|r| r.replay).collect();
        let with = "--transcript --count";
        let workers = "--worker ./mine --worker 'a b'";
        assert_eq!(
            replays,
            [
                Some(format!("hopcost trial '{PIPE}' {with} 50 {workers}")),
                Some(format!("hopcost trial '{CALL}' {with} 750 --batch 10 {workers}")),
                Some(format!("hopcost trial '{python}' {with} 70 {workers}")),
                None,
            ]
        );
    }
}
