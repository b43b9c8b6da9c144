//! Bad input: one clear line that says what is wrong, where, and what to do;
//! exit code 2; nothing lost, nothing half written.

mod asked;
mod files;
mod interrupt;
mod trust;

use std::process::Output;

use crate::support::Home;

/// Checks that a command failed as bad input should, and returns its line.
fn one_line(output: &Output, what: &str, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{what}: {stderr}");
    assert!(output.stdout.is_empty(), "{what}: something on stdout");
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{what}: {stderr}");
    assert!(stderr.contains("hopcost: ") || stderr.contains("error: "), "{what}: {stderr}");
    stderr
}

fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let home = Home::new();
    let output = home.run(arguments);
    let line = one_line(&output, &format!("{arguments:?}"), code);
    for part in parts {
        assert!(line.contains(part), "{arguments:?}: no `{part}` in: {line}");
    }
    assert!(line.starts_with("hopcost: "), "{arguments:?}: {line}");
    assert_eq!(line.trim_end().lines().count(), 1, "{arguments:?}: {line}");
    assert!(!home.path().join("data").exists(), "{arguments:?}: something was written");
}
