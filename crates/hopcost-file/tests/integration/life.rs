//! The life of a run file: created, appended to, resumed, finished, read.

use std::fs;

use crate::common::{
    MIXED, PIPE, STREAM, SYSCALL, WAKE, batched, begun, clock, create, failed, fresh, host, made,
    make, open, trial,
};
use hopcost_file::{EstimateRow, open_for_resume};
use hopcost_model::{Code, Estimate, Finding, RawTrial, Severity, Validity};
use rusqlite::Connection;

#[test]
fn a_run_reads_back_as_it_was_written_and_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    // A name that SQLite would take for a URI, were it asked to.
    let path = dir.path().join("file:a b?mode=memory&x=%00#.hopcost");
    let run = make(&path, 4, &[]);
    assert_eq!(open(&path).unwrap(), run);
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [path.file_name().unwrap()], "one run is one file");
    let header = fs::read(&path).unwrap();
    assert_eq!(&header[..16], b"SQLite format 3\0");
    assert_eq!(&header[60..64], 10u32.to_be_bytes());
    assert_eq!(&header[68..72], b"hopc");
    assert_eq!(header[18..20], [1, 1], "a rollback journal, not a WAL");
    assert!(create(&path).unwrap_err().to_string().contains("exists already"));
}

#[test]
fn an_unfinished_run_is_resumed_by_one_at_a_time() {
    let (_dir, path, mut file) = begun();
    file.append_trial(trial(1, 0)).unwrap();
    file.append_trial(failed(0, 0)).unwrap();
    assert!(open_for_resume(&path).unwrap_err().to_string().contains("another hopcost"));
    let unfinished = open(&path).unwrap();
    assert_eq!((unfinished.trials.len(), &unfinished.host_after), (2, &None));
    drop(file);

    let mut file = open_for_resume(&path).unwrap();
    assert_eq!(*file.run(), unfinished);
    file.set_resumed(1).unwrap();
    file.append_trial(batched(0, 1)).unwrap();
    let finish = |run: &mut hopcost_model::raw::RawRun| {
        run.clocks = vec![clock(1)];
        run.host_after = Some(host("after"));
        run.about.ended = Some("later".to_owned());
    };
    file.change("finish it", finish).unwrap();
    let run = open(&path).unwrap();
    assert_eq!(*file.run(), run);
    drop(file);
    assert_eq!(run.trials, [trial(1, 0), failed(0, 0), batched(0, 1)]);
    assert_eq!((run.about.resumed, run.about.ended.as_deref()), (1, Some("later")));
    assert_eq!((run.host_after, run.clocks), (Some(host("after")), vec![clock(1)]));

    // Resumed again, it has no end any more.
    let mut file = open_for_resume(&path).unwrap();
    file.set_resumed(2).unwrap();
    let run = open(&path).unwrap();
    assert_eq!((run.about.ended, run.host_after), (None, None));
}

#[test]
fn what_does_not_belong_is_refused_and_leaves_no_trace() {
    let (_dir, path, mut file) = begun();
    file.append_trial(trial(0, 0)).unwrap();
    let mut late = trial(0, 1);
    late.ends[1].involuntary = 1 << 63;
    for (trial, part) in [
        (trial(4, 0), "plan has 4 cases"),
        (trial(0, 0), "stored already"),
        (RawTrial { wall_ns: u64::MAX, ..trial(0, 1) }, "wall_ns"),
        (late, "ends[1].involuntary is 9223372036854775808, which is out of range"),
        (RawTrial { warm_up_ns: vec![f64::NAN], ..trial(0, 1) }, "a number is not finite"),
        (RawTrial { samples: vec![0; (1 << 20) + 1], ..trial(0, 1) }, "1048577"),
    ] {
        let line = file.append_trial(trial).unwrap_err().to_string();
        assert!(line.contains(part) && line.contains("round"), "{line}");
    }
    let mut bad = clock(0);
    bad.stamp_p50_ns = f64::INFINITY;
    let refused = file.change("store the clocks", |run| run.clocks = vec![clock(0), bad]);
    assert!(refused.unwrap_err().to_string().contains("not finite"));
    // The same trial, mended, still goes in; nothing of the refused ones is there.
    file.append_trial(trial(0, 1)).unwrap();
    let run = open(&path).unwrap();
    assert_eq!(run.trials, [trial(0, 0), trial(0, 1)]);
    assert!(run.clocks.is_empty());
}

