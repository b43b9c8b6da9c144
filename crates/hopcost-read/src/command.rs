//! Command lines to paste into a shell.

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

/// The command that plays a trial of a case by hand, and shows every line of the worker protocol.
pub fn of_trial(id: &str, argv: &[String]) -> String {
    let mut command = format!("hopcost trial '{}' --transcript", id.replace('\'', r"'\''"));
    for worker in workers(argv) {
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
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_trial_is_replayed_with_the_workers_of_its_run() {
        let argv = ["hopcost", "run", "--worker", "./mine", "--worker=a b"].map(str::to_owned);
        assert_eq!(
            of_trial("call/syscall", &argv),
            "hopcost trial 'call/syscall' --transcript --worker ./mine --worker 'a b'"
        );
    }
}
