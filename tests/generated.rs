//! What is made from the code stays as the code says: documents, completions, exit codes.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hopcost_model::finding::Code;

use crate::support::Home;
use crate::support::wait::reap;
use crate::{dockets, schema};

/// Set, the tests write the files instead of comparing them.
const REGENERATE: &str = "HOPCOST_REGENERATE";

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Fails if a file is not what would be made now.
fn fresh(path: &str, made: &str) {
    let file = repository(path);
    if std::env::var_os(REGENERATE).is_some_and(|value| !value.is_empty()) {
        std::fs::write(&file, made).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        return;
    }
    let stored = std::fs::read_to_string(&file).unwrap_or_else(|e| format!("({e})"));
    if stored == made {
        return;
    }
    let same = stored.lines().zip(made.lines()).take_while(|(old, new)| old == new).count();
    panic!(
        "{path} is stale: run {REGENERATE}=1 cargo test -p hopcost --test integration generated\n\
         line {}: it says   {:?}\n         it should {:?}",
        same + 1,
        stored.lines().nth(same).unwrap_or("(its end)"),
        made.lines().nth(same).unwrap_or("(its end)")
    );
}

/// Says on a page who makes it.
fn by_hand_never(from: &str) -> String {
    format!("<!-- Made from {from}; a test fails when it is stale. Do not edit by hand. -->\n\n")
}

#[test]
fn the_mechanisms_page_is_fresh() {
    let all: Vec<_> = hopcost_probe::mechanism::ALL.iter().map(|row| &row.facts).collect();
    let page = format!(
        "# Mechanisms\n\n{}\
         Words are defined in the [glossary](../GLOSSARY.md). System calls and context switches are \
         of one operation by both ends together, under the default wait in this table and under \
         each wait below; the conformance tests count them.\n\n{}",
        by_hand_never("the rows in crates/hopcost-probe/src/mechanism"),
        hopcost_view::mechanisms::reference(&all)
    );
    fresh("docs/mechanisms.md", &page);
}

#[test]
fn the_findings_page_is_fresh() {
    let mut page = format!(
        "# Findings\n\n{}\
         A finding is a remark that hopcost makes on a run or on a case, with its evidence. Its \
         severity says how far it reaches: a `note` is to be known and the number stands; \
         `suspect`, the number may mislead; `invalid`, the number is not what its label says (exit \
         code 3). A result is as valid as its worst finding lets it be. Thresholds are named \
         constants beside their rules, in crates/hopcost-read/src/findings.\n",
        by_hand_never("crates/hopcost-model/src/finding.rs")
    );
    for code in Code::ALL {
        page.push_str(&format!(
            "\n## {code}\n\n{}\n\n**What to do:** {}\n",
            code.means(),
            code.remedy()
        ));
    }
    fresh("docs/findings.md", &page);
}

#[test]
fn the_command_line_reference_is_fresh() {
    fresh("docs/cli.md", &Home::new().expect(&["reference"], 0));
}

#[test]
fn the_manual_page_is_fresh_and_names_every_subcommand() {
    let home = Home::new();
    let page = home.expect(&["man"], 0);
    for subcommand in subcommands(&home) {
        let name = format!("hopcost\\-{subcommand}(1)");
        assert!(page.contains(&name), "{subcommand} is not in the manual page");
    }
    fresh("docs/hopcost.1", &page);
}

#[test]
fn the_schemas_are_fresh() {
    fresh("schema/hopcost-1.json", &format!("{:#}\n", schema::document()));
    fresh("schema/docket-1.json", &format!("{:#}\n", dockets::schema()));
}

/// The subcommands that the help shows.
fn subcommands(home: &Home) -> Vec<String> {
    let help = home.expect(&["--help"], 0);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    for known in ["run", "list", "show", "report", "completions"] {
        assert!(names.iter().any(|name| name == known), "no {known} in the help:\n{help}");
    }
    names
}

#[test]
fn completions_are_made_for_each_shell() {
    let home = Home::new();
    let names = subcommands(&home);
    for shell in ["bash", "zsh", "fish"] {
        let script = home.expect(&["completions", shell], 0);
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell}: no {name}");
        }
        for option in ["payload", "rounds", "format"] {
            assert!(script.contains(option), "{shell}: no {option}");
        }
        parses(shell, &script);
    }
}

/// Lets the shell read a script without running it, if the shell is here (bash must be).
fn parses(shell: &str, script: &str) {
    let mut command = Command::new(shell);
    command.arg("-n").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) if shell != "bash" && e.kind() == std::io::ErrorKind::NotFound => return,
        Err(e) => panic!("{shell}: {e}"),
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("the shell reads");
    drop(stdin);
    assert!(reap(&mut child).success(), "{shell} -n refuses the script");
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
fn the_help_and_the_manual_give_every_exit_code_and_no_other() {
    let home = Home::new();
    for document in ["--help", "man"] {
        let text = home.expect(&[document], 0);
        let (_, list) = text.split_once("Exit codes: ").expect("exit codes");
        let (list, _) = list.split_once('.').expect("a full stop");
        let told: BTreeSet<u8> = list
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        assert_eq!(told, codes(), "{document}: {list}");
    }
    assert!(codes().len() >= 6, "{:?}", codes());
}
