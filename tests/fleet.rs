//! The index of a fleet and `compare` of fleets: on directories whose truth is known, and on
//! hostile ones. What is reported of a fleet is tested in `fleet/tests/test_report.py`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::support::wait::InTime;
use crate::support::{Home, edit};

/// Writes a fleet whose truth is known (tests/support/fleet.py says what the words mean).
fn fleet(home: &Home, name: &str, words: &[&str]) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/fleet.py");
    let directory = home.path().join(name);
    let made = Command::new("python3").arg(script).arg(&directory).args(words).finish();
    assert!(made.status.success(), "{words:?}");
    directory
}

/// A run that was made long ago.
fn stored_run(home: &Home) -> PathBuf {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/runs/quick.hopcost.gz");
    let packed = fs::File::open(packed).expect("a stored run");
    let run = home.path().join("quick.hopcost");
    let mut file = fs::File::create(&run).expect("a file");
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut file).expect("unpacked");
    run
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn index_of(fleet: &Path) -> PathBuf {
    fleet.join("fleet.sqlite")
}

#[test]
fn run_files_are_read_once_and_again_if_they_changed() {
    let home = Home::new();
    let run = stored_run(&home);
    let read = fleet(&home, "read", &["3", "--run", text(&run)]);
    let index = |wanted: &str| {
        let said = home.expect(&["fleet", "index", text(&read)], 0);
        assert!(said.starts_with(wanted), "{said}");
    };
    index("3 run files read into the index, 0 of them");
    index("0 run files");
    let other = read.join("hosts/h00001.hopcost");
    fs::write(&other, "not a run").expect("overwritten");
    fs::remove_file(read.join("hosts/h00002.hopcost")).expect("removed");
    index("2 run files read into the index, 2 of them cannot be read");
    index("0 run files");
    let db = Connection::open(index_of(&read)).expect("the index");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    assert!(count("SELECT count(*) FROM fact WHERE key = 'kernel.release'") == 1);
    assert!(count("SELECT count(*) FROM estimate WHERE point > 0 AND unit = 'ns'") > 0);
    // What is reported is what `hopcost report` computes.
    let stored = home.json(&["report", text(&run), "--format", "json"]);
    let estimates = stored["estimates"].as_array().expect("estimates");
    let p50 = estimates.iter().find(|row| row["statistic"] == "p50_ns").expect("a p50");
    let indexed: f64 = db
        .query_row(
            "SELECT point FROM estimate WHERE case_id = ?1 AND statistic = 'p50_ns'",
            [p50["case"].as_str()],
            |row| row.get(0),
        )
        .expect("an estimate");
    assert_eq!(p50["point"].as_f64(), Some(indexed));
}

#[test]
fn hostile_indices_are_one_line_or_a_row_that_says_so() {
    let home = Home::new();
    let (good, other) =
        (fleet(&home, "good", &["10"]), fleet(&home, "other", &["10", "--id", "fleet-2"]));
    fs::write(home.path().join("secret.hopcost"), "x").expect("a file");
    let place = |sql: &str| {
        let place = home.path().join("hostile");
        let _ = fs::remove_dir_all(&place);
        assert!(Command::new("cp").arg("-a").arg(&good).arg(&place).finish().status.success());
        edit(&index_of(&place), sql);
        place
    };
    for path in ["../secret.hopcost", "/etc/passwd"] {
        let place = place(&format!("UPDATE task SET file = '{path}' WHERE id = 1"));
        let said = home.expect(&["fleet", "index", text(&place)], 0);
        assert!(said.contains("1 of them cannot be read"), "{said}");
        let db = Connection::open(index_of(&place)).expect("the index");
        let why: String = db
            .query_row("SELECT error FROM run_file WHERE file = ?1", [path], |row| row.get(0))
            .expect("a row");
        assert!(why.contains("leads out of the fleet's directory"), "{why}");
    }
    for (sql, says) in [
        ("UPDATE estimate SET point = 9e999", "impossible rows"),
        ("UPDATE estimate SET point = 'fast'", "impossible rows"),
        ("UPDATE task SET a = '../x' WHERE id = 1", "impossible rows"),
        ("UPDATE fact SET value = char(27) || ']0;x' || char(7) WHERE key = 'host.id'", "hosts"),
        ("UPDATE estimate SET case_id = case_id || char(10) || '<script>'", "hosts"),
        ("DELETE FROM fleet; DELETE FROM task", "0 hosts"),
    ] {
        let place = place(sql);
        // Where no value is left, the two are not comparable.
        let output = home.run(&["compare", text(&place), text(&other)]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 6)), "{sql}: {said}");
        assert!(said.contains(says) && !said.contains(['\u{1b}', '\u{7}']), "{sql}: {said}");
    }
    for (sql, why) in [
        ("DROP TABLE task", "is not the index of a fleet: no such table: task"),
        ("PRAGMA journal_mode = WAL; UPDATE fleet SET value = 1", "write-ahead log"),
    ] {
        let place = place("");
        let db = Connection::open(index_of(&place)).expect("the index");
        db.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        drop(db);
        home.refuses(&["fleet", "index", text(&place)], 2, why);
    }
    let junk = home.path().join("junk");
    fs::create_dir(&junk).expect("a directory");
    home.refuses(&["fleet", "index", text(&junk)], 2, "has no fleet.sqlite");
    fs::write(index_of(&junk), "no database").expect("a file");
    home.refuses(&["fleet", "index", text(&junk)], 2, "it is not an SQLite database");
    let mut bytes = fs::read(index_of(&good)).expect("the index");
    bytes[4096..].fill(0xa5);
    fs::write(index_of(&junk), bytes).expect("a file");
    home.refuses(&["fleet", "index", text(&junk)], 2, "fleet.sqlite");
}

