//! Files that are not, or no longer, or never were a run: one clear line each.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{WAKE, fresh, made, make, make_of, open, torn};
use hopcost_file::{Error, RunFile, open_for_resume};
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

    assert!(line(&at("text")).contains("is not a hopcost run file: it is not an SQLite database"));
    assert!(line(&at("other")).contains("the SQLite database of something else"));
    assert!(line(&at("empty")).contains("empty"));
    assert!(line(&at("magic")).contains("damaged"));
    assert!(line(&at("missing")).contains("no such file"));
    assert!(line(&at("dangling")).contains("no such file"));
    assert!(line(&at("pipe")).contains("not a regular file"), "and without waiting for a writer");
    assert!(matches!(open(dir.path()), Err(Error::Directory(_))));
    assert!(matches!(open(Path::new("/dev/zero")), Err(Error::NotRegular(_))));
    assert!(matches!(open(Path::new("")), Err(Error::NotFound(_))));
    assert!(matches!(open(Path::new(":memory:")), Err(Error::NotFound(_))));
    assert!(matches!(open_for_resume(&at("missing")), Err(Error::NotFound(_))));
    assert!(!at("missing").exists(), "looking must not create");
}

fn change(path: &Path, sql: &str) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    conn.execute_batch(sql).unwrap();
}

#[test]
fn another_format_is_refused() {
    let (_dir, path, _) = made(1);
    for other in [8, 10, 0, -1] {
        change(&path, &format!("PRAGMA user_version = {other}"));
        assert!(
            line(&path).contains(&format!("format {other}; this hopcost reads format 9 alone"))
        );
        assert!(matches!(open_for_resume(&path), Err(Error::Format { .. })));
    }
}

#[test]
fn hostile_content_is_named_and_refused() {
    let (dir, good) = fresh();
    make_of(&good, 3, &[WAKE]);
    let path = dir.path().join("changed");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS ";
    let view = format!(
        "DROP TABLE warm_up; CREATE VIEW warm_up AS {endless} trial, 0 AS position,
         1.0 AS operation_ns FROM n"
    );
    for (sql, part) in [
        (
            "UPDATE trial SET wall_ns = -5 WHERE trial = 2",
            "trial 2: wall_ns is -5, which is out of",
        ),
        ("UPDATE trial SET round = 4294967296 WHERE trial = 1", "round is 4294967296"),
        ("UPDATE trial SET cpu_ns = 'many'", "cpu_ns is Text, not a whole number"),
        ("UPDATE trial SET case_index = 5 WHERE trial = 1", "case_index is 5, of 5 cases"),
        ("UPDATE trial SET stamp = 'x' || char(27) || '[2J'", "stamp is `x [2J`"),
        ("UPDATE trial SET stamp_n = NULL", "stamp_n is Null"),
        ("UPDATE trial SET cpus_asked = '[1'", "cpus_asked is not the JSON it should be"),
        ("UPDATE trial SET samples_kept = 4", "holds more than the 4 samples"),
        ("UPDATE trial SET samples_kept = 1 << 40", "more than the 1048576 a trial may keep"),
        ("UPDATE trial SET samples = 'text'", "samples is Text, not a blob"),
        ("UPDATE run SET plan = '{}'", "missing field"),
        (
            "UPDATE run SET plan = json_set(plan, '$.cases[1]', json_extract(plan, '$.cases[0]'))",
            "run: plan has the case roundtrip/pipe",
        ),
        ("UPDATE run SET version = CAST(x'ff' AS TEXT)", "version is text that is not UTF-8"),
        ("DELETE FROM run", "run: it should have one row"),
        ("UPDATE clock SET ticks_per_second = 9e999", "clock 1: ticks_per_second is infinite"),
        ("UPDATE clock SET ticks_per_second = 'fast'", "ticks_per_second is Text, not a number"),
        ("UPDATE clock SET ticks_per_second = -1.0", "ticks_per_second is -1.0, which is out of"),
        ("UPDATE clock SET runtime = x'00'", "clock 1: runtime is Blob, not text"),
        ("UPDATE trial SET operations = 1 << 60", "trial 1: it has 1152921504606846976 operations"),
        ("UPDATE trial_end SET count = 1 << 43", "more than 4398046511104"),
        ("UPDATE trial_end SET elapsed_ticks = 1 << 62", "a clock shows 4611686018427387904 ticks"),
        ("UPDATE trial_end SET fill_ns = -1.0", "fill_ns is -1.0, which is out of range"),
        ("UPDATE trial_end SET role = 'boss'", "role is `boss`"),
        ("UPDATE yardstick SET class = 'yard'", "yardstick 1: class is `yard`"),
        ("UPDATE trial_end SET pinned = 2", "pinned is 2, not 0 or 1"),
        (
            "UPDATE trial_end SET zero_copy_completed = 3",
            "zero_copy_copied is Null beside a zero_copy_completed",
        ),
        (
            "UPDATE trial_end SET zero_copy_copied = 3",
            "zero_copy_completed is Null beside a zero_copy_copied",
        ),
        (
            "INSERT INTO event VALUES (1,2,0,'cycles',1,1,1,NULL)",
            "event: a row belongs to end 2 of trial 1, which does not exist",
        ),
        (
            "INSERT INTO event VALUES (77,-1,0,'cycles',1,1,1,NULL)",
            "event: a row belongs to end -1 of trial 77, which does not exist",
        ),
        ("UPDATE worker SET runtime = 'go'", "worker 1: runtime is not that of its description"),
        ("UPDATE worker SET version = '9'", "worker 1: version is not that of its description"),
        ("UPDATE trial SET throttled_ns = 5", "throttled_ns is there without a throttled_times"),
        ("UPDATE trial SET throttled_times = 5", "throttled_ns is Null beside a throttled_times"),
        ("UPDATE yardstick SET reference_ns = NULL", "of a reference of which a part is missing"),
        ("UPDATE yardstick SET reference_ns = 0.0", "of a reference that is no time with an error"),
        ("UPDATE yardstick_reading SET yardstick = 2", "of yardstick 2, which does not exist"),
        ("UPDATE trace SET events_kept = 19", "holds more than the 133 samples"),
        ("UPDATE trace SET events_kept = 1 << 40", "more than the 1048576 a trial may keep"),
        ("UPDATE trace SET operations = 1 << 60", "it has 1152921504606846976 operations"),
        ("UPDATE trace SET event_cost_ns = -1.0", "event_cost_ns is -1.0, which is out of range"),
        ("DROP TABLE clock", "table clock: it is missing"),
        ("ALTER TABLE clock DROP COLUMN source", "table clock: its columns are not those"),
        (view.as_str(), "table warm_up: it is missing"),
        (
            "DROP TABLE clock; CREATE TABLE clock (position, cpu, source, ticks_per_second,
             rate_spread_ppm, resolution_ticks, stamp_min_ns, stamp_p50_ns, stamp_p99_ns,
             clock_gettime_p50_ns, runtime AS (hex(zeroblob(900000000))))",
            "table clock: its columns are not those",
        ),
        ("CREATE TRIGGER t AFTER INSERT ON trial BEGIN DELETE FROM trial; END", "it has a trigger"),
        (
            "PRAGMA legacy_alter_table = ON; CREATE TABLE twice AS SELECT * FROM trial UNION ALL SELECT * FROM trial;
             DROP TABLE trial; ALTER TABLE twice RENAME TO trial",
            "case 0 is measured twice in round 0",
        ),
    ] {
        fs::copy(&good, &path).unwrap();
        change(&path, sql);
        let line = line(&path);
        assert!(line.contains(part), "{sql}\n{line}");
        let resumed = open_for_resume(&path).unwrap_err();
        assert_eq!(resumed.to_string(), line, "reading and resuming agree");
    }
    for table in [
        "trial_end",
        "clock_gate",
        "thread_use",
        "warm_up",
        "stamp_check",
        "cpu_use",
        "yardstick_reading",
        "trace",
    ] {
        fs::copy(&good, &path).unwrap();
        change(&path, &format!("UPDATE {table} SET trial = 77 WHERE trial = 7"));
        let part = format!("{table}: a row belongs to trial 77, which does not exist");
        assert!(line(&path).contains(&part), "{}", line(&path));
    }
}

