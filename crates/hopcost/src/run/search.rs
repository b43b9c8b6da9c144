//! Where workers of other runtimes are looked for, and how each is started. One that others
//! may write is listed and never run (SECURITY.md).

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use hopcost_model::{CaseError, Facts, Runtime};
use serde::Deserialize;

use super::trust;
use super::worker::Program;

/// Folders that are looked in instead of all others, like PATH.
const PATH_VARIABLE: &str = "HOPCOST_WORKERS";
/// What a worker's folder is known by.
const MANIFEST: &str = "worker.toml";

/// A worker's folder says how it is started.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// How cases spell it.
    runtime: String,
    /// Program and arguments; run in the folder.
    command: Vec<String>,
    /// What it needs, in words.
    needs: String,
    /// The command that installs it.
    install: String,
    /// What a process of it takes from its start until it is attached, for the estimate of
    /// how long a run takes.
    start_ms: Option<u32>,
    /// What its mechanisms are, as far as neither the worker nor hopcost itself says it.
    #[serde(default)]
    mechanism: Facts,
}

/// A worker as its folder or its path tells.
pub struct Candidate {
    /// Its name; a program that was named by its path says it itself.
    pub runtime: Option<Runtime>,
    /// How it is started, or why it is not.
    pub program: Result<Program>,
    /// How long that takes, where its folder says so.
    pub start_ns: Option<u64>,
    /// What its folder says of its mechanisms.
    pub facts: Facts,
    /// Its folder, or the program that was named.
    pub place: PathBuf,
}

/// The workers that were named, then one of each name from the folders: the first that can be
/// started, so that nobody hides a worker behind one that is not trusted.
pub fn candidates(named: &[PathBuf]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = named.iter().map(|path| by_path(path)).collect();
    for candidate in folders().iter().flat_map(|folder| in_folder(folder)) {
        match found.iter().position(|earlier| earlier.runtime == candidate.runtime) {
            None => found.push(candidate),
            Some(at) if at < named.len() || found[at].program.is_ok() => {}
            Some(at) if candidate.program.is_ok() => found[at] = candidate,
            Some(_) => {}
        }
    }
    found
}

/// A worker that was named by its path: its program, or its folder.
fn by_path(path: &Path) -> Candidate {
    let alone = |program| {
        let (facts, place) = (Facts::new(), path.to_owned());
        Candidate { runtime: None, program, start_ns: None, facts, place }
    };
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if absolute.is_dir() {
        // By its own name too, which a link may have led elsewhere.
        let trusted = trust::file(&absolute.join(MANIFEST));
        let folder = absolute.canonicalize().unwrap_or(absolute);
        let found = by_manifest(&folder);
        let found = found.with_context(|| format!("{} holds no {MANIFEST}", path.display()));
        let found = found.and_then(|found| trusted.map(|()| found));
        return found.unwrap_or_else(|why| alone(Err(why)));
    }
    alone(by_program(path, &absolute))
}

fn by_program(path: &Path, absolute: &Path) -> Result<Program> {
    let found = path.canonicalize().map_err(|error| {
        let shown = path.display();
        anyhow!("cannot use worker {shown}: {error}; name one program, and let a script give it arguments")
    })?;
    let may_run = |of: Metadata| of.is_file() && of.permissions().mode() & 0o111 != 0;
    let is_program = found.metadata().is_ok_and(may_run);
    ensure!(is_program, "{} is no program that may be run (chmod +x)", found.display());
    trust::file(absolute)?;
    Ok(Program { path: found, arguments: Vec::new(), directory: None })
}

/// The folders that may hold workers, the first ones first. None is relative: nothing comes
/// from the directory that hopcost happens to be called in.
fn folders() -> Vec<PathBuf> {
    if let Some(listed) = std::env::var_os(PATH_VARIABLE) {
        return std::env::split_paths(&listed).filter(|path| path.is_absolute()).collect();
    }
    let binary = std::env::current_exe().ok();
    let bin = binary.as_deref().and_then(Path::parent).filter(|folder| folder.ends_with("bin"));
    let prefix = bin.and_then(Path::parent).map(|prefix| prefix.join("share"));
    let installed = prefix.into_iter().chain(hopcost_file::data_folder());
    let checkout = option_env!("HOPCOST_CHECKOUT").into_iter().flat_map(|root| {
        let workers = Path::new(root).join("workers");
        [workers.join("middleware"), workers]
    });
    checkout.chain(installed.map(|data| data.join("hopcost/workers"))).collect()
}

/// The workers of a folder, by name.
fn in_folder(folder: &Path) -> Vec<Candidate> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let named = |path: &PathBuf| by_manifest(path).filter(|found| found.runtime.is_some());
    paths.iter().filter_map(named).collect()
}

fn by_manifest(folder: &Path) -> Option<Candidate> {
    let file = folder.join(MANIFEST);
    file.symlink_metadata().ok()?;
    // One that cannot be read is named after its folder, so that it is not silently missing.
    let mut runtime = folder.file_name()?.to_str()?.parse().ok();
    let wrong = |what: &str| anyhow!("{}: {}", file.display(), what.replace('\n', " "));
    let manifest = trust::text(&file).and_then(|text| {
        let manifest: Manifest = toml::from_str(&text).map_err(|e| wrong(e.message()))?;
        runtime = Some(manifest.runtime.parse().map_err(|e: CaseError| wrong(&e.to_string()))?);
        Ok(manifest)
    });
    let read = manifest.as_ref().ok();
    let start_ms = read.and_then(|manifest| manifest.start_ms);
    Some(Candidate {
        runtime,
        start_ns: start_ms.map(|ms| u64::from(ms) * 1_000_000),
        facts: read.map_or_else(Facts::new, |manifest| manifest.mechanism.clone()),
        program: manifest.and_then(|manifest| start_of(folder, &manifest)),
        place: folder.to_owned(),
    })
}

/// How a worker of a folder is started, or what is missing.
fn start_of(folder: &Path, manifest: &Manifest) -> Result<Program> {
    let Some((first, arguments)) = manifest.command.split_first() else {
        bail!("{}: `command` is empty", folder.join(MANIFEST).display());
    };
    let Manifest { needs, install, .. } = manifest;
    let missing = |what: &str| anyhow!("{what}; it needs {needs}; to install it: {install}");
    let path = if first.contains('/') {
        let path = folder.join(first);
        if !path.exists() {
            let is_link = path.symlink_metadata().is_ok();
            ensure!(!is_link, "{} leads to no file that this user can reach", path.display());
            return Err(missing("not built"));
        }
        path
    } else {
        on_path(first).ok_or_else(|| missing(&format!("`{first}` is not here")))?
    };
    trust::file(&path)?;
    for word in arguments.iter().filter(|word| !word.starts_with('-')) {
        // A file or a folder of its own.
        let file = folder.join(word);
        if file.is_file() {
            trust::file(&file)?;
        } else if file.is_dir() {
            trust::folder(&file)?;
        } else if word.contains('/') && !file.exists() {
            return Err(missing(&format!("not built: {word} is missing")));
        }
    }
    Ok(Program { path, arguments: arguments.to_vec(), directory: Some(folder.to_owned()) })
}

/// The file of a command.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
}
