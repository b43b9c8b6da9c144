//! Facts of the build that every run file carries.

use std::process::Command;

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn main() {
    let var = |name| std::env::var(name).unwrap_or_else(|_| "unknown".into());
    // Where somebody else holds the index, whether it is dirty cannot be told.
    let commit = output("git", &["describe", "--always", "--dirty", "--abbrev=12"])
        .or_else(|| output("git", &["rev-parse", "--short=12", "HEAD"]));
    let compiler = output(&var("RUSTC"), &["--version"]);
    println!("cargo::rustc-env=HOPCOST_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=HOPCOST_COMPILER={}", compiler.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=HOPCOST_TARGET={}", var("TARGET"));
    println!("cargo::rustc-env=HOPCOST_PROFILE={}", var("PROFILE"));
    println!("cargo::rustc-env=HOPCOST_OPT_LEVEL={}", var("OPT_LEVEL"));
    // The revision changes with a commit or a checkout.
    if let Some(directory) = output("git", &["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={directory}/HEAD");
        println!("cargo::rerun-if-changed={directory}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
