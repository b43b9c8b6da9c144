//! Facts of the build that every run file carries, and the checkout that it is made in.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The content of a checkout's marker: random and made once, so that another checkout in its
/// place later is not taken for it (src/run/search.rs).
fn marker_of(root: &Path) -> Option<String> {
    let marker = root.join("workers/.checkout");
    if !marker.exists() && root.join("workers/PROTOCOL.md").exists() {
        let mut random = [0; 16];
        File::open("/dev/urandom").ok()?.read_exact(&mut random).ok()?;
        let made = root.join(format!("workers/.checkout.{}", std::process::id()));
        let mut file = File::create_new(&made).ok()?;
        writeln!(file, "{:032x}", u128::from_ne_bytes(random)).ok()?;
        // Old, so that cargo does not take it for a change since this build began.
        file.set_modified(SystemTime::UNIX_EPOCH).ok()?;
        // Of two builds at once, the first one's counts.
        let _ = fs::hard_link(&made, &marker);
        fs::remove_file(&made).ok()?;
    }
    let text = fs::read_to_string(&marker).ok()?;
    println!("cargo::rerun-if-changed={}", marker.display());
    Some(text.trim().to_owned())
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
    if let Ok(root) = Path::new(&var("CARGO_MANIFEST_DIR")).join("../..").canonicalize()
        && let Some(marker) = marker_of(&root)
    {
        println!("cargo::rustc-env=HOPCOST_CHECKOUT={}", root.display());
        println!("cargo::rustc-env=HOPCOST_CHECKOUT_MARKER={marker}");
    }
    // The revision changes with a commit or a checkout.
    if let Some(directory) = output("git", &["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={directory}/HEAD");
        println!("cargo::rerun-if-changed={directory}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
