//! The index of a fleet and `compare` of fleets: on directories whose truth is known, and on
//! hostile ones. What is reported of a fleet is tested in `fleet/tests/test_report.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::support::wait::InTime;
use crate::support::{Home, edit, repository, set_mode, stderr, text, unpack};

/// Writes a fleet whose truth is known (tests/support/fleet.py says what the words mean).
fn fleet(home: &Home, name: &str, words: &[&str]) -> PathBuf {
    let script = repository("tests/support/fleet.py");
    let directory = home.path().join(name);
    let made = Command::new("python3").arg(script).arg(&directory).args(words).finish();
    assert!(made.status.success(), "{words:?}");
    directory
}

fn index_of(fleet: &Path) -> PathBuf {
    fleet.join("fleet.sqlite")
}

#[test]
fn run_files_are_printed_as_the_index_stores_them() {
    let home = Home::new();
    let run = home.path().join("quick.hopcost");
    unpack(&repository("tests/runs/quick.hopcost.gz"), &run);
    let other = home.path().join("other");
    fs::write(&other, "not a run").expect("a file");
    let said = home.expect(&["fleet", "index", text(&run), text(&other)], 0);
    let found: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(found.len(), 2);
    assert!(found[1]["error"].as_str().is_some_and(|why| why.contains("not an SQLite database")));
    assert!(found[0]["facts"]["kernel.release"].is_string(), "{said}");
    // What is reported is what `hopcost report` computes.
    let stored = home.json(&["report", text(&run), "--format", "json"]);
    let p50_of = |rows: &serde_json::Value| {
        let rows = rows.as_array().expect("estimates");
        rows.iter().find(|row| row["statistic"] == "p50_ns").expect("a p50").clone()
    };
    let (own, indexed) = (p50_of(&stored["estimates"]), p50_of(&found[0]["estimates"]));
    assert_eq!((&own["case"], &own["point"]), (&indexed["case"], &indexed["point"]));
    assert_eq!(indexed["unit"], "ns");
}

#[test]
fn hostile_indices_are_refused_in_one_line() {
    let home = Home::new();
    let (good, other) =
        (fleet(&home, "good", &["10"]), fleet(&home, "other", &["10", "--id", "fleet-2"]));
    let place = |sql: &str| {
        let place = home.path().join("hostile");
        let _ = fs::remove_dir_all(&place);
        assert!(Command::new("cp").arg("-a").arg(&good).arg(&place).finish().status.success());
        edit(&index_of(&place), sql);
        place
    };
    let set = |column: &str, path: &str, value: &str| {
        format!("UPDATE task SET {column} = json_set({column}, '$.{path}', {value}) WHERE id = 1")
    };
    for (sql, why) in [
        (set("run", "estimates[0].point", "json('9e999')"), "number out of range"),
        (set("run", "estimates[0].point", "'fast'"), "invalid type: string"),
        (set("run", "facts", "json('[1]')"), "invalid type: sequence"),
        (set("document", "a", "'../x'"), "no host is called ../x"),
        ("UPDATE task SET document = '[1'".to_owned(), "not the JSON it should be"),
        ("UPDATE task SET run = zeroblob(20000000)".to_owned(), "too big"),
        ("DROP TABLE task".to_owned(), "no such table: task"),
        (
            "DROP TABLE task; CREATE VIEW task AS WITH RECURSIVE n(i) AS
             (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS id, '{}' AS document, NULL AS run FROM n"
                .to_owned(),
            "fleet.sqlite",
        ),
    ] {
        let place = place("");
        let db = Connection::open(index_of(&place)).expect("the index");
        db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        drop(db);
        home.refuses(&["compare", text(&place), text(&other)], 2, why);
    }
    let place = place(&set("run", "facts.\"host.id\"", "char(27) || ']0;x' || char(7)"));
    let said = home.expect(&["compare", text(&place), text(&other)], 0);
    assert!(said.contains("hosts") && !said.contains(['\u{1b}', '\u{7}']), "{said}");
    let mut bytes = fs::read(index_of(&good)).expect("the index");
    bytes[4096..].fill(0xa5);
    fs::write(index_of(&good), bytes).expect("a file");
    home.refuses(&["compare", text(&good), text(&other)], 2, "fleet.sqlite");
}

#[test]
fn fleets_are_compared_with_hosts_as_blocks() {
    let home = Home::new();
    let before = fleet(&home, "before", &["30", "--spread", "0.1"]);
    let words = ["28", "--spread", "0.1", "--scale", "1.06", "--kernel", "6.2", "--id", "fleet-2"];
    let after = fleet(&home, "after", &words);
    let both = [text(&before), text(&after)];
    let refused = home.run(&["compare", both[0], both[1]]);
    let why = stderr(&refused);
    assert!(refused.status.code() == Some(6) && why.contains("--across kernel"), "{why}");
    let said = home.expect(&["compare", both[0], both[1], "--across", "kernel"], 0);
    for part in
        ["28 hosts before and after", "slower", "+6.00 %", "kernel.release was 6.1.8 and is 6.2"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(said.contains("2 hosts measured only in the baseline: h00028 and h00029"), "{said}");
    let found = home.json(&["compare", both[0], both[1], "--across", "kernel", "--format", "json"]);
    assert_eq!(found["run_comparison"][0]["hosts_n_hosts"], 28, "{found}");
    // Every host by itself, whatever hosts differ by.
    for of in found["contrasts"].as_array().expect("contrasts") {
        let near = |key: &str| of[key].as_f64().is_some_and(|ratio| (ratio - 1.06).abs() < 1e-6);
        assert!(near("contrast_low") && near("contrast_high"), "{of}");
        assert_eq!(of["contrast_verdict"], "outside");
    }
    home.refuses(&["compare", both[0], both[0]], 2, "the same fleet");
    home.refuses(&["compare", both[0], text(home.path())], 2, "a fleet is compared with one other");
}

#[test]
fn the_driver_is_started_only_from_beside_the_binary_and_only_if_nobody_else_may_write_it() {
    let home = Home::new();
    // A copy, so that nothing is put beside the binary that is tested.
    let bin = home.path().join("bin");
    fs::create_dir(&bin).expect("a directory");
    let own = bin.join("hopcost");
    fs::copy(crate::support::hopcost_path(), &own).expect("a copy");
    let run = |words: &[&str]| {
        let elsewhere = home.path().join("path");
        let output = Command::new(&own).args(words).env("PATH", elsewhere).finish();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    for command in ["run", "report"] {
        let (code, said) = run(&["fleet", command, "quick"]);
        assert!(code == Some(2) && said.contains("pip install 'hopcost[fleet]'"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let driver = bin.join("hopcost-fleet");
    fs::write(&driver, "#!/bin/sh\necho \"driver: $*\"\nexit 7\n").expect("a driver");
    set_mode(&driver, 0o777);
    let (code, said) = run(&["fleet", "run", "quick"]);
    assert!(code == Some(2) && said.contains("not trusted"), "{said}");
    set_mode(&driver, 0o755);
    let (code, said) = run(&["fleet", "run", "quick", "--ssh", "hosts.txt", "--help"]);
    assert_eq!((code, said.as_str()), (Some(7), "driver: run quick --ssh hosts.txt --help\n"));
}
