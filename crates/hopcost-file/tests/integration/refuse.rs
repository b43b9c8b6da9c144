//! Files that are not, or no longer, or never were a run: one clear line each.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{WAKE, fresh, made, make, open};
use hopcost_file::open_for_resume;
use rusqlite::Connection;

fn line(path: &Path) -> String {
    let line = open(path).unwrap_err().to_string();
    assert!(line.contains(path.file_name().unwrap().to_str().unwrap()), "{line}");
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn what_is_not_a_run_file_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("text"), "results of last week, sorted by taste").unwrap();
    fs::write(at("empty"), "").unwrap();
    fs::write(at("magic"), "SQLite format 3\0").unwrap();
    let other = Connection::open(at("other")).unwrap();
    other.execute_batch("CREATE TABLE bookmark (url); PRAGMA user_version = 1").unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
    for (name, part) in [
        ("text", "is not a hopcost run file: it is not an SQLite database"),
        ("other", "the SQLite database of something else"),
        ("empty", "empty"),
        ("magic", "damaged"),
        ("missing", "no such file"),
        ("dangling", "no such file"),
        // And without waiting for a writer.
        ("pipe", "not a regular file"),
    ] {
        let line = line(&at(name));
        assert!(line.contains(part), "{name}: {line}");
        assert_eq!(open_for_resume(&at(name)).unwrap_err().to_string(), line);
    }
    for (path, part) in [
        (dir.path(), "directory"),
        (Path::new("/dev/zero"), "not a regular file"),
        (Path::new(""), "no such file"),
        (Path::new(":memory:"), "no such file"),
    ] {
        assert!(open(path).unwrap_err().to_string().contains(part), "{path:?}");
    }
    assert!(!at("missing").exists(), "looking must not create");
}

fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn another_format_is_refused() {
    let (_dir, path, _) = made(1);
    for other in [9, 11, 0, -1] {
        change(&path, &format!("PRAGMA user_version = {other}"));
        assert!(
            line(&path).contains(&format!("format {other}; this hopcost reads format 10 alone"))
        );
    }
}

/// SQL that sets a part of every document of a table.
fn set(table: &str, path: &str, value: &str) -> String {
    format!("UPDATE {table} SET document = json_set(document, '$.{path}', {value})")
}

#[test]
fn hostile_content_is_named_and_refused() {
    let (dir, good) = fresh();
    make(&good, 3, &[WAKE]);
    let path = dir.path().join("changed");
    let rows = include_str!("hostile.txt").lines();
    for (sql, part) in rows.filter_map(|row| row.split_once(" => ")) {
        fs::copy(&good, &path).unwrap();
        change(&path, sql);
        let line = line(&path);
        assert!(line.contains(part), "{sql}\n{line}");
        let resumed = open_for_resume(&path).unwrap_err();
        assert_eq!(resumed.to_string(), line, "reading and resuming agree");
    }
}

#[test]
fn what_takes_long_to_read_is_refused_before_it_is_read() {
    let (dir, good, _) = made(3);
    let path = dir.path().join("changed");
    let run = |path: &str, value: &str| set("run", path, value);
    let copies = |path: &str, n: usize| {
        let all = format!("[{}]", vec!["?"; n].join(","));
        let one = format!("json_extract(document, '$.{path}[0]')");
        run(path, &format!("json(replace('{all}', '?', {one}))"))
    };
    let spelled = vec!["{\"id\":\"call/syscall\",\"skip\":null}"; 10_001].join(",");
    let nested = format!("{}{}", "[".repeat(500), "]".repeat(500));
    for (sql, part) in [
        (copies("host_before.readings", 10_001), "it has 10001 readings of the host, more than"),
        (copies("clocks", 10_001), "it has 10001 clocks, more than 10000"),
        (copies("workers", 10_001), "it has 10001 workers, more than 10000"),
        (run("plan.cases", &format!("json('[{spelled}]')")), "it has 10001 cases, more than 10000"),
        (
            "CREATE TEMP TABLE one AS SELECT * FROM trial WHERE trial = 1; DELETE FROM trial;
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 10001)
             INSERT INTO trial SELECT i + 1, json_set(document, '$.round', i), samples_kept,
                    samples, NULL, NULL, NULL, NULL, NULL FROM n, one"
                .to_owned(),
            "case 0 has more than 10000 trials",
        ),
        (
            run("about.version", "hex(zeroblob(500000))"),
            "about.version is 1000000 bytes long, more than 131072",
        ),
        ("UPDATE run SET document = hex(zeroblob(9000000))".to_owned(), "too big"),
        (format!("UPDATE run SET document = '{nested}'"), "recursion limit exceeded"),
        (
            set(
                "trial",
                "warm_up_ns",
                "json('[' || replace(hex(zeroblob(2600000)), '00', '0,0,')
                                        || '0]')",
            ),
            "the lists so far have more than 5000000 elements",
        ),
    ] {
        fs::copy(&good, &path).unwrap();
        change(&path, &sql);
        let line = line(&path);
        assert!(line.contains(part), "{sql:.200}\n{line}");
    }
}

#[test]
fn text_that_does_not_show_as_itself_is_written_out() {
    let (_dir, path, _) = made(1);
    let turned = "'x' || char(0x202e) || char(27) || '[2J' || char(7)";
    for (table, part) in [
        ("run", "about.id"),
        ("run", "about.argv[0]"),
        ("trial", "error"),
        ("run", "host_before.readings[0].value"),
    ] {
        change(&path, &set(table, part, turned));
    }
    // Tables and views of the user's own do no harm.
    change(&path, "CREATE TABLE note (text); CREATE VIEW mine AS SELECT * FROM trials");
    let run = open(&path).unwrap();
    let shown = r"x\u{202e}\u{1b}[2J\u{7}";
    assert_eq!((run.about.id.as_str(), run.about.argv[0].as_str()), (shown, shown));
    assert!(run.trials.iter().all(|trial| trial.error.as_deref() == Some(shown)));
    assert_eq!(run.host_before.readings[0].value.as_deref(), Some(shown));
}

#[test]
fn a_truncated_run_is_damaged() {
    // Enough trials for their pages to be most of the file.
    let (_dir, path, _) = made(120);
    let whole = fs::read(&path).unwrap();
    for tenths in 1..10 {
        fs::write(&path, &whole[..whole.len() * tenths / 10]).unwrap();
        for error in [open(&path).unwrap_err(), open_for_resume(&path).unwrap_err()] {
            assert!(error.to_string().contains("is damaged"), "{error}");
        }
    }
}

#[test]
fn what_reading_does_not_look_at_is_found_before_a_run_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, path) = (dir.path().join("whole"), dir.path().join("run"));
    make(&whole, 3, &[]);
    // The number of free pages.
    let mut damaged = fs::read(&whole).unwrap();
    damaged[36] = 255;
    fs::write(&path, &damaged).unwrap();
    assert!(open(&path).is_ok());
    let refused = open_for_resume(&path).unwrap_err();
    assert!(refused.to_string().contains("is damaged"), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), damaged, "something was written");
}