#[test]
fn what_takes_long_to_read_is_refused_before_it_is_read() {
    let (dir, good, _) = made(3);
    let path = dir.path().join("changed");
    let many = |n: u32| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n LIMIT {n})
             INSERT INTO"
        )
    };
    let spelled = "{\"id\":\"call/syscall\",\"skip\":null},".repeat(10_001);
    let cases = spelled.trim_end_matches(',');
    for (sql, part) in [
        (
            format!(
                "{} host_reading SELECT 'before', i, 's', 'k' || i, 'v', NULL FROM n",
                many(300_000)
            ),
            "host_reading: it has more than 10000 rows",
        ),
        (
            "CREATE TABLE one AS SELECT * FROM trial WHERE trial = 1; DELETE FROM trial;
             DELETE FROM trial_end; DELETE FROM event;
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT 10001)
             INSERT INTO trial SELECT i + 1, case_index, i, position, started_ns, took_ns, phases_ns,
                    error, stamp, stamp_n, wall_ns, cpu_ns, cpus_asked, pin_errors, operations,
                    samples_taken, samples_max_ticks, samples_kept, samples, negative_samples,
                    counted_operations, watched_ns, throttled_times, throttled_ns FROM n, one"
                .to_owned(),
            "case 0 has more than 10000 trials",
        ),
        (
            format!("{} worker SELECT i, runtime, version, description FROM n, worker", many(100)),
            "worker: it has more than 100 rows",
        ),
        (
            "UPDATE run SET version = hex(zeroblob(500000))".to_owned(),
            "version is 1000000 bytes long, more than 131072",
        ),
        (
            "UPDATE run SET argv = json_array('hopcost', hex(zeroblob(500000)))".to_owned(),
            "argv is JSON with a text of 1000000 bytes, more than 131072",
        ),
        ("UPDATE run SET argv = '[' || hex(zeroblob(9000000)) || ']'".to_owned(), "too big"),
        (
            format!("UPDATE run SET plan = json_set(plan, '$.cases', json('[{cases}]'))"),
            "plan has more than 10000 cases",
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
    let turned = "char(0x202e) || char(27) || '[2J' || char(7)";
    for set in [
        format!("run SET run_id = 'x' || {turned}"),
        format!("run SET argv = json_array('x' || {turned})"),
        format!("trial SET error = 'x' || {turned}"),
        format!("host_reading SET value = 'x' || {turned}"),
    ] {
        change(&path, &format!("UPDATE {set}"));
    }
    let run = open(&path).unwrap();
    let shown = r"x\u{202e}\u{1b}[2J\u{7}";
    assert_eq!((run.about.id.as_str(), run.about.argv), (shown, vec![shown.to_owned()]));
    assert!(run.trials.iter().all(|trial| trial.error.as_deref() == Some(shown)));
    assert_eq!(run.host_before.readings[0].value.as_deref(), Some(shown));
}

