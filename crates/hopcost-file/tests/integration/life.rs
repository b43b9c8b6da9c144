//! The life of a run file: created, appended to, resumed, finished, read.

use std::fs;

use crate::common::{
    MIXED, PIPE, STREAM, SYSCALL, WAKE, about, batched, begun, clock, failed, fresh, host, made,
    make, make_of, open, plan, trial,
};
use hopcost_file::{Error, EstimateRow, RunFile, finished, open_for_resume};
use hopcost_model::finding::{Code, Finding, Severity, Validity};
use hopcost_model::host::Host;
use hopcost_model::results::Estimate;
use rusqlite::Connection;

#[test]
fn a_run_reads_back_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    // A name that SQLite would take for a URI, were it asked to.
    let path = dir.path().join("file:a b?mode=memory&x=%00#.hopcost");
    let run = make(&path, 4);
    assert_eq!(open(&path).unwrap(), run);
    assert_eq!(finished(&run).len(), 8);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [path.file_name().unwrap()], "one run is one file");
}

#[test]
fn the_file_says_what_it_is() {
    let (_dir, path, _) = made(1);
    let header = fs::read(&path).unwrap();
    assert_eq!(&header[..16], b"SQLite format 3\0");
    assert_eq!(&header[60..64], 10u32.to_be_bytes());
    assert_eq!(&header[68..72], b"hopc");
    assert_eq!(header[18..20], [1, 1], "a rollback journal, not a WAL");
    let conn = Connection::open(&path).unwrap();
    let level: String = conn.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
    assert_eq!(level, "ok");
}

#[test]
fn an_unfinished_run_is_resumed() {
    let (_dir, path, mut file) = begun();
    file.append_trial(&trial(1, 0)).unwrap();
    file.append_trial(&failed(0, 0)).unwrap();
    assert_eq!(file.path(), path);
    let unfinished = open(&path).unwrap();
    assert_eq!((unfinished.trials.len(), &unfinished.host_after), (2, &None));
    drop(file);

    let (mut file, run) = open_for_resume(&path).unwrap();
    assert_eq!(run, unfinished);
    assert_eq!(file.finished(), &[(0, 0), (1, 0)].into());
    file.set_resumed(1).unwrap();
    file.append_trial(&batched(0, 1)).unwrap();
    file.put_clocks(&[clock(1)]).unwrap();
    file.finish(&Host::default(), "later").unwrap();
    drop(file);

    let run = open(&path).unwrap();
    assert_eq!(run.trials, [trial(1, 0), failed(0, 0), batched(0, 1)]);
    assert_eq!((run.about.resumed, run.about.ended.as_deref()), (1, Some("later")));
    assert_eq!(run.host_after, Some(Host::default()), "looked at, though nothing could be read");
    assert_eq!(run.clocks, [clock(1)]);

    // Resumed again, it has no end any more.
    let (mut file, _) = open_for_resume(&path).unwrap();
    file.set_resumed(2).unwrap();
    let run = open(&path).unwrap();
    assert_eq!((run.about.ended, run.host_after), (None, None));
}

#[test]
fn only_one_writer_at_a_time() {
    let (_dir, path, mut file) = begun();
    let refused = open_for_resume(&path).unwrap_err();
    assert!(matches!(refused, Error::Writing(_)), "{refused}");
    assert!(open(&path).is_ok(), "reading is allowed meanwhile");
    file.append_trial(&trial(0, 0)).unwrap();
    drop(file);
    let (file, _) = open_for_resume(&path).unwrap();
    assert!(matches!(open_for_resume(&path), Err(Error::Writing(_))));
    drop(file);
}

