//! Facts of the build that every run file carries, the checkout that it is made in, and the sources
//! of the workers in other languages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Every source of a worker's folder, relative to it; what its .gitignore names is built there.
fn sources(folder: &Path, ignored: &[String], found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.path());
    let is_ignored = |entry: &fs::DirEntry| ignored.iter().any(|name| entry.file_name() == **name);
    // What is built in a folder would have cargo take it for changed.
    if !entries.iter().any(is_ignored) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    for entry in entries.iter().filter(|entry| !is_ignored(entry)) {
        if entry.file_type()?.is_dir() {
            sources(&entry.path(), ignored, found)?;
        } else {
            println!("cargo::rerun-if-changed={}", entry.path().display());
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Writes the table of all workers' files: worker, path, mode, bytes (src/run/install.rs).
fn carry_workers(root: &Path, table: &Path) -> std::io::Result<()> {
    let mut text = String::from("&[\n");
    let within = |folder: PathBuf| -> std::io::Result<Vec<PathBuf>> {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        folders.sort();
        Ok(folders)
    };
    let (languages, libraries) = (root.join("workers"), root.join("workers/middleware"));
    println!("cargo::rerun-if-changed={}", libraries.display());
    let all = within(languages)?.into_iter().chain(within(libraries.clone())?);
    for folder in all.filter(|folder| folder.join("worker.toml").exists()) {
        let folder = folder.as_path();
        let ignored = fs::read_to_string(folder.join(".gitignore")).unwrap_or_default();
        let ignored: Vec<String> =
            ignored.lines().map(|line| line.trim_matches('/').to_owned()).collect();
        let mut found = Vec::new();
        sources(folder, &ignored, &mut found)?;
        let is_library = folder.starts_with(&libraries);
        // What libraries have in common lies beside each.
        for core in ["core", "core-c"].into_iter().filter(|_| is_library) {
            sources(&libraries.join(core), &["target".into(), "Cargo.lock".into()], &mut found)?;
        }
        for file in found {
            let mode =
                if file.metadata()?.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
            let worker = folder.file_name().unwrap_or_default();
            let path = match (file.strip_prefix(folder), file.strip_prefix(&libraries)) {
                (Err(_), Ok(shared)) => Path::new("..").join(shared),
                (own, _) => own.unwrap_or(&file).to_owned(),
            };
            text += &format!(
                "    File {{ worker: {worker:?}, path: {path:?}, mode: {mode:#o}, bytes: include_bytes!({file:?}) }},\n"
            );
        }
    }
    fs::write(table, text + "]\n")
}

fn main() {
    let var = |name| std::env::var(name).unwrap_or_else(|_| "unknown".into());
    // While another process holds the index, nobody can see whether it is dirty.
    let commit = output("git", &["describe", "--always", "--dirty", "--abbrev=12"])
        .or_else(|| output("git", &["rev-parse", "--short=12", "HEAD"]));
    let compiler = output(&var("RUSTC"), &["--version"]);
    println!("cargo::rustc-env=HOPCOST_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=HOPCOST_COMPILER={}", compiler.as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=HOPCOST_TARGET={}", var("TARGET"));
    println!("cargo::rustc-env=HOPCOST_PROFILE={}", var("PROFILE"));
    let root = Path::new(&var("CARGO_MANIFEST_DIR")).join("../..");
    if root.join("workers/PROTOCOL.md").exists()
        && let Ok(root) = root.canonicalize()
    {
        println!("cargo::rustc-env=HOPCOST_CHECKOUT={}", root.display());
    }
    let table = Path::new(&var("OUT_DIR")).join("workers.rs");
    if let Err(error) = root.canonicalize().and_then(|root| carry_workers(&root, &table)) {
        println!("cargo::warning=built without the sources of the workers: {error}");
        let _ = fs::write(&table, "&[]\n");
    }
    // The revision changes with a commit or a checkout.
    if let Some(directory) = output("git", &["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={directory}/HEAD");
        println!("cargo::rerun-if-changed={directory}/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