#[test]
fn what_cannot_be_written_is_compared_as_it_is() {
    let home = Home::new();
    let (one, two) = (fleet(&home, "one", &["9"]), fleet(&home, "two", &["9", "--id", "fleet-2"]));
    // A stranger's file where SQLite would look for a journal.
    fs::create_dir(one.join("fleet.sqlite-wal")).expect("a directory");
    home.refuses(&["fleet", "index", text(&one)], 2, "fleet.sqlite-wal");
    fs::remove_dir(one.join("fleet.sqlite-wal")).expect("removed");
    let said = home.expect(&["compare", text(&one), text(&two)], 0);
    assert!(said.contains("9 hosts before and after"), "{said}");
}

#[test]
fn fleets_are_compared_with_hosts_as_blocks() {
    let home = Home::new();
    let before = fleet(&home, "before", &["30", "--spread", "0.1"]);
    let words = ["28", "--spread", "0.1", "--scale", "1.06", "--kernel", "6.2", "--id", "fleet-2"];
    let after = fleet(&home, "after", &words);
    let both = [text(&before), text(&after)];
    let refused = home.run(&["compare", both[0], both[1]]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(6) && why.contains("--across kernel"), "{why}");
    let said = home.expect(&["compare", both[0], both[1], "--across", "kernel"], 0);
    for part in
        ["28 hosts before and after", "slower", "+6.00 %", "kernel.release was 6.1.8 and is 6.2"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(said.contains("2 hosts measured only in the baseline: h00028, h00029"), "{said}");
    let json = ["compare", both[0], both[1], "--across", "kernel", "--format", "json"];
    let found: serde_json::Value = serde_json::from_str(&home.expect(&json, 0)).expect("JSON");
    assert_eq!(found["run_comparison"][0]["hosts_n_hosts"], 28, "{found}");
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
        (
            output.status.code(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    for command in ["run", "report"] {
        let (code, said) = run(&["fleet", command, "quick"]);
        assert!(code == Some(2) && said.contains("pip install 'hopcost[fleet]'"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let driver = bin.join("hopcost-fleet");
    fs::write(&driver, "#!/bin/sh\necho \"driver: $*\"\nexit 7\n").expect("a driver");
    let mode = |mode| fs::set_permissions(&driver, fs::Permissions::from_mode(mode)).expect("mode");
    mode(0o777);
    let (code, said) = run(&["fleet", "run", "quick"]);
    assert!(code == Some(2) && said.contains("not trusted"), "{said}");
    mode(0o755);
    let (code, said) = run(&["fleet", "run", "quick", "--ssh", "hosts.txt", "--help"]);
    assert_eq!((code, said.as_str()), (Some(7), "driver: run quick --ssh hosts.txt --help\n"));
    let (code, said) = run(&["fleet", "report", "DIR", "--format", "html", "-o", "FILE"]);
    assert_eq!((code, said.as_str()), (Some(7), "driver: report DIR --format html -o FILE\n"));
}