#[test]
fn further_tables_and_views_of_the_user_do_no_harm() {
    let (_dir, path, run) = made(1);
    change(&path, "CREATE TABLE note (text); CREATE VIEW mine AS SELECT * FROM trials");
    assert_eq!(open(&path).unwrap(), run);
}

#[test]
fn a_truncated_run_says_what_is_left() {
    // Enough trials for their pages to be most of the file.
    let (_dir, path, run) = made(120);
    let whole = fs::read(&path).unwrap();
    let mut counts = Vec::new();
    for tenths in 1..10 {
        fs::write(&path, &whole[..whole.len() * tenths / 10]).unwrap();
        match open(&path).unwrap_err() {
            Error::Damaged { readable_trials, .. } => counts.push(readable_trials),
            other => panic!("{other}"),
        }
        assert!(matches!(open_for_resume(&path), Err(Error::Damaged { .. })));
    }
    let all = run.trials.len() as u64;
    assert!(counts.iter().any(|&n| n > 0) && counts.iter().all(|&n| n <= all), "{counts:?}");
    assert!(counts.is_sorted(), "{counts:?}");
}

/// Needs a user who may not do everything; see the next test.
fn check_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    let (path, run) = torn(dir.path());
    let whole = dir.path().join("whole");
    let create = |path: &Path| {
        RunFile::create(
            path,
            &crate::common::about(),
            &crate::common::plan(),
            &crate::common::host("x"),
        )
    };

    // Nothing here can be written: reading works, even of what a kill left.
    mode(&path, 0o444);
    mode(&whole, 0o444);
    mode(dir.path(), 0o555);
    assert!(open(&whole).unwrap() == run);
    assert!(open(&path).unwrap() == run);
    assert!(dir.path().join("torn-journal").exists());
    assert!(
        open_for_resume(&whole).unwrap_err().to_string().contains("no permission to resume it")
    );
    let refused = create(&dir.path().join("new")).unwrap_err().to_string();
    assert!(refused.contains("no permission to create a file in it"), "{refused}");
    assert!(!dir.path().join("new").exists());

    // The file may be written, its directory not: no journal, so no resuming.
    mode(&whole, 0o644);
    let (mut file, _) = open_for_resume(&whole).unwrap();
    let refused = file.set_resumed(1).unwrap_err().to_string();
    assert!(refused.contains("no permission to resume it"), "{refused}");
    drop(file);

    mode(&whole, 0o000);
    assert!(line(&whole).contains("no permission to read it"));
    mode(dir.path(), 0o755);
}

#[test]
#[ignore = "run by what_permissions_allow_is_done_and_the_rest_said, as a user without rights"]
fn permissions_of_a_plain_user() {
    check_permissions();
}

#[test]
fn what_permissions_allow_is_done_and_the_rest_said() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return check_permissions();
    }
    // Root may write everywhere, so this test goes on as nobody.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = dir.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let status = Command::new(&program)
        .args(["--exact", "permissions_of_a_plain_user", "--ignored", "--nocapture"])
        .env("TMPDIR", dir.path())
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn what_reading_does_not_look_at_is_found_before_a_run_is_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, path) = (dir.path().join("whole"), dir.path().join("run"));
    make(&whole, 3);
    let bytes = fs::read(&whole).unwrap();
    // How the file is written; the number of free pages.
    for (at, part) in
        [(18, "its header says version 255 of writing"), (36, "says -16777216 free pages of ")]
    {
        let mut damaged = bytes.clone();
        damaged[at] = 255;
        fs::write(&path, &damaged).unwrap();
        assert!(open(&path).is_ok(), "{at}");
        let refused = open_for_resume(&path).unwrap_err();
        assert!(matches!(refused, Error::Damaged { readable_trials: 5.., .. }), "{refused}");
        assert!(refused.to_string().contains(part), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), damaged, "{at}: something was written");
    }
}
