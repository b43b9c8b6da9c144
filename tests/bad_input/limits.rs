//! Machines and users that may do little: few descriptors, no rights, one CPU,
//! closed streams, no /dev/shm.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use super::in_own_mounts;
use crate::support::{Home, alone, hopcost_path};

/// Runs a command with limits or rights changed between fork and exec.
fn limited(home: &Home, arguments: &[&str], change: fn() -> std::io::Result<()>) -> Output {
    let mut command = home.hopcost(arguments);
    // SAFETY: the changes below are single system calls.
    unsafe { command.pre_exec(change) };
    command.output().expect("the binary starts")
}

/// Lets a process have this many descriptors.
fn at_most<const N: u64>() -> std::io::Result<()> {
    let limit = libc::rlimit { rlim_cur: N, rlim_max: N };
    // SAFETY: the structure is valid for reading.
    match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[test]
fn twenty_descriptors_are_too_few_for_a_trial_which_is_said_before_it_and_forty_are_enough() {
    let _alone = alone();
    let home = Home::new();
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
    let line = super::one_line(&limited(&home, &arguments, at_most::<20>), "20 descriptors", 2);
    assert!(line.contains("ulimit -n"), "{line}");
    assert!(!home.path().join("data").exists(), "no run is begun");
    let output = limited(&home, &arguments, at_most::<40>);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"));
    let results = document["results"].as_array().expect("results");
    for result in results {
        assert_eq!(result["status"], "measured", "{result}");
    }
    assert_eq!(results.len(), 3);
}

#[test]
fn too_few_descriptors_are_the_reason_and_leave_nothing() {
    let _alone = alone();
    for few in [at_most::<5>, at_most::<6>, at_most::<7>, at_most::<9>, at_most::<12>] {
        let home = Home::new();
        let output = limited(&home, &["run", "pipe?place=same-cpu", "--rounds", "1"], few);
        let line = super::one_line(&output, "few descriptors", 2);
        assert!(line.contains("ulimit -n") && !line.contains("permission"), "{line}");
        assert_eq!(std::fs::read_dir(home.path()).expect("home").count(), 0, "{line}");
    }
}

#[test]
fn no_inodes_are_no_lack_of_permission() {
    let _alone = alone();
    for inodes in [1, 2] {
        let home = Home::new();
        // One for the directory itself, one for the run, none for its journal.
        let script = format!(
            "mkdir small && mount -t tmpfs -o nr_inodes={inodes} none small && \
             exec \"$1\" run pipe?place=same-cpu --rounds 1 --out small/x.hopcost"
        );
        let Some(output) = in_own_mounts(&home, &script) else { return };
        let line = super::one_line(&output, "no inodes", 2);
        assert!(line.contains("full") && !line.contains("permission"), "{inodes}: {line}");
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
fn where_the_loopback_is_down_its_cases_are_skipped_with_the_remedy() {
    let home = Home::new();
    // A new network namespace has a loopback that is down.
    let allowed = Command::new("unshare").args(["-n", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT CHECKED: this user may not make network namespaces");
        return;
    }
    let cases = ["tcp,udp,websocket,pipe?place=same-cpu", "stream/tcp-sendmsg?place=free"];
    let mut command = Command::new("unshare");
    command.arg("-n").arg(hopcost_path()).args(["run", "--dry-run", "--format", "json"]);
    command.args(cases);
    let output = command.env("HOME", home.path()).output().expect("unshare starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let document: serde_json::Value = serde_json::from_str(&text).expect(&text);
    let cases = document["plan"]["cases"].as_array().expect("cases");
    assert!(cases.len() >= 5);
    for case in cases {
        let (id, skip) = (case["id"].as_str().expect("an id"), case["skip"].as_str());
        let remedy = skip.is_some_and(|skip| skip.contains("`ip link set lo up`"));
        assert_eq!(remedy, !id.contains("/pipe?"), "{case}");
    }
}
