//! Files: unreadable, in the way, without room; streams that are closed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::one_line;
use crate::support::wait::InTime;
use crate::support::{Home, edit, together};

/// Takes the end of a run away.
const UNENDED: &str = "UPDATE run SET document = json_remove(document, '$.about.ended')";

const CASE: &str = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";

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
    let runs = fs::read_dir(home.path().join("data/hopcost/runs"));
    assert_eq!(runs.map_or(0, Iterator::count), 0, "a run file for nothing");
}

#[test]
fn a_complete_run_is_neither_overwritten_nor_resumed() {
    let _together = together();
    let home = with_run();
    let before = fs::read(home.path().join("a.hopcost")).expect("the run");
    fs::hard_link(home.path().join("a.hopcost"), home.path().join("b")).expect("to link");
    for output in ["./a.hopcost", "b"] {
        assert!(one_line(&report_to(&home, output), output, 2).contains("it is a run"));
    }
    home.refuses(&["run", "--resume", "a.hopcost"], 2, "is complete");
    assert_eq!(fs::read(home.path().join("a.hopcost")).expect("the run"), before);
}

/// Changes of the document of a stored run, the exit code of resuming it, and the words of the error.
const CHANGES: [(&str, i32, &str); 7] = [
    ("replace(document, 'touch=none', 'touch=lots')", 2, "touch"),
    ("replace(document, 'pause=1', 'pause=3')", 2, "shm-ring has no pause=3; it has "),
    ("replace(document, 'shm-ring', 'shm-rung')", 2, "rust has no mechanism shm-rung"),
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
    ("json_set(document, '$.about.build.checksum', 'f')", 6, "hopcost's checksum was `f` and is `"),
];

#[test]
fn a_run_of_an_impossible_plan_or_of_another_build_is_not_resumed() {
    let home = Home::together();
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
    let (output, _) = resumed("document");
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
fn a_report_replaces_files_and_writes_through_no_link_and_into_no_pipe() {
    let _together = together();
    let home = with_run();
    let at = |name: &str| home.path().join(name);
    fs::write(at("old"), "old").expect("to write");
    fs::set_permissions(at("old"), fs::Permissions::from_mode(0o600)).expect("to change");
    assert_eq!(report_to(&home, "old").status.code(), Some(0));
    assert_eq!(fs::metadata(at("old")).expect("it").permissions().mode() & 0o777, 0o600);
    let report = fs::read(at("old")).expect("it");
    assert!(report.starts_with(b"case,"));
    let through = home.run(&["report", "a.hopcost", "--format", "csv", "-o", "/dev/stdout"]);
    assert_eq!(through.stdout, report);
    for (link, to) in [("link", "old"), ("dangling", "nothing")] {
        symlink(to, at(link)).expect("to link");
        assert!(one_line(&report_to(&home, link), link, 2).contains("it is a link"));
    }
    assert!(Command::new("mkfifo").arg(at("pipe")).finish().status.success());
    assert!(one_line(&report_to(&home, "pipe"), "pipe", 2).contains("it is a pipe"));
    assert_eq!((fs::read(at("old")).expect("it"), at("nothing").exists()), (report, false));
    let left = fs::read_dir(home.path()).expect("home").flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0, "a part was left behind");
}

#[test]
fn suite_files_are_read_as_far_as_they_can_be_suites() {
    let home = Home::new();
    let huge = format!("name = \"{}\"", "x".repeat(2 << 20));
    for (name, text) in [("wrong", "name = \"a\"\nronds = 3\n"), ("huge", &huge)] {
        fs::write(home.path().join(name).with_extension("toml"), text).expect("to write");
    }
    assert!(Command::new("mkfifo").arg(home.path().join("fifo.toml")).finish().status.success());
    for (file, why) in [
        ("./wrong.toml", "./wrong.toml:2:1: unknown key `ronds`; did you mean `rounds`?"),
        ("./huge.toml", "1 MiB"),
        ("./nothing.toml", "nothing.toml"),
        ("./", "directory"),
        ("./fifo.toml", "regular file"),
    ] {
        home.refuses(&["run", "--suite", file], 2, why);
    }
}

#[test]
fn streams_that_are_closed_do_no_harm() {
    let _together = together();
    let home = with_run();
    let without = |descriptor: i32| {
        let mut command = home.hopcost(&["report", "a.hopcost"]);
        let close = move || {
            // SAFETY: closes one descriptor of the child.
            unsafe { libc::close(descriptor) };
            Ok(())
        };
        // SAFETY: a single system call.
        unsafe { command.pre_exec(close) };
        command.stdout(if descriptor == 1 { Stdio::null() } else { Stdio::piped() }).finish()
    };
    assert!(!without(0).stdout.is_empty());
    assert!(one_line(&without(1), "stdout", 1).contains("stdout: it is closed"));
    let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let mut report = home.hopcost(&["report", "nope"]);
    assert_eq!(report.stdout(Stdio::null()).stderr(full).finish().status.code(), Some(2));
    // A reader that goes away is not our failure.
    let mut command = home.hopcost(&["list"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    drop(child.stdout.take());
    let output = child.finish();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
