//! What the program prints of itself is whole: references, completions, exit codes.

use std::collections::BTreeSet;

use hopcost_model::finding::Code;

use crate::support::{Home, mechanisms};

/// What the headings of a reference are about.
fn headings(topic: &str) -> Vec<String> {
    let text = Home::new().expect(&["reference", topic], 0);
    text.lines().filter_map(|line| line.strip_prefix("## ").map(str::to_owned)).collect()
}

#[test]
fn each_reference_has_every_part_once() {
    let commands = subcommands(&Home::new()).into_iter().filter(|name| name != "help");
    let commands = commands.map(|name| format!("hopcost {name}"));
    let commands: Vec<String> = std::iter::once("hopcost".to_owned()).chain(commands).collect();
    assert_eq!(headings("cli"), commands);
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let shown = mechanisms().map(|facts| facts.name.to_owned()).collect();
    assert_eq!(sorted(headings("mechanisms")), sorted(shown));
    let codes: Vec<String> = Code::ALL.iter().map(Code::to_string).collect();
    assert_eq!(headings("findings"), codes);
    let tables = headings("tables");
    assert!(
        tables.iter().all(|name| hopcost_view::answer::all().iter().any(|of| of.has(name))),
        "{tables:?}"
    );
    assert!(tables.len() > 40, "{tables:?}");
}

/// The subcommands that the help shows.
fn subcommands(home: &Home) -> Vec<String> {
    let help = home.expect(&["--help"], 0);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    for known in ["run", "list", "show", "report", "compare"] {
        assert!(names.iter().any(|name| name == known), "no {known} in the help:\n{help}");
    }
    names
}

#[test]
fn completions_are_made_for_each_shell() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.expect(&["completions", shell], 0).contains("payload"), "{shell}");
    }
}

/// The exit codes of the code.
fn codes() -> BTreeSet<u8> {
    let source = include_str!("../crates/hopcost/src/cli/exit.rs");
    let constants = source.lines().filter_map(|line| line.strip_prefix("pub const "));
    constants
        .map(|line| {
            let value = line.split('=').nth(1).unwrap_or_default();
            value.trim().trim_end_matches(';').parse().expect("a number")
        })
        .collect()
}

#[test]
fn the_help_gives_every_exit_code_and_no_other() {
    let text = Home::new().expect(&["--help"], 0);
    let (_, list) = text.split_once("Exit codes: ").expect("exit codes");
    let (list, _) = list.split_once('.').expect("a full stop");
    let numbers = list.split(|c: char| !c.is_ascii_digit());
    let told: BTreeSet<u8> = numbers.filter_map(|number| number.parse().ok()).collect();
    assert!(told == codes() && told.len() >= 6, "{list}: {:?}", codes());
}
