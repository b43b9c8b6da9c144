//! An interrupt keeps what is finished, and the run goes on from there.

use std::process::Stdio;
use std::time::Duration;

use crate::support::{Home, alone};

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
