//! An interrupt keeps what is finished, and the run goes on from there.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::support::wait::InTime;
use crate::support::{Home, together};

#[test]
fn an_interrupt_at_any_moment_keeps_what_is_finished() {
    let _together = together();
    for delay_ms in [30, 900] {
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
        let output = child.finish();
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
        let is_shown = String::from_utf8_lossy(&output.stdout).contains("This run was cut off");
        assert_eq!(is_shown, !stderr.contains(" 0 finished trials"), "{delay_ms} ms: {stderr}");
        assert!(stderr.contains("finished trials are kept"), "{delay_ms} ms: {stderr}");
        let document = home.json(&["report", "--format", "json"]);
        assert_eq!(document["runs"][0]["complete"], false);
        if delay_ms >= 900 {
            assert!(document["runs"][0]["trials_done"].as_u64() > Some(0), "{delay_ms} ms");
            // And it goes on from there, losing none of them.
            resumes(&home, document["runs"][0]["trials_done"].as_u64().unwrap_or(0));
        }
        assert!(left(&home).is_empty(), "{:?}", left(&home));
    }
}

/// Calls of the control process that may block.
const CALLS: [&str; 7] = ["connect", "accept", "reply", "wait", "spacing", "store", "write"];

#[test]
fn a_signal_ends_a_run_within_a_second_in_whatever_call_it_is() {
    let _together = together();
    for call in CALLS {
        let home = Home::new();
        // Rounds so short that the second has to wait for its time.
        let case = ["run", "tcp?place=same-cpu", "--rounds", "2", "--measure", "1ms"];
        let mut command = home.hopcost(&case);
        command.env("HOPCOST_STALL", call).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("to start");
        let said = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            said.lines().map_while(Result::ok).try_for_each(|l| sender.send(l))
        });
        let stalled = format!("stalled: {call}");
        let patience = Duration::from_secs(30);
        let heard = || lines.recv_timeout(patience).unwrap_or_else(|_| panic!("{call}: not made"));
        while heard() != stalled {}
        let since = Instant::now();
        crate::faults::signal(child.id(), libc::SIGTERM);
        let mut code = None;
        crate::faults::until(patience, call, || {
            code = child.try_wait().expect("our child").map(|status| status.code());
            code.is_some()
        });
        let took = since.elapsed();
        assert_eq!(code, Some(Some(130)), "{call}");
        assert!(took < Duration::from_millis(1_300), "{call}: {took:?}");
        assert!(crate::faults::processes_of(&home).is_empty() && left(&home).is_empty(), "{call}");
    }
}

/// Scratch directories that are there.
fn left(home: &Home) -> Vec<std::fs::DirEntry> {
    let entries = std::fs::read_dir(home.path()).expect("home").flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("hopcost-")).collect()
}

#[test]
fn no_signal_that_can_be_caught_leaves_scratch_behind() {
    let _together = together();
    let signals = [libc::SIGHUP, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM];
    let started = signals.map(|signal| {
        let home = Home::new();
        let mut command = home.hopcost(&["run", "pipe?place=same-cpu", "--rounds", "500"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
        (signal, home, child)
    });
    for (_, home, _) in &started {
        let runs = || home.path().join("data/hopcost/runs").exists();
        crate::faults::until(Duration::from_secs(10), "it starts", runs);
    }
    std::thread::sleep(Duration::from_millis(300));
    for (signal, home, child) in started {
        crate::faults::signal(child.id(), signal);
        let output = child.finish();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let (code, left) = (output.status.code(), left(&home));
        assert_eq!(code, Some(130), "signal {signal}: {:?} {stderr}", output.status);
        assert!(left.is_empty(), "signal {signal}: {left:?}");
    }
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_so() {
    let _together = together();
    let home = Home::new();
    let case = ["run", "pipe?place=same-cpu", "--rounds", "3", "--measure", "100ms"];
    let mut command = home.with_hangups_ignored(&case);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start");
    while child.try_wait().expect("our child").is_none() {
        crate::faults::signal(child.id(), libc::SIGHUP);
        crate::faults::signal(child.id(), libc::SIGINT);
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.finish();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?} {stderr}", output.status);
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
    let output = child.finish();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("This run was cut off"), "what is finished is shown:\n{shown}");
    let document = home.json(&["report", path, "--format", "json"]);
    let done = document["runs"][0]["trials_done"].as_u64().unwrap_or(0);
    assert!(done > done_before, "{done} after resuming, {done_before} before");
}
