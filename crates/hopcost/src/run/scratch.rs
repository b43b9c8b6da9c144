//! A run's scratch directory: where FIFOs, sockets and notes of System V queues
//! live while a trial needs them. A lock (flock(2)) that lasts as long as its
//! process says that it is in use; the next start removes what a killed run left.
//!
//! It is `hopcost-UID.RUN-XXXX` in the temporary directory, and believed only where nobody else may
//! write to it. Not in XDG_RUNTIME_DIR, which goes with the user's last session while a run under
//! nohup(1) goes on.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hopcost_model::text::escaped;
use hopcost_probe::folder::{Folder, others_may_rename_in};
use hopcost_probe::interrupt;
use hopcost_probe::sys::{self, Doing};

use crate::about;

/// A directory of this run, removed when dropped.
pub struct Scratch {
    pub path: PathBuf,
    folder: Folder,
    /// Its lock ends with the process: a worker's copy of the descriptor is closed by execve(2).
    _owner: File,
    /// Directories of trials so far.
    trials: Cell<u32>,
}

/// The file whose lock says that the directory is in use.
const OWNER: &str = "owner";
/// A file `sysv-msg.KEY` says that the run makes the System V queue of KEY (hexadecimal), and holds since when.
const SYSV: &str = "sysv-msg.";
/// What stands for the run in the name of a directory that is none's: nothing is measured there.
const COPY: &str = "copy";
/// What stands for it in that of a far host, which mostly waits, and while it does not, its run knows of it.
pub const FAR: &str = "far";
/// Tries to make a directory that another start took away or was faster to make.
const ATTEMPTS: u32 = 20;
/// The longest path up to the prefix that leaves room for a run's name after it and for a
/// socket's in there: a Unix socket's path has at most 107 bytes (unix(7)).
const PREFIX_BYTES_MAX: usize = 56;

impl Scratch {
    /// Makes the directory of run `id`.
    pub fn create(id: &str) -> io::Result<Self> {
        let parent = temporary();
        let mut made = Self::attempt(&parent, id);
        for _ in 1..ATTEMPTS {
            if made.as_ref().is_err_and(gone_or_taken) {
                made = Self::attempt(&parent, id);
            }
        }
        let shown: String = parent.display().to_string().chars().take(200).collect();
        made.doing(format_args!("making a scratch directory in {shown} (see TMPDIR)"))
    }

    fn attempt(parent: &Path, id: &str) -> io::Result<Self> {
        let path = parent.join(format!("{}{id}-{:04x}", prefix(), about::random() as u16));
        make_folder(&path)?;
        let own = || {
            let folder = Folder::open(&path)?;
            let owner = folder.make_file(OWNER.as_ref())?;
            // A file system without locks has nobody who could take it.
            if !lock(&owner).unwrap_or(true) {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok((folder, owner))
        };
        match own() {
            Ok((folder, owner)) => Ok(Self { path, folder, _owner: owner, trials: Cell::new(0) }),
            Err(error) => {
                let _ = fs::remove_dir(&path);
                Err(error)
            }
        }
    }

    /// Makes the directory of a copy of a run file.
    pub fn for_copy() -> io::Result<Box<dyn AsRef<Path>>> {
        Ok(Box::new(Self::create(COPY)?))
    }

    /// How many other runs of this user are going on: those whose owner is locked.
    pub fn others(&self) -> usize {
        let is_other = |name: &OsString| {
            let shown = name.to_string_lossy();
            let run = shown.strip_prefix(&prefix());
            let is_none = |run: &str| run.starts_with(COPY) || run.starts_with(FAR);
            run.is_some_and(|run| !is_none(run)) && Some(&**name) != self.path.file_name()
        };
        let Some(parent) = self.path.parent() else { return 0 };
        let in_use = |name: &OsString| {
            let folder = Folder::open(&parent.join(name));
            let owner = folder.and_then(|folder| folder.file(OWNER.as_ref()));
            owner.is_ok_and(|owner| matches!(owner.try_lock(), Err(TryLockError::WouldBlock)))
        };
        names(parent).filter(|name| is_other(name) && in_use(name)).count()
    }

    /// Removes the directory where the process ends before this is dropped.
    pub fn remover(&self) -> impl FnOnce() + Send + use<> {
        let path = self.path.clone();
        move || {
            if let Ok(folder) = Folder::open(&path) {
                clear(&folder, &path);
            }
            let _ = fs::remove_dir(path);
        }
    }

    /// A directory in it for one trial of a worker that makes names itself.
    pub fn of_trial(&self) -> io::Result<TrialScratch> {
        let number = self.trials.get() + 1;
        self.trials.set(number);
        let name = format!("t{number}");
        make_folder(&self.path.join(&name))?;
        let shared = shared_prefix(self.path.file_name().unwrap_or_default());
        Ok(TrialScratch { path: self.path.join(&name), prefix: format!("{shared}{name}.") })
    }
}

/// What names in shared memory begin with, of any run.
pub const SHARED: &str = "hop-";

/// The same of one run: short, because a library puts it into the paths of sockets.
fn shared_prefix(folder: &OsStr) -> String {
    let folder = folder.to_string_lossy();
    format!("{SHARED}{}.", folder.rsplit('-').next().unwrap_or_default())
}

/// Where the names of one trial go, removed when dropped.
pub struct TrialScratch {
    pub path: PathBuf,
    /// What its names in shared memory begin with.
    pub prefix: String,
}

impl Drop for TrialScratch {
    fn drop(&mut self) {
        clear_shared_memory(&self.prefix);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes names in /dev/shm that begin so (shm_overview(7)); those of other users stay.
fn clear_shared_memory(prefix: &str) {
    for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
        }
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        clear(&self.folder, &self.path);
        let _ = fs::remove_dir(&self.path);
    }
}

/// What the names of this user's directories begin with.
fn prefix() -> String {
    format!("hopcost-{}.", sys::user_id())
}

/// The system's temporary directory, or /tmp where that one's name is too long or where
/// others could put something else in the place of a folder.
fn temporary() -> PathBuf {
    let named = std::env::temp_dir();
    let fits = named.join(prefix()).as_os_str().len() <= PREFIX_BYTES_MAX;
    match named.is_absolute() && fits && !named.ancestors().any(others_may_rename_in) {
        true => named,
        false => PathBuf::from("/tmp"),
    }
}

/// Another start removed what was just being made, or made it first.
fn gone_or_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}

