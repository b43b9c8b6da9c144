//! Bad input: one clear line that says what is wrong, where, and what to do;
//! exit code 2; nothing lost, nothing half written.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{Home, alone, hopcost_path};

/// Checks that a command failed as bad input should, and returns its line.
fn one_line(output: &Output, what: &str, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{what}: {stderr}");
    assert!(output.stdout.is_empty(), "{what}: something on stdout");
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{what}: {stderr}");
    assert!(stderr.contains("hopcost: ") || stderr.contains("error: "), "{what}: {stderr}");
    stderr
}

fn refused(arguments: &[&str], parts: &[&str]) {
    let home = Home::new();
    let output = home.run(arguments);
    let line = one_line(&output, &format!("{arguments:?}"), 2);
    for part in parts {
        assert!(line.contains(part), "{arguments:?}: no `{part}` in: {line}");
    }
    if line.starts_with("hopcost: ") {
        assert_eq!(line.trim_end().lines().count(), 1, "{arguments:?}: {line}");
    }
    assert!(!home.path().join("data").exists(), "{arguments:?}: something was written");
}

#[test]
fn unknown_words_get_a_suggestion() {
    refused(&["run", "pip"], &["pip", "did you mean `pipe`"]);
    refused(&["run", "rountrip/pipe"], &["rountrip", "roundtrip"]);
    refused(&["run", "pipe?plaec=free"], &["plaec", "place"]);
    refused(&["run", "pipe", "--wait", "blok"], &["blok", "block"]);
    refused(&["run", "--suite", "laddr"], &["laddr", "ladder"]);
    refused(&["show", "fute"], &["fute", "futex"]);
    refused(&["run", "--mechanism", "unix-*x"], &["unix-*x"]);
    refused(&["rnu"], &["rnu"]);
}

#[test]
fn absurd_numbers_are_refused() {
    refused(&["run", "pipe?payload=-1"], &["payload", "-1"]);
    refused(&["run", "pipe", "--payload", "4XiB"], &["4XiB"]);
    refused(&["run", "pipe", "--rounds", "0"], &["rounds"]);
    refused(&["run", "pipe", "--rounds", "-3"], &["-3"]);
    refused(&["run", "pipe", "--rounds", "99999999999"], &["99999999999"]);
    refused(&["run", "pipe", "--budget", "5"], &["5"]);
    refused(&["run", "pipe", "--budget", "99999999999999h"], &["too large"]);
    refused(&["run", "pipe", "--cpus", "4095"], &["4095"]);
    refused(&["run", "pipe", "--cpus", "0,0"], &["twice"]);
    refused(&["run", "pipe", "--sched", "fifo:200"], &["fifo"]);
    refused(&["run", "pipe?payload=64&payload=65"], &["payload"]);
    refused(&["run", "pipe?payload=99999999999999999999"], &["payload"]);
}

#[test]
fn impossible_cases_say_why() {
    refused(&["run", "websocket?boundary=inline"], &["websocket", "inline"]);
    refused(&["run", "udp?payload=70000"], &["65507"]);
    refused(&["run", "park?boundary=process"], &["park", "process"]);
    refused(&["run", "flag?place=same-cpu&wait=spin"], &["one CPU"]);
    refused(&["run", "pipe?place=cross-node"], &["cross-node"]);
}

#[test]
fn an_impossible_case_among_others_is_a_skipped_row() {
    let _alone = alone();
    let home = Home::new();
    let plan = home
        .expect(&["run", "--dry-run", "pipe,websocket?boundary=inline,process&place=same-cpu"], 0);
    assert!(plan.contains("inline"), "{plan}");
    let output = home.expect(
        &[
            "run",
            "--dry-run",
            "--format",
            "json",
            "websocket?boundary=inline,process&place=same-cpu",
        ],
        0,
    );
    let document: serde_json::Value = serde_json::from_str(&output).expect("JSON");
    let text = document.to_string();
    assert!(text.contains("boundary=inline") && text.contains("skip"), "{text}");
}

