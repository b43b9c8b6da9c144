//! A run's scratch directory: where FIFOs, sockets and notes of System V queues
//! live while a trial needs them. It names its owner, so that the next start
//! can remove what a killed run left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hopcost_probe::sys;

/// A directory of this run, removed when dropped.
pub struct Scratch {
    path: PathBuf,
}

/// Prefix of every scratch directory's name.
const PREFIX: &str = "hopcost-";
/// Names the owning process: its id and its start time in clock ticks.
const OWNER: &str = "owner";
/// A file `sysv-msg.ID` says that the run made System V queue ID.
const SYSV: &str = "sysv-msg.";
/// A file `posix-mq.NAME` says that the run made POSIX queue /NAME.
const POSIX: &str = "posix-mq.";

impl Scratch {
    /// Makes the directory of run `id` under the system's temporary directory.
    pub fn create(id: &str) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let unique = format!("{PREFIX}{}-{id}-{}", sys::user_id(), std::process::id());
        let path = parent().join(unique);
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|e| {
            let shown: String = path.display().to_string().chars().take(200).collect();
            sys::context(e, &format!("making the scratch directory {shown} (see TMPDIR)"))
        })?;
        let scratch = Self { path };
        fs::write(scratch.path.join(OWNER), owner_line(std::process::id()).unwrap_or_default())
            .map_err(|e| sys::context(e, &format!("writing to {}", scratch.path.display())))?;
        Ok(scratch)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The longest temporary directory that leaves room for a socket's name: a Unix
/// socket's path has at most 107 bytes (unix(7)).
const PARENT_BYTES_MAX: usize = 40;

/// The system's temporary directory, or /tmp where that one's name is too long.
fn parent() -> PathBuf {
    let named = std::env::temp_dir();
    if named.as_os_str().len() <= PARENT_BYTES_MAX { named } else { PathBuf::from("/tmp") }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        clear(&self.path);
    }
}

/// Removes what killed runs of this user left behind; says of each what it was.
pub fn sweep() -> Vec<String> {
    let prefix = format!("{PREFIX}{}-", sys::user_id());
    let Ok(entries) = fs::read_dir(parent()) else { return Vec::new() };
    let mut removed = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        if ours && path.is_dir() && !owner_lives(&path) {
            let things = clear(&path);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let run = name.strip_prefix(&prefix).unwrap_or(&name);
            let run = run.rsplit_once('-').map_or(run, |(run, _)| run);
            removed
                .push(format!("removed what run {run}, which was killed, left behind ({things})"));
        }
    }
    removed
}

/// `PID START`, the start time telling a reused process id apart.
fn owner_line(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; the start time is field 22.
    let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
    Some(format!("{pid} {start}"))
}

fn owner_lives(path: &Path) -> bool {
    let Ok(line) = fs::read_to_string(path.join(OWNER)) else {
        // No owner yet: perhaps just being made. Old enough, it is nobody's.
        let age = fs::metadata(path).and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        return age.is_some_and(|age| age.as_secs() < 10);
    };
    line.split_whitespace()
        .next()
        .and_then(|pid| pid.parse().ok())
        .is_some_and(|pid: u32| owner_line(pid).as_deref() == Some(line.trim()))
}

/// Removes a scratch directory and the queues it has notes of.
fn clear(path: &Path) -> String {
    let (mut names, mut queues) = (0, 0);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(id) = name.strip_prefix(SYSV).and_then(|id| id.parse().ok()) {
            sys::remove_sysv_queue(id);
            queues += 1;
        } else if let Some(queue) = name.strip_prefix(POSIX) {
            sys::remove_posix_queue(&format!("/{queue}"));
            queues += 1;
        } else if name != OWNER {
            names += 1;
        }
    }
    let _ = fs::remove_dir_all(path);
    format!("names: {names}, message queues: {queues}")
}
