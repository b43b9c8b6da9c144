//! Run files: unreadable, in the way, without room; streams that are closed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Output, Stdio};

use super::one_line;
use crate::support::wait::InTime;
use crate::support::{Home, edit, together};

/// Takes the end of a run away.
const UNENDED: &str = "UPDATE run SET document = json_remove(document, '$.about.ended')";

const CASE: &str = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";

#[test]
fn unreadable_foreign_and_truncated_run_files_are_refused() {
    let _together = together();
    let home = Home::new();
    home.run(&["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "2"]);
    let whole = fs::read(home.run_file()).expect("the run file");
    let path = home.path().join("x.hopcost");
    let text = path.to_str().expect("UTF-8");
    for (bytes, what) in [
        (&b""[..], "empty"),
        (&b"PK\x03\x04 not a run"[..], "foreign"),
        (&whole[..whole.len() / 2], "truncated"),
        (&whole[..100], "almost nothing"),
    ] {
        fs::write(&path, bytes).expect("to write");
        let line = one_line(&home.run(&["report", text, "--format", "json"]), what, 2);
        assert!(line.contains("x.hopcost"), "{what}: {line}");
    }
    for spec in ["nothing-like-it", "last~7", "/nonexistent/run"] {
        one_line(&home.run(&["report", spec]), spec, 2);
    }
    let empty = Home::new();
    one_line(&empty.run(&["report"]), "no runs yet", 2);
}

#[test]
fn no_room_and_no_permission_are_said_before_anything_is_measured() {
    let home = Home::new();
    for out in ["/proc/x.hopcost", "/nonexistent/directory/x.hopcost", "/dev/full", "."] {
        let output = home.run(&["run", CASE, "--rounds", "1", "--out", out]);
        let line = one_line(&output, out, 2);
        let named = out.strip_suffix("/x.hopcost").unwrap_or(out);
        assert!(line.contains(named), "{out}: {line}");
    }
    let mut command = home.hopcost(&["run", CASE, "--rounds", "1"]);
    let output = command.env_remove("HOME").env_remove("XDG_DATA_HOME").finish();
    one_line(&output, "no HOME", 2);
    let output =
        home.hopcost(&["run", CASE, "--rounds", "1"]).env("TMPDIR", "/nonexistent").finish();
    let line = one_line(&output, "TMPDIR", 2);
    assert!(line.contains("/nonexistent") && line.contains("TMPDIR"), "{line}");
    let runs = fs::read_dir(home.path().join("data/hopcost/runs"));
    assert_eq!(runs.map_or(0, Iterator::count), 0, "a run file for nothing");
}

#[test]
fn a_report_never_overwrites_its_run() {
    let home = Home::new();
    let _together = together();
    home.run(&["run", CASE, "--rounds", "1", "--out", "a.hopcost"]);
    let before = fs::read(home.path().join("a.hopcost")).expect("the run");
    fs::hard_link(home.path().join("a.hopcost"), home.path().join("b")).expect("to link");
    for output in ["a.hopcost", "./a.hopcost", "b"] {
        let refused = home.run(&["report", "a.hopcost", "--format", "csv", "--output", output]);
        assert!(one_line(&refused, output, 2).contains("overwrite"));
    }
    assert_eq!(fs::read(home.path().join("a.hopcost")).expect("the run"), before);
    // And a complete run is left alone by --resume.
    let refused = home.run(&["run", "--resume", "a.hopcost"]);
    assert!(one_line(&refused, "resume", 2).contains("is complete"));
    assert_eq!(fs::read(home.path().join("a.hopcost")).expect("the run"), before);
}

/// Changes of the document of a stored run, the exit code of going on with it, and what is said.
const CHANGES: [(&str, i32, &str); 10] = [
    ("replace(document, 'touch=none', 'touch=lots')", 2, "touch"),
    ("replace(document, 'pause=1', 'pause=3')", 2, "shm-ring has no pause=3; it has "),
    ("replace(document, 'shm-ring', 'shm-rung')", 2, "rust has no mechanism shm-rung"),
    (
        "json_set(document, '$.plan.trial.operations', 1000000000000)",
        2,
        "operations 1000000000000, which",
    ),
    ("json_set(document, '$.plan.trial.measure_ns', 0)", 2, "measure_ns 0, which is not from 1 to"),
    (
        "json_set(document, '$.plan.pairs', json('{\"cross-node\":[0,5000]}'))",
        2,
        "uses CPU 5000, which this",
    ),
    (
        "json_set(document, '$.plan.cases[1]', json_extract(document, '$.plan.cases[0]'))",
        2,
        "twice",
    ),
    ("json_set(document, '$.about.version', '0.0.9')", 6, "hopcost's version was `0.0.9` and is `"),
    ("json_set(document, '$.about.commit', 'abc')", 6, "hopcost's commit was `abc` and is `"),
    ("json_set(document, '$.about.build.checksum', 'f')", 6, "hopcost's checksum was `f` and is `"),
];

#[test]
fn a_run_of_an_impossible_plan_or_of_another_build_is_not_gone_on_with() {
    let _together = together();
    let home = Home::new();
    let shm = "roundtrip/shm-ring?payload=64&place=same-cpu&wait=block&touch=none";
    home.run(&["run", shm, "--rounds", "1", "--measure", "1ms", "--out", "a.hopcost"]);
    let (whole, path) = (home.path().join("a.hopcost"), home.path().join("b.hopcost"));
    let resumed = |change: &str| {
        fs::copy(&whole, &path).expect("to copy");
        edit(&path, &format!("UPDATE run SET document = {change}; {UNENDED}"));
        let before = fs::read(&path).expect("the run");
        (home.run(&["run", "--resume", "b.hopcost"]), before)
    };
    for (change, code, part) in CHANGES {
        let (output, before) = resumed(change);
        let line = one_line(&output, change, code);
        assert!(line.contains(part) && line.trim_end().lines().count() == 1, "{change}: {line}");
        assert_eq!(fs::read(&path).expect("the run"), before, "{change}: something was written");
    }
    // What an older hopcost has not stored is not held against it.
    let (output, _) = resumed("json_remove(document, '$.about.build.checksum')");
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
}

/// A home with a small run called `a.hopcost`.
fn with_run() -> Home {
    let home = Home::new();
    home.run(&["run", CASE, "--rounds", "1", "--out", "a.hopcost"]);
    home
}

fn report_to(home: &Home, output: &str) -> Output {
    home.run(&["report", "a.hopcost", "--format", "csv", "--output", output])
}

#[test]
fn a_report_keeps_the_mode_and_the_link_of_what_it_replaces() {
    let _together = together();
    let home = with_run();
    let at = |name: &str| home.path().join(name);
    let mode = |name: &str| fs::metadata(at(name)).expect("it").permissions().mode() & 0o777;
    for kept in [0o600, 0o664] {
        fs::write(at("old"), "old").expect("to write");
        fs::set_permissions(at("old"), fs::Permissions::from_mode(kept)).expect("to change");
        assert_eq!(report_to(&home, "old").status.code(), Some(0));
        assert_eq!(mode("old"), kept);
    }
    fs::create_dir(at("d")).expect("to create");
    symlink("d/there", at("link")).expect("to link");
    for _ in 0..2 {
        assert_eq!(report_to(&home, "link").status.code(), Some(0));
        assert!(fs::symlink_metadata(at("link")).expect("it").is_symlink());
        assert_eq!(fs::read(at("d/there")).expect("it"), fs::read(at("old")).expect("it"));
    }
    symlink("loop", at("loop")).expect("to link");
    assert!(one_line(&report_to(&home, "loop"), "a loop", 1).contains("too many links"));
    let left: Vec<_> = fs::read_dir(home.path()).expect("home").flatten().collect();
    let left = left.iter().filter(|e| e.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "a part was left behind");
    let through = home.run(&["report", "a.hopcost", "--format", "csv", "-o", "/dev/stdout"]);
    assert_eq!(through.stdout, fs::read(at("old")).expect("it"));
}

#[test]
fn a_report_goes_into_no_pipe_and_through_no_link_of_somebody_else() {
    let _together = together();
    let home = with_run();
    let at = |name: &str| home.path().join(name);
    fs::write(at("precious"), "precious").expect("to write");
    symlink("precious", at("planted")).expect("to link");
    symlink("planted", at("own")).expect("to link");
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).finish().status;
    assert!(made.success());
    symlink("pipe", at("to-pipe")).expect("to link");
    for name in ["pipe", "to-pipe"] {
        assert!(one_line(&report_to(&home, name), name, 2).contains("it is a pipe"));
    }
    let other = Some(65_534);
    if lchown(at("planted"), other, other).is_err() {
        eprintln!("NOT CHECKED: only root can make another user's link");
        return;
    }
    for output in ["planted", "own"] {
        let line = one_line(&report_to(&home, output), output, 1);
        assert!(line.contains("of another user"), "{output}: {line}");
    }
    assert_eq!(fs::read(at("precious")).expect("it"), b"precious");
    assert!(fs::symlink_metadata(at("planted")).expect("it").is_symlink());
}

#[test]
fn nowhere_to_print_is_an_error() {
    let _together = together();
    let home = with_run();
    let mut command = home.hopcost(&["report", "a.hopcost"]);
    let close_stdout = || {
        // SAFETY: closes one descriptor of the child.
        unsafe { libc::close(1) };
        Ok(())
    };
    // SAFETY: a single system call.
    unsafe { command.pre_exec(close_stdout) };
    let output = command.stdout(Stdio::null()).finish();
    assert!(one_line(&output, "stdout", 1).contains("stdout: it is closed"));
    let null = home.hopcost(&["report", "a.hopcost"]).stdout(Stdio::null()).finish();
    assert!(null.status.success());
}

#[test]
fn closed_stdin_and_stdout_do_no_harm() {
    let _together = together();
    let home = Home::new();
    let close_stdin = || {
        // SAFETY: closes one descriptor of the child.
        unsafe { libc::close(0) };
        Ok(())
    };
    let arguments = [
        "run",
        "roundtrip/sleep:9us?clock=virtual&place=same-cpu",
        "--rounds",
        "1",
        "--format",
        "json",
    ];
    let mut command = home.hopcost(&arguments);
    // SAFETY: a single system call.
    unsafe { command.pre_exec(close_stdin) };
    let output = command.finish();
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    // A reader that goes away is not our failure.
    let mut child = home
        .hopcost(&["list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("to start");
    drop(child.stdout.take());
    let output = child.finish();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
