//! Bad input: one clear line that says what is wrong, where, and what to do;
//! exit code 2; nothing lost, nothing half written.

mod asked;
mod files;
mod interrupt;
mod limits;
mod suites;
mod trust;

use std::process::{Command, Output};

use crate::support::{Home, hopcost_path};

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
    assert!(line.starts_with("hopcost: "), "{arguments:?}: {line}");
    assert_eq!(line.trim_end().lines().count(), 1, "{arguments:?}: {line}");
    assert!(!home.path().join("data").exists(), "{arguments:?}: something was written");
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
