//! The words of the command line. Those of `hopcost run` may do without `run`.

use std::ffi::OsString;

use clap::Command;
use hopcost_plan::{SHIPPED, nearest};
use hopcost_probe::mechanism;

/// The words to be parsed: with `run` where no subcommand was named but what it measures, or one of
/// its options.
pub fn arguments(cli: &Command) -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let first = words.get(1).map(|word| word.to_string_lossy().into_owned());
    let missing = first.map_or(&[][..], |first| missing_before(&first, cli));
    words.splice(1..1, missing.iter().map(OsString::from));
    words
}

/// What is missing before a first word.
fn missing_before(first: &str, cli: &Command) -> &'static [&'static str] {
    let commands: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
    let suites = || SHIPPED.iter().map(|(name, _)| *name);
    if ["help", "--help", "-h", "--version", "-V"].contains(&first) || commands.contains(&first) {
        return &[];
    }
    if suites().any(|suite| suite == first) {
        return &["run", "--suite"];
    }
    // What is nearest to a subcommand is a misspelt one, which clap tells of.
    let names = mechanism::ALL.iter().map(|row| row.name);
    let known: Vec<&str> = names.chain(commands.iter().copied()).chain(suites()).collect();
    match nearest(first, &known).is_some_and(|near| commands.contains(&near)) {
        true => &[],
        false => &["run"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_may_stand_alone() {
        let names = ["run", "report", "worker", "completions"];
        let cli = Command::new("hopcost").subcommands(names.map(Command::new));
        for word in ["pipe", "unix-*", "wake/pipe", "pipe?payload=4", "--suite", "--html", "zzz"] {
            assert_eq!(missing_before(word, &cli), ["run"], "{word}");
        }
        assert_eq!(missing_before("wakeup", &cli), ["run", "--suite"]);
        for word in ["run", "worker", "help", "--version", "rnu", "reprot", "completion"] {
            assert_eq!(missing_before(word, &cli), [""; 0], "{word}");
        }
    }
}