/// The rows of a query that makes one text of each.
fn texts(path: &std::path::Path, query: &str) -> Vec<String> {
    let conn = Connection::open(path).unwrap();
    let mut query = conn.prepare(query).unwrap();
    let found = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.map(Result::unwrap).collect()
}

#[test]
fn derived_rows_are_there_for_sql() {
    let (_dir, path, _) = made(2);
    let row = |case: &str, statistic: &str, point| EstimateRow {
        case_id: case.into(),
        statistic: statistic.into(),
        estimate: Estimate { point, ..Estimate::exact(0.0, 9) },
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
    let rows = [row(PIPE, "p50_ns", Some(8571.5)), row(SYSCALL, "cost_ns", None)];
    let mut file = open_for_resume(&path).unwrap();
    file.put_derived(&rows, &[finding.clone(), finding]).unwrap();
    file.put_derived(&rows, &[]).unwrap();
    assert!(file.put_derived(&[row(PIPE, "p50_ns", Some(f64::NAN))], &[]).is_err());
    drop(file);
    let query = "SELECT json_array(mechanism, payload_bytes, wait, statistic, point, validity)
                   FROM estimates";
    let expected = [
        r#"["pipe",64,"block","p50_ns",8571.5,"suspect"]"#,
        r#"["syscall",null,null,"cost_ns",null,"suspect"]"#,
    ];
    assert_eq!(texts(&path, query), expected);
    let stored_anew = texts(&path, "SELECT count(*) || '' FROM finding");
    assert_eq!(stored_anew, ["0"]);
}

#[test]
fn views_take_cases_apart_and_count_in_nanoseconds_of_each_runtimes_clock() {
    let (_dir, path) = fresh();
    // The other way round, the caller's clock is that of Rust.
    let turned = MIXED.replace("python:rust", "rust:python");
    let run = make(&path, 2, &[MIXED, &turned, WAKE, STREAM]);
    assert_eq!(open(&path).unwrap(), run);
    let clocks = texts(&path, "SELECT ns_per_tick || '' FROM trials ORDER BY trial");
    for (trial, ns_per_tick) in run.trials.iter().zip(&clocks) {
        let expected = 1e9 / run.ticks_per_second(trial).unwrap();
        assert!((ns_per_tick.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-12);
    }
    let parts = "SELECT json_array(runtime_caller, runtime_callee, gap_ns, idle_knob, fields,
                                   flows, ack) FROM trials WHERE case_index >= 4";
    let expected = [
        r#"["python","rust",null,"none",null,null,null]"#,
        r#"["rust","python",null,"none",null,null,null]"#,
        r#"["rust","rust",10000,"spinner",null,null,null]"#,
        r#"["rust","rust",null,"none",8,2,"window:16"]"#,
    ];
    assert_eq!(texts(&path, parts), expected);
    let counts =
        "SELECT json_array(system_calls_per_operation, round(clock_bound_ns / ns_per_tick),
                         received_bytes, lost, overruns, negative_samples)
                    FROM trials WHERE workload = 'wake'";
    assert_eq!(texts(&path, counts), ["[4.0,420.0,320,1,4,3]"]);
    let of_pipe = "SELECT json_array(round(sample_max_ns / ns_per_tick), wall_ns_per_operation,
                          switches_per_operation, yardstick_ns, placement, yardstick_class)
                     FROM trials WHERE case_index = 0 AND round = 1";
    let expected = r#"[90000.0,19047.6,2.4,2500.5,"same-cpu","switch"]"#;
    assert_eq!(texts(&path, of_pipe), [expected]);
    // A failed trial divides by no operations.
    let none = "SELECT json_array(cpu_ns_per_operation) FROM trials WHERE error IS NOT NULL";
    assert_eq!(texts(&path, none), ["[null]"]);
}