#[test]
fn nothing_is_overwritten() {
    let (_dir, path) = fresh();
    fs::write(&path, "precious").unwrap();
    let refused = RunFile::create(&path, &about(), &plan(), &host("x")).unwrap_err();
    assert!(matches!(refused, Error::Exists(_)), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn where_nothing_can_be_created_one_line_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let create =
        |path: &std::path::Path| RunFile::create(path, &about(), &plan(), &host("x")).unwrap_err();
    let missing = create(&dir.path().join("no/r.hopcost"));
    assert!(matches!(&missing, Error::NotFound(at) if at.ends_with("no")), "{missing}");
    fs::write(dir.path().join("file"), "").unwrap();
    let inside = create(&dir.path().join("file/r.hopcost"));
    let directory = create(dir.path());
    for error in [missing, inside, directory] {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn what_does_not_belong_is_refused_and_leaves_no_trace() {
    let (_dir, path, mut file) = begun();
    file.append_trial(&trial(0, 0)).unwrap();
    let big = u64::MAX;
    let mut late = trial(0, 1);
    late.ends[1].involuntary = 1 << 63;
    let refused = [
        (trial(4, 0), "plan has 4 cases"),
        (trial(0, 0), "stored already"),
        (hopcost_model::raw::RawTrial { wall_ns: big, ..trial(0, 1) }, "wall_ns"),
        (late, "ends[1].involuntary is 9223372036854775808, which is out of range"),
        (
            hopcost_model::raw::RawTrial { warm_up_ns: vec![f64::NAN], ..trial(0, 1) },
            "a number is not finite",
        ),
        (
            hopcost_model::raw::RawTrial { samples: vec![0; (1 << 20) + 1], ..trial(0, 1) },
            "1048577",
        ),
    ];
    for (trial, part) in refused {
        let line = file.append_trial(&trial).unwrap_err().to_string();
        assert!(line.contains(part) && line.contains("round"), "{line}");
    }
    let mut bad = clock(0);
    bad.stamp_p50_ns = f64::INFINITY;
    assert!(file.put_clocks(&[clock(0), bad]).unwrap_err().to_string().contains("not finite"));
    // The same trial, mended, still goes in; nothing of the refused ones is there.
    file.append_trial(&trial(0, 1)).unwrap();
    let run = open(&path).unwrap();
    assert_eq!(run.trials, [trial(0, 0), trial(0, 1)]);
    assert!(run.clocks.is_empty());
}

fn estimate(point: Option<f64>) -> Estimate {
    Estimate {
        point,
        low: point.map(|p| p * 0.9),
        high: point.map(|p| p * 1.1),
        level: Some(0.9609),
        insufficient: point.is_none().then(|| "needs 10 exceedances".to_owned()),
        ..Estimate::exact(0.0, 9, "median over trials of the trial's p50".into())
    }
}

#[test]
fn derived_rows_are_there_for_sql() {
    let (_dir, path, _) = made(2);
    let row = |case: &str, statistic: &str, point| EstimateRow {
        case_id: case.into(),
        statistic: statistic.into(),
        estimate: estimate(point),
        validity: Validity::Suspect,
    };
    let finding = Finding {
        code: Code::Steal,
        severity: Severity::Note,
        case: None,
        evidence: "two states".into(),
        values: [("share".to_owned(), 0.25)].into(),
        remedy: Code::Steal.remedy().into(),
    };
    let rows = [
        row(PIPE, "p50_ns", Some(8571.5)),
        row(PIPE, "p99_ns", None),
        row(SYSCALL, "cost_ns", Some(0.1)),
    ];
    let (mut file, _) = open_for_resume(&path).unwrap();
    file.put_derived(&rows, &[finding.clone(), finding]).unwrap();
    file.put_derived(&rows, &[]).unwrap();
    let refused = file.put_derived(&[row(PIPE, "p50_ns", Some(f64::NAN))], &[]);
    assert!(matches!(refused, Err(Error::Unstorable { .. })));
    drop(file);

    let conn = Connection::open(&path).unwrap();
    let query = "SELECT json_array(mechanism, payload_bytes, wait, statistic, point, validity)
                   FROM estimates";
    let mut query = conn.prepare(query).unwrap();
    let found = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let expected = [
        r#"["pipe",64,"block","p50_ns",8571.5,"suspect"]"#,
        r#"["pipe",64,"block","p99_ns",null,"suspect"]"#,
        r#"["syscall",null,null,"cost_ns",0.1,"suspect"]"#,
    ];
    assert_eq!(found.map(Result::unwrap).collect::<Vec<_>>(), expected);
    let findings: i64 = conn.query_row("SELECT count(*) FROM finding", [], |r| r.get(0)).unwrap();
    assert_eq!(findings, 0, "stored anew, not added");
}

#[test]
fn the_view_of_trials_counts_in_nanoseconds() {
    let (_dir, path, run) = made(2);
    let conn = Connection::open(&path).unwrap();
    let row = conn
        .query_row(
            "SELECT sample_max_ns, wall_ns_per_operation, switches_per_operation,
                    yardstick_ns, yardstick_reference_ns, placement, wait_caller, yardstick_class
               FROM trials WHERE case_id = ?1 AND round = 1",
            [PIPE],
            |r| {
                let numbers = [0, 1, 2, 3, 4].map(|at| r.get::<_, f64>(at).unwrap());
                let words = [5, 6, 7].map(|at| r.get::<_, String>(at).unwrap());
                Ok((numbers, words))
            },
        )
        .unwrap();
    let ([max, wall, switches, yardstick, reference], words) = row;
    assert!((max - 90_000.0 * 1e9 / run.clocks[1].ticks_per_second).abs() < 1e-6);
    assert_eq!((wall, switches), (95_238.0 / 5.0, 12.0 / 5.0));
    assert_eq!((yardstick, reference), (2_500.5, 0.1 + 0.2));
    assert_eq!(words, ["same-cpu", "block", "switch"]);
    // A failed trial divides by no operations.
    let failed: Option<f64> = conn
        .query_row("SELECT cpu_ns_per_operation FROM trials WHERE error IS NOT NULL", [], |r| {
            r.get(0)
        })
        .unwrap();
    assert_eq!(failed, None);
    // What SQL can say of an absent part is NULL, not a guess.
    let future: Option<String> = conn
        .query_row("SELECT mechanism FROM cases WHERE case_index = 3", [], |r| r.get(0))
        .unwrap();
    assert_eq!(future, None);
}

#[test]
fn cases_are_taken_apart_and_each_runtime_has_its_own_clock() {
    let (_dir, path) = fresh();
    // The other way round, the caller's clock is that of Rust.
    let turned = MIXED.replace("python:rust", "rust:python");
    let run = make_of(&path, 1, &[MIXED, &turned, WAKE, STREAM]);
    assert_eq!(open(&path).unwrap(), run);
    let conn = Connection::open(&path).unwrap();
    let query = "SELECT ns_per_tick, json_array(runtime_caller, runtime_callee, gap_ns, idle_knob,
                        fields, flows, ack) FROM trials";
    let mut query = conn.prepare(query).unwrap();
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let found: Vec<(f64, String)> = found.map(Result::unwrap).collect();
    for (trial, (ns_per_tick, _)) in run.trials.iter().zip(&found) {
        assert!((ns_per_tick * run.ticks_per_second(trial).unwrap() / 1e9 - 1.0).abs() < 1e-12);
    }
    assert!(found[2].0 == 1.0 && found[3].0 < 0.5);
    let parts: Vec<&str> = found[1..].iter().map(|(_, parts)| parts.as_str()).collect();
    let expected = [
        r#"["rust","rust",null,null,null,null,null]"#,
        r#"["python","rust",null,null,null,null,null]"#,
        r#"["rust","python",null,null,null,null,null]"#,
        r#"["rust","rust",10000,"spinner",null,null,null]"#,
        r#"["rust","rust",null,null,8,2,"window:16"]"#,
    ];
    assert_eq!(parts, expected);
    let query = "SELECT json_array(system_calls_per_operation, round(clock_bound_ns / ns_per_tick),
                        received_bytes, lost, overruns, negative_samples)
                   FROM trials WHERE workload = 'wake'";
    let counts: String = conn.query_row(query, [], |row| row.get(0)).unwrap();
    assert_eq!(counts, "[4.0,420.0,320,1,4,3]");
}
