//! `hopcost list`: everything at a glance, and at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use hopcost_model::mechanism::Words;
use hopcost_probe::mechanism;

use crate::support::wait::InTime;
use crate::support::{Home, together};

/// Longest text of what a mechanism is that 80 columns have room for.
const ABOUT_MAX: usize = 35;

#[test]
fn every_mechanism_has_a_line_and_all_of_them_a_screen() {
    let _together = together();
    let home = Home::new();
    let shown: Vec<_> =
        mechanism::ALL.iter().map(|row| row.facts()).filter(|facts| !facts.hidden()).collect();
    for (columns, lines) in [(80, 64), (100, 60)] {
        let output = home.hopcost(&["list"]).env("COLUMNS", columns.to_string()).try_finish();
        let text = String::from_utf8(output.expect("hopcost").stdout).expect("UTF-8");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{columns}: {widest:?}\n{text}");
        assert!(text.lines().count() <= lines, "{} lines\n{text}", text.lines().count());
        for facts in &shown {
            let words = |line: &str| line.split_whitespace().any(|word| word == facts.name);
            let table = text.lines().take(1 + shown.len());
            assert!(table.filter(|line| words(line)).count() >= 1, "{}\n{text}", facts.name);
        }
    }
    for facts in shown {
        let Words { about, between_stamps, sources, .. } = &facts.words;
        let length = about.chars().count();
        assert!(length <= ABOUT_MAX, "{}: {length} characters: {about}", facts.name);
        assert!(!about.is_empty() && !between_stamps.is_empty(), "{}", facts.name);
        assert!(!sources.is_empty(), "{} names no source", facts.name);
    }
}

/// A worker of a folder that says what it is once the other one of two has been started.
fn worker(home: &Home, name: &str, other: &str) -> PathBuf {
    let folder = home.path().join("workers").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let manifest = format!(
        "runtime = \"{name}\"\ncommand = [\"./program\"]\nneeds = \"a\"\ninstall = \"b\"\n"
    );
    fs::write(folder.join("worker.toml"), manifest).expect("a manifest");
    let described = format!(
        r#"{{"is":"described","protocol":3,"runtime":"{name}","version":"1","mechanisms":[{{"name":"mutex","about":"a lock","workloads":["call"]}}]}}"#
    );
    let script = format!(
        "#!/bin/sh\n: >started\nfor i in $(seq 500); do\n\
         [ -e ../{other}/started ] && break\nsleep 0.01\ndone\n\
         [ -e ../{other}/started ] || exit 1\n\
         read line\necho '{described}'\ncat >/dev/null\n"
    );
    let program = folder.join("program");
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    folder
}

#[test]
fn workers_are_asked_at_once_and_listed_with_the_place_where_they_were_found() {
    let _together = together();
    let home = Home::new();
    let folders = [worker(&home, "first", "second"), worker(&home, "second", "first")];
    let listed = || {
        let mut command = home.hopcost(&["worker", "list"]);
        let output = command.env("HOPCOST_WORKERS", home.path().join("workers")).finish();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").replace("\n", " ")
    };
    let here = listed();
    assert!(!here.contains("absent"), "{here}");
    assert!(folders.iter().all(|folder| here.contains(folder.to_str().expect("UTF-8"))), "{here}");
    fs::remove_file(folders[0].join("program")).expect("removed");
    let absent = listed();
    let folder = folders[0].to_str().expect("UTF-8");
    assert!(absent.contains("absent: not built") && absent.contains(folder), "{absent}");
}
