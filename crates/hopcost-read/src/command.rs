//! Command lines to paste into a shell.

/// A word quoted for a POSIX shell, if it needs to be.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

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
        command.push_str(&quoted(word));
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
        assert_eq!(quoted(""), "''");
    }
}
