//! What is asked for: words, numbers, cases that cannot be.

use super::{one_line, refused};
use crate::support::Home;

#[test]
fn what_cannot_be_done_is_refused_in_one_line() {
    let rows = include_str!("asked.txt").lines();
    for (asked, parts) in rows.filter_map(|row| row.split_once(" => ")) {
        let (code, arguments) = asked.split_once(" hopcost ").expect(asked);
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let parts: Vec<&str> = parts.split(" | ").collect();
        refused(&arguments, code.parse().expect("an exit code"), &parts);
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
