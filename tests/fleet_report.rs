//! `hopcost fleet report`, its index, and `compare` of fleets: on directories whose truth is known, and on hostile ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

use crate::schema;
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

/// The words of a document, wherever its lines end.
fn flat(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn index_of(fleet: &Path) -> PathBuf {
    fleet.join("fleet.sqlite")
}

#[test]
fn slow_hosts_are_told_on_one_screen_with_what_they_have_in_common() {
    let home = Home::new();
    let slow = fleet(&home, "slow", &["100", "--slow", "4:1.4", "--failed", "4", "--pairs", "8"]);
    let said = home.expect(&["fleet", "report", text(&slow)], 0);
    for part in [
        "4 hosts slower, 0 faster",
        "All 4 slow hosts have kernel.release 6.1.9; of the 92 others none has",
        "are of the same hosts: which of them makes the difference",
        "its agent died",
        "no route to host",
        "Clocks off the driver's by more than a minute: h00050 by 2",
        "Agents took at work 2.1 % CPU",
        "Slower in most of their pairs: h00003 (×1.",
        "hosts with are and by [interval] in error",
    ] {
        assert!(flat(&said).contains(part), "{part}\n{said}");
    }
    assert!(said.lines().count() <= 55, "{said}");
    let json = home.expect(&["fleet", "report", text(&slow), "--format", "json"], 0);
    schema::valid("FleetReport", &json);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let hosts: Vec<&str> = json["outliers"]
        .as_array()
        .expect("outliers")
        .iter()
        .map(|of| of["host"].as_str().expect("a name"))
        .collect();
    assert_eq!(hosts.len(), 4, "{hosts:?}");
    assert!(hosts.iter().all(|host| ["h00000", "h00001", "h00002", "h00003"].contains(host)));
    assert_eq!(json["groups"][0]["off"], "slower");
}

#[test]
fn a_page_names_the_hosts_and_draws_the_pairs() {
    let home = Home::new();
    let slow = fleet(&home, "page", &["12", "--slow", "1:2", "--failed", "1", "--pairs", "4"]);
    let page = home.expect(&["fleet", "report", text(&slow), "--format", "html"], 0);
    assert!(page.contains("h00000") && page.contains("<svg"), "{page}");
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
    let said = home.expect(&["fleet", "report", text(&read)], 0);
    assert!(said.contains("its run file cannot be read"), "{said}");
    let db = Connection::open(index_of(&read)).expect("the index");
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
    assert!(count("SELECT count(*) FROM fact WHERE key = 'kernel.release'") == 1);
    assert!(count("SELECT count(*) FROM estimate WHERE point > 0 AND unit = 'ns'") > 0);
    // What is reported is what `hopcost report` computes.
    let stored = home.json(&["report", text(&run), "--format", "json"]);
    let case = stored["results"]
        .as_array()
        .and_then(|all| all.iter().find(|case| case["estimates"]["p50_ns"]["point"].is_number()))
        .expect("a case");
    let indexed: f64 = db
        .query_row(
            "SELECT point FROM estimate WHERE case_id = ?1 AND statistic = 'p50_ns'",
            [case["id"].as_str()],
            |row| row.get(0),
        )
        .expect("an estimate");
    assert_eq!(case["estimates"]["p50_ns"]["point"].as_f64(), Some(indexed));
}

#[test]
fn fleets_are_reported_at_any_moment_and_without_being_written() {
    let home = Home::new();
    let running = fleet(&home, "running", &["20"]);
    edit(
        &index_of(&running),
        "UPDATE fleet SET value = 'running' WHERE key = 'status';
         UPDATE task SET state = 'running', file = NULL WHERE id > 12;
         DROP TABLE run_file;",
    );
    let said = home.expect(&["fleet", "report", text(&running)], 0);
    assert!(said.contains("running") && said.contains("12 done, 8 running"), "{said}");
    let empty = fleet(&home, "empty", &["0"]);
    let said = home.expect(&["fleet", "report", text(&empty)], 0);
    assert!(said.contains("The fleet has no host yet."), "{said}");
    for format in ["json", "md", "html"] {
        home.expect(&["fleet", "report", text(&empty), "--format", format], 0);
    }
    let plain = home.path().join("plain");
    fs::create_dir(&plain).expect("a directory");
    home.refuses(&["fleet", "report", text(&plain)], 2, "has no fleet.sqlite");
    home.refuses(&["fleet", "report", "/nonexistent"], 2, "/nonexistent");
}

#[test]
fn hostile_indices_are_one_line_or_a_row_that_says_so() {
    let home = Home::new();
    let good = fleet(&home, "good", &["10"]);
    let evil = home.path().join("secret.hopcost");
    fs::write(&evil, "x").expect("a file");
    for (sql, says) in [
        (
            "UPDATE task SET file = '../secret.hopcost' WHERE id = 1",
            "leads out of the fleet's directory",
        ),
        ("UPDATE task SET file = '/etc/passwd' WHERE id = 1", "leads out of the fleet's directory"),
        (
            "UPDATE host SET name = '../../x' WHERE name = 'h00001'",
            "a host of an impossible name in host.name",
        ),
        ("UPDATE host SET clock_off_s = 'soon'", "no plausible number in host.clock_off_s"),
        ("UPDATE host SET labels = '[1]'", "labels that are no JSON object"),
        ("UPDATE host SET labels = x'00ff', state = x'01'", "a blob where a text belongs"),
        ("UPDATE estimate SET point = -1", "a value that is not above 0"),
        ("UPDATE estimate SET point = 9e999", "no plausible number in estimate.point"),
        ("UPDATE estimate SET point = 'fast', low = 3, high = 1", "no plausible number"),
        ("UPDATE task SET a = 'nobody'", "of hosts that the table of hosts does not have"),
        ("UPDATE task SET kind = 'moon'", "a task of no host"),
        ("UPDATE host SET state = 'lost', reason = char(27) || '[2Jgone' || char(8238)", "[2Jgone"),
        ("UPDATE fact SET value = char(27) || ']0;x' || char(7)", "100"),
        ("UPDATE estimate SET case_id = case_id || char(10) || '<script>', low = NULL", "script"),
        ("DELETE FROM fleet; DELETE FROM task", "h0000"),
    ] {
        let place = home.path().join("hostile");
        let _ = fs::remove_dir_all(&place);
        let copied = Command::new("cp").arg("-a").arg(&good).arg(&place).finish();
        assert!(copied.status.success());
        edit(&index_of(&place), sql);
        for words in [&["--details"][..], &["--format", "json"], &["--format", "html"]] {
            let mut all = vec!["fleet", "report", text(&place)];
            all.extend(words);
            let said = home.expect(&all, 0);
            assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{sql}: {said}");
            let flat = flat(&said);
            if words == ["--details"] && says != "100" {
                assert!(flat.contains(says), "{sql}: {says}\n{said}");
            }
        }
    }
    for (sql, why) in [
        ("DROP TABLE task", "is not the index of a fleet: no such table: task"),
        ("ALTER TABLE host DROP COLUMN labels", "no such column: labels"),
        ("UPDATE host SET reason = zeroblob(500000000) WHERE name = 'h00001'", "too big"),
        ("PRAGMA journal_mode = WAL; UPDATE fleet SET value = 1", "write-ahead log"),
    ] {
        let place = home.path().join("refused");
        let _ = fs::remove_dir_all(&place);
        assert!(Command::new("cp").arg("-a").arg(&good).arg(&place).finish().status.success());
        let db = Connection::open(index_of(&place)).expect("the index");
        db.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        drop(db);
        home.refuses(&["fleet", "report", text(&place)], 2, why);
    }
    let junk = home.path().join("junk");
    fs::create_dir(&junk).expect("a directory");
    fs::write(index_of(&junk), "no database").expect("a file");
    home.refuses(&["fleet", "report", text(&junk)], 2, "it is not an SQLite database");
    let mut bytes = fs::read(index_of(&good)).expect("the index");
    bytes[5000..9000].fill(0xa5);
    fs::write(index_of(&junk), bytes).expect("a file");
    home.refuses(&["fleet", "report", text(&junk)], 2, "fleet.sqlite");
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
    schema::valid("RunComparison", &home.expect(&json, 0));
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
    let (code, said) = run(&["fleet", "run", "quick"]);
    assert!(code == Some(2) && said.contains("pip install 'hopcost[fleet]'"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let driver = bin.join("hopcost-fleet");
    fs::write(&driver, "#!/bin/sh\necho \"driver: $*\"\nexit 7\n").expect("a driver");
    let mode = |mode| fs::set_permissions(&driver, fs::Permissions::from_mode(mode)).expect("mode");
    mode(0o777);
    let (code, said) = run(&["fleet", "run", "quick"]);
    assert!(code == Some(2) && said.contains("not trusted"), "{said}");
    mode(0o755);
    let (code, said) = run(&["fleet", "run", "quick", "--ssh", "hosts.txt", "--help"]);
    assert_eq!((code, said.as_str()), (Some(7), "driver: run quick --ssh hosts.txt --help\n"));
}