#[test]
fn broken_and_hostile_suites_are_refused_with_their_place() {
    let home = Home::new();
    let deep = format!("x = {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!("name = \"{}\"", "x".repeat(2 << 20));
    let product = format!(
        "name = \"a\"\n[[cases]]\nselect = \"pipe\"\npayload = [{}]\nwait = [\"block\", \"spin\", \"yield\", \"epoll\"]\n",
        (1..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
    );
    for (text, parts) in [
        ("name = ", vec![":1:"]),
        ("name = \"a\"\nronds = 3\n", vec![":2:", "ronds", "rounds"]),
        ("name = \"a\"\nrounds = -3\n", vec![":2:", "rounds"]),
        ("name = \"a\"\n[[cases]]\nselect = \"pip\"\n", vec![":3:", "pipe"]),
        ("name = \"a\"\n[[cases]]\nselect = \"pipe\"\nwait = \"blok\"\n", vec![":4:", "blok"]),
        ("name = \"a\"\n", vec!["cases"]),
        ("", vec!["suite.toml"]),
        ("\u{0}\u{1b}[31m", vec!["suite.toml"]),
        (&deep, vec!["suite.toml"]),
        (&huge, vec!["suite.toml", "1 MiB"]),
        (&product, vec!["suite.toml"]),
    ] {
        let file = home.path().join("suite.toml");
        std::fs::write(&file, text).expect("to write");
        let output = home.run(&["run", "--suite", "./suite.toml"]);
        let shown: String = text.chars().take(60).collect();
        let line = one_line(&output, &shown, 2);
        assert_eq!(line.trim_end().lines().count(), 1, "{shown}: {line}");
        assert!(line.len() < 600, "{shown}: {line}");
        assert!(!line.contains('\u{1b}'), "{shown}: control characters get through");
        for part in parts {
            assert!(line.contains(part), "{shown}: no `{part}` in: {line}");
        }
    }
    let missing = home.run(&["run", "--suite", "./nothing.toml"]);
    assert!(one_line(&missing, "a missing suite", 2).contains("nothing.toml"));
    let directory = home.run(&["run", "--suite", "./"]);
    one_line(&directory, "a directory as a suite", 2);
}

#[test]
fn unreadable_foreign_and_truncated_run_files_are_refused() {
    let _alone = alone();
    let home = Home::new();
    home.run(&["run", "roundtrip/sleep:9us?clock=virtual&place=same-cpu", "--rounds", "2"]);
    let whole = std::fs::read(home.run_file()).expect("the run file");
    let path = home.path().join("x.hopcost");
    let text = path.to_str().expect("UTF-8");
    for (bytes, what) in [
        (&b""[..], "empty"),
        (&b"PK\x03\x04 not a run"[..], "foreign"),
        (&whole[..whole.len() / 2], "truncated"),
        (&whole[..100], "almost nothing"),
    ] {
        std::fs::write(&path, bytes).expect("to write");
        for format in ["text", "json", "html"] {
            let output = home.run(&["report", text, "--format", format]);
            let line = one_line(&output, what, 2);
            assert!(line.contains("x.hopcost"), "{what}: {line}");
        }
    }
    for spec in ["nothing-like-it", "last~7", "/nonexistent/run"] {
        one_line(&home.run(&["report", spec]), spec, 2);
    }
    let empty = Home::new();
    one_line(&empty.run(&["report"]), "no runs yet", 2);
}

#[test]
fn no_room_and_no_permission_are_said_before_anything_is_measured() {
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    let home = Home::new();
    for out in ["/proc/x.hopcost", "/nonexistent/directory/x.hopcost", "/dev/full", "."] {
        let output = home.run(&["run", case, "--rounds", "1", "--out", out]);
        let line = one_line(&output, out, 2);
        let named = out.strip_suffix("/x.hopcost").unwrap_or(out);
        assert!(line.contains(named), "{out}: {line}");
    }
    let mut command = home.hopcost(&["run", case, "--rounds", "1"]);
    let output = command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().expect("to start");
    one_line(&output, "no HOME", 2);
    let output = home
        .hopcost(&["run", case, "--rounds", "1"])
        .env("TMPDIR", "/nonexistent")
        .output()
        .expect("to start");
    let line = one_line(&output, "TMPDIR", 2);
    assert!(line.contains("/nonexistent") && line.contains("TMPDIR"), "{line}");
    let runs = std::fs::read_dir(home.path().join("data/hopcost/runs"));
    assert_eq!(runs.map_or(0, Iterator::count), 0, "a run file for nothing");
}

#[test]
fn a_report_never_overwrites_its_run() {
    let home = Home::new();
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    let _alone = alone();
    home.run(&["run", case, "--rounds", "1", "--out", "a.hopcost"]);
    let before = std::fs::read(home.path().join("a.hopcost")).expect("the run");
    std::fs::hard_link(home.path().join("a.hopcost"), home.path().join("b")).expect("to link");
    for output in ["a.hopcost", "./a.hopcost", "b"] {
        let refused = home.run(&["report", "a.hopcost", "--format", "csv", "--output", output]);
        assert!(one_line(&refused, output, 2).contains("overwrite"));
    }
    assert_eq!(std::fs::read(home.path().join("a.hopcost")).expect("the run"), before);
    // And a complete run is left alone by --resume.
    let refused = home.run(&["run", "--resume", "a.hopcost"]);
    assert!(one_line(&refused, "resume", 2).contains("is complete"));
    assert_eq!(std::fs::read(home.path().join("a.hopcost")).expect("the run"), before);
}

#[test]
fn a_fifo_is_no_suite_and_a_full_stderr_no_reason_to_fail() {
    let _alone = alone();
    let home = Home::new();
    let fifo = home.path().join("fifo.toml");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    one_line(&home.run(&["run", "--suite", "./fifo.toml"]), "a FIFO", 2);
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let case = "roundtrip/sleep:9us?clock=virtual&place=same-cpu";
    for (arguments, code) in
        [(vec!["run", case, "--rounds", "1"], None), (vec!["report", "nope"], Some(2))]
    {
        let status = home
            .hopcost(&arguments)
            .stdout(Stdio::null())
            .stderr(full())
            .status()
            .expect("to start");
        assert!(status.code().is_some(), "{arguments:?}: {status:?}");
        assert!(code.is_none() || status.code() == code, "{arguments:?}: {status:?}");
    }
}

#[test]
fn hostile_arguments_do_not_reach_the_terminal() {
    let home = Home::new();
    let long = "x".repeat(100_000);
    for argument in ["x\u{1b}[31m", long.as_str()] {
        for command in [["show", argument], ["report", argument]] {
            let line = one_line(&home.run(&command), command[0], 2);
            assert!(
                !line.contains('\u{1b}') && line.len() < 4_000,
                "{}: {}",
                command[0],
                line.len()
            );
        }
    }
}

/// Runs a command with limits or rights changed between fork and exec.
fn limited(home: &Home, arguments: &[&str], change: fn() -> std::io::Result<()>) -> Output {
    let mut command = home.hopcost(arguments);
    // SAFETY: the changes below are single system calls.
    unsafe { command.pre_exec(change) };
    command.output().expect("the binary starts")
}

#[test]
fn twenty_descriptors_are_enough_or_the_row_says_so() {
    let _alone = alone();
    let home = Home::new();
    let few = || {
        let limit = libc::rlimit { rlim_cur: 20, rlim_max: 20 };
        // SAFETY: the structure is valid for reading.
        match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let arguments = [
        "run",
        "pipe,tcp,websocket?place=same-cpu",
        "--rounds",
        "1",
        "--measure",
        "5ms",
        "--format",
        "json",
    ];
    let output = limited(&home, &arguments, few);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    for result in document["results"].as_array().expect("results") {
        assert!(result["status"] == "measured" || result["reason"].is_string(), "{result}");
    }
}

#[test]
fn an_unprivileged_user_can_measure() {
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } != 0 {
        return; // Then every other test has shown it.
    }
    let _alone = alone();
    let home = Home::new();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777))
        .expect("to open it");
    // The binary's own directory may be closed to others.
    let copy = home.path().join("hopcost");
    std::fs::copy(hopcost_path(), &copy).expect("to copy");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&copy);
        command
            .args(arguments)
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .uid(65534)
            .gid(65534)
            .output()
            .expect("the binary starts")
    };
    let output = run(&[
        "run",
        "pipe,posix-mq,sysv-msg,signal?place=same-cpu",
        "--rounds",
        "1",
        "--measure",
        "5ms",
        "--format",
        "json",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    for result in document["results"].as_array().expect("results") {
        assert_eq!(result["status"], "measured", "{result}");
    }
    let refused = run(&[
        "run",
        "pipe?place=same-cpu",
        "--rounds",
        "1",
        "--sched",
        "fifo:10",
        "--format",
        "json",
    ]);
    let document: serde_json::Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    let result = &document["results"][0];
    assert_eq!(result["status"], "failed");
    assert!(result["reason"].as_str().expect("a reason").contains("SCHED_FIFO"), "{result}");
}

#[test]
fn one_cpu_alone_skips_what_needs_two() {
    let _alone = alone();
    let home = Home::new();
    let one = || hopcost_probe::sys::pin(0);
    let output = limited(&home, &["run", "--dry-run", "--format", "json", "pipe", "flag"], one);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("two CPUs"), "{text}");
    let output = limited(
        &home,
        &["run", "pipe", "--rounds", "1", "--measure", "5ms", "--format", "json"],
        one,
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(
        document["results"].as_array().is_some_and(|r| r.iter().any(|r| r["status"] == "measured"))
    );
}

#[test]
fn closed_stdin_and_stdout_do_no_harm() {
    let _alone = alone();
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
    let output = limited(&home, &arguments, close_stdin);
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    // A reader that goes away is not our failure.
    let mut child = home
        .hopcost(&["list"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("to start");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_interrupt_at_any_moment_keeps_what_is_finished() {
    let _alone = alone();
    for delay_ms in [30, 150, 400, 900, 1_700] {
        let home = Home::new();
        let child = home
            .hopcost(&["run", "pipe,futex?place=same-cpu", "--rounds", "50"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("to start");
        std::thread::sleep(Duration::from_millis(delay_ms));
        // SAFETY: a signal to our own child.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        use std::os::unix::process::ExitStatusExt;
        // Before the handler stands, the signal simply ends the process.
        let early = output.status.signal() == Some(libc::SIGINT);
        assert!(
            early || output.status.code() == Some(130),
            "{delay_ms} ms: {:?} {stderr}",
            output.status
        );
        if early || !home.path().join("data").exists() {
            continue;
        }
        assert!(output.stdout.is_empty());
        assert!(stderr.contains("finished trials are kept"), "{delay_ms} ms: {stderr}");
        let report = home.run(&["report", "--format", "json"]);
        let document: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
        assert_eq!(document["plan"]["complete"], false);
        if delay_ms >= 900 {
            assert!(document["plan"]["trials_done"].as_u64() > Some(0), "{delay_ms} ms");
            // And it goes on from there, losing none of them.
            resumes(&home, document["plan"]["trials_done"].as_u64().unwrap_or(0));
        }
        let left: Vec<_> = std::fs::read_dir(home.path())
            .expect("home")
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("hopcost-"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn resumes(home: &Home, done_before: u64) {
    let file = home.run_file();
    let path = file.to_str().expect("UTF-8");
    let child = home
        .hopcost(&["run", "--resume", path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("to start");
    std::thread::sleep(Duration::from_millis(700));
    // SAFETY: a signal to our own child.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let report = home.run(&["report", path, "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let done = document["plan"]["trials_done"].as_u64().unwrap_or(0);
    assert!(done > done_before, "{done} after resuming, {done_before} before");
}

/// Runs a shell script in a mount namespace of its own; `None` without the right to.
fn in_own_mounts(home: &Home, script: &str) -> Option<Output> {
    let allowed =
        Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|o| o.status.success());
    if !allowed {
        eprintln!("NOT CHECKED: this user may not make mount namespaces");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(hopcost_path())
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("LC_ALL", "C.UTF-8");
    Some(command.output().expect("unshare starts"))
}

#[test]
fn no_dev_shm_is_no_obstacle() {
    let _alone = alone();
    let home = Home::new();
    let script = "umount /dev/shm 2>/dev/null; mount -t tmpfs -o ro,size=4k none /dev/shm && \
                  exec \"$1\" run futex semaphore condvar shm-ring posix-mq --placement same-cpu \
                  --rounds 1 --measure 5ms --format json";
    let Some(output) = in_own_mounts(&home, script) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    for result in document["results"].as_array().expect("results") {
        assert_eq!(result["status"], "measured", "{result}");
    }
}

#[test]
fn a_full_disk_keeps_what_is_finished() {
    let _alone = alone();
    let home = Home::new();
    let script = "mkdir small && mount -t tmpfs -o size=300k none small && \
                  \"$1\" run pipe?place=same-cpu --rounds 400 --measure 2ms --out small/x.hopcost; \
                  code=$?; \"$1\" report small/x.hopcost --format json || exit 99; exit $code";
    let Some(output) = in_own_mounts(&home, script) else { return };
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("full") && stderr.contains("finished trials are kept"), "{stderr}");
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    assert!(document["plan"]["trials_done"].as_u64() > Some(5), "{stderr}");
    assert_eq!(document["plan"]["complete"], false);
}
