//! What workers have said of themselves, so that `list` and `show` do not start them all. It
//! is believed for as long as the files that a worker is made of are the same, and for a day.

use std::ffi::OsString;
use std::fs::Metadata;
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hopcost_model::describe::Description;
use hopcost_probe::folder::Folder;
use serde::{Deserialize, Serialize};

use super::search::{self, Candidate};
use crate::about;

/// What a worker has depends on the system too, which may change without any of its files.
const AGE_MAX: Duration = Duration::from_secs(24 * 3600);
/// Files that are looked at of a worker; one of more is asked each time.
const FILES_MAX: usize = 20_000;
/// The most that such a file may hold.
const BYTES_MAX: u64 = 1 << 20;
/// Variables by which a loader or a language decides what it runs, by their beginnings.
const VARIABLES: [&str; 9] =
    ["PATH", "LD_", "GLIBC_", "JAVA", "_JAVA", "JDK_", "NODE_", "PYTHON", "GO"];

/// A worker as its files tell it apart from any other, and from itself before a change.
pub struct Identity {
    /// The file that says what it said.
    name: OsString,
    /// Of the files.
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    identity: String,
    description: Description,
}

impl Identity {
    /// That of a worker; `None` where it cannot be told.
    pub fn of(candidate: &Candidate) -> Option<Self> {
        let program = candidate.program.as_ref().ok()?;
        let mut seen = Seen { text: Vec::new(), files: 0 };
        seen.says(env!("HOPCOST_COMMIT"));
        seen.says(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?);
        let variables = std::env::vars_os().filter(|(name, _)| {
            name.to_str().is_some_and(|name| VARIABLES.iter().any(|start| name.starts_with(start)))
        });
        let mut variables: Vec<_> = variables.collect();
        variables.sort();
        seen.says(&format!("{variables:?} {:?}", program.arguments));
        let folder = program.directory.as_deref()?;
        for path in std::iter::once(program.path.clone()).chain(tools(folder)) {
            seen.file(&path, &path.metadata().ok()?);
        }
        seen.folder(folder)?;
        let place = candidate.place.as_os_str().as_encoded_bytes().iter().copied();
        Some(Self {
            name: format!("{}.json", about::hash(place)).into(),
            hash: about::hash(seen.text),
        })
    }

    /// What the worker said when its files were these.
    pub fn said(&self) -> Option<Description> {
        let folder = Folder::open(&folder()?).ok()?;
        let file = folder.file(&self.name).ok()?;
        let age = file.metadata().ok()?.modified().ok()?.elapsed().ok()?;
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        let stored: Stored = serde_json::from_str(&text).ok()?;
        (age < AGE_MAX && stored.identity == self.hash).then_some(stored.description)
    }

    /// Keeps what the worker has said since. That it cannot be kept is no failure.
    pub fn keep(&self, description: &Description) {
        let stored = Stored { identity: self.hash.clone(), description: description.clone() };
        let Some(path) = folder() else { return };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        if let (Ok(()), Ok(text)) = (made, serde_json::to_vec(&stored))
            && let Ok(folder) = Folder::open(&path)
        {
            let _ = folder.replace(&self.name, &text);
        }
    }
}

/// Where it is kept.
fn folder() -> Option<PathBuf> {
    Some(hopcost_file::cache_folder()?.join("hopcost/workers"))
}

/// The commands by which its `packages` are known, a language's among them: a script may start it.
fn tools(folder: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(folder.join("packages")).unwrap_or_default();
    let commands = text.lines().filter_map(|line| line.split_whitespace().next());
    commands.filter(|word| !word.contains('/')).filter_map(search::on_path).collect()
}

/// What was seen of a worker.
struct Seen {
    text: Vec<u8>,
    files: usize,
}

impl Seen {
    fn says(&mut self, text: &str) {
        self.text.extend(text.bytes().chain([0]));
    }

    fn file(&mut self, path: &Path, found: &Metadata) {
        self.text.extend_from_slice(path.as_os_str().as_encoded_bytes());
        let at = |seconds: i64, ns: i64| format!("{seconds}.{ns:09}");
        self.says(&format!(
            "\0{} {} {:o} {} {} {}",
            found.dev(),
            found.ino(),
            found.mode(),
            found.len(),
            at(found.mtime(), found.mtime_nsec()),
            at(found.ctime(), found.ctime_nsec())
        ));
    }

    /// Every file below a folder; a link to a file as what it leads to, too.
    fn folder(&mut self, path: &Path) -> Option<()> {
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(path).ok()? {
            entries.push(entry.ok()?.path());
        }
        entries.sort();
        for path in entries {
            self.files += 1;
            if self.files > FILES_MAX {
                return None;
            }
            let found = path.symlink_metadata().ok()?;
            if found.is_dir() {
                self.folder(&path)?;
                continue;
            }
            self.file(&path, &found);
            if let Some(target) = found.is_symlink().then(|| path.metadata().ok()).flatten() {
                self.file(&path, &target);
            }
        }
        Some(())
    }
}