/// Takes the lock of a directory's owner. Not where another process has it, and not where
/// that one has removed the file in the meantime.
fn lock(owner: &File) -> io::Result<bool> {
    match owner.try_lock() {
        Ok(()) => Ok(owner.metadata()?.nlink() > 0),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes what killed runs of this user left behind; says of each what it was.
pub fn sweep() {
    let path = temporary();
    for name in names(&path) {
        let shown = name.to_string_lossy();
        let Some(run) = shown.strip_prefix(&prefix()) else { continue };
        if let Some(things) = end(&path.join(&name)) {
            let run = escaped(run.rsplit_once('-').map_or(run, |(run, _)| run));
            let what = format!("what run {run}, which was killed, left behind ({things})");
            interrupt::say(&format!("hopcost: removed {what}\n"));
        }
    }
}

/// Removes a directory whose run is over, and says what was in it.
fn end(path: &Path) -> Option<String> {
    let folder = Folder::open(path).ok()?;
    let Ok(owner) = folder.file(OWNER.as_ref()) else {
        // Being made, and then made again, or what a kill left of it: empty in any case.
        let _ = fs::remove_dir(path);
        return None;
    };
    if !lock(&owner).unwrap_or(false) {
        return None;
    }
    let things = clear(&folder, path);
    clear_shared_memory(&shared_prefix(path.file_name()?));
    fs::remove_dir(path).ok().map(|()| things)
}

/// Makes a folder that was not there, for this user alone.
fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// What is in a folder.
fn names(path: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// Empties a directory, its owner last, and removes the queues it has notes of.
fn clear(folder: &Folder, path: &Path) -> String {
    let (mut others, mut queues) = (0, 0);
    for name in names(path) {
        if name == OWNER {
            continue;
        }
        let queue = noted(folder, &name);
        match queue.is_some_and(|(key, noted_s)| sys::remove_sysv_queue(key, noted_s)) {
            true => queues += 1,
            false => others += 1,
        }
        if folder.remove(&name).is_err() {
            let _ = fs::remove_dir_all(path.join(&name));
        }
    }
    let _ = folder.remove(OWNER.as_ref());
    format!("names: {others}, message queues: {queues}")
}

/// The key of the queue that a note names, and when that was noted.
fn noted(folder: &Folder, name: &OsStr) -> Option<(i32, i64)> {
    let key = u32::from_str_radix(name.to_str()?.strip_prefix(SYSV)?, 16).ok()?;
    let mut noted_s = String::new();
    folder.file(name).ok()?.take(32).read_to_string(&mut noted_s).ok()?;
    Some((key as i32, noted_s.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_is_not_swept_and_goes_when_dropped() {
        let scratch = Scratch::create("test").unwrap();
        fs::write(scratch.path.join("name"), "").unwrap();
        fs::create_dir_all(scratch.path.join("folder/inner")).unwrap();
        sweep();
        let path = scratch.path.clone();
        assert!(path.join("name").exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn other_runs_are_counted_as_long_as_they_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let owned = |name: &str| {
            let name = folder.path().join(format!("{}{name}", prefix()));
            fs::create_dir(&name).unwrap();
            let owner = File::create_new(name.join(OWNER)).unwrap();
            owner.lock().unwrap();
            owner
        };
        let own = Scratch::attempt(folder.path(), "own").unwrap();
        let _lock = owned("copy-2");
        assert_eq!(own.others(), 0);
        let other = owned("other-3");
        assert_eq!(own.others(), 1);
        drop(other);
        assert_eq!(own.others(), 0, "killed");
    }

    #[test]
    fn many_are_made_while_others_are_swept() {
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .map(|maker| {
                    scope.spawn(move || {
                        for _ in 0..50 {
                            let scratch = Scratch::create(&format!("maker{maker}")).unwrap();
                            fs::write(scratch.path.join("name"), "").unwrap();
                        }
                    })
                })
                .collect();
            while makers.iter().any(|maker| !maker.is_finished()) {
                sweep();
            }
        });
    }
}
