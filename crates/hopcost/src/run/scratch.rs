//! A run's scratch directory: where FIFOs, sockets and notes of System V queues
//! live while a trial needs them. A lock (flock(2)) that lasts as long as its
//! process says that it is in use; the next start removes what a killed run left.
//!
//! It lies in `hopcost-UID` in the temporary directory, a folder that nobody else may
//! write to, or beside it where a stranger has taken that name. Not in
//! XDG_RUNTIME_DIR, which goes with the user's last session while a run under
//! nohup(1) goes on.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hopcost_probe::folder::{Entry, Folder, others_may_rename_in};
use hopcost_probe::sys;

use crate::about;

/// A directory of this run, removed when dropped.
pub struct Scratch {
    path: PathBuf,
    folder: Folder,
    parent: Parent,
    /// Its lock ends with the process: a worker's copy of the descriptor is closed by execve(2).
    _owner: File,
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
/// The longest path of the user's folder that leaves room for a run's name in it and for a
/// socket's in there: a Unix socket's path has at most 107 bytes (unix(7)).
const PARENT_BYTES_MAX: usize = 56;

impl Scratch {
    /// Makes the directory of run `id`.
    pub fn create(id: &str) -> io::Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::attempt(id) {
                Err(error) if gone_or_taken(&error) && attempt < ATTEMPTS => attempt += 1,
                done => {
                    return done.map_err(|e| {
                        let path = temporary().display().to_string();
                        let shown: String = path.chars().take(200).collect();
                        let doing = format!("making a scratch directory in {shown} (see TMPDIR)");
                        sys::context(e, &doing)
                    });
                }
            }
        }
    }

    fn attempt(id: &str) -> io::Result<Self> {
        let parent = Parent::make()?;
        let name: OsString = format!("{}{id}-{:04x}", parent.prefix, about::random() as u16).into();
        parent.folder.make_folder(&name)?;
        let own = || {
            let folder = parent.folder.folder(&name)?;
            let owner = folder.make_file(OWNER.as_ref())?;
            // A file system without locks has nobody who could take it.
            if !lock(&owner).unwrap_or(true) {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok((folder, owner))
        };
        match own() {
            Ok((folder, owner)) => {
                Ok(Self { path: parent.path.join(&name), folder, parent, _owner: owner })
            }
            Err(error) => {
                let _ = parent.folder.remove(&name, Entry::Folder);
                parent.leave();
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
        let parents = [Parent::of_user(), Parent::of_all()];
        parents.into_iter().flatten().map(|parent| self.others_in(&parent)).sum()
    }

    fn others_in(&self, parent: &Parent) -> usize {
        let is_run = |name: &OsString| {
            let shown = name.to_string_lossy();
            let run = shown.strip_prefix(&parent.prefix);
            let is_none = |run: &str| run.starts_with(COPY) || run.starts_with(FAR);
            run.is_some_and(|run| !is_none(run)) && parent.path.join(name) != self.path
        };
        let in_use = |name: &OsString| {
            let owner = parent.folder.folder(name).and_then(|folder| folder.file(OWNER.as_ref()));
            owner.is_ok_and(|owner| matches!(owner.try_lock(), Err(TryLockError::WouldBlock)))
        };
        let names = parent.folder.names().unwrap_or_default();
        names.iter().filter(|name| is_run(name) && in_use(name)).count()
    }

    /// Removes the directory where the process ends before this is dropped.
    pub fn remover(&self) -> impl FnOnce() + Send + use<> {
        let path = self.path.clone();
        let of_user = self.parent.prefix.is_empty().then(|| self.parent.path.clone());
        move || {
            if let Ok(folder) = Folder::open(&path) {
                clear(&folder, &path);
            }
            for folder in [Some(path), of_user].into_iter().flatten() {
                let _ = fs::remove_dir(folder);
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
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
        if let Some(name) = self.path.file_name() {
            let _ = self.parent.folder.remove(name, Entry::Folder);
        }
        self.parent.leave();
    }
}

/// Where directories of runs lie.
struct Parent {
    path: PathBuf,
    folder: Folder,
    /// What their names begin with.
    prefix: String,
}

impl Parent {
    /// The user's folder, which need not be there.
    fn of_user() -> io::Result<Self> {
        let path = temporary().join(format!("hopcost-{}", sys::user_id()));
        Ok(Self { folder: Folder::open(&path)?, path, prefix: String::new() })
    }

    /// The temporary directory, where a stranger has taken the name of the user's folder.
    fn of_all() -> io::Result<Self> {
        let path = temporary();
        let prefix = format!("hopcost-{}.", sys::user_id());
        Ok(Self { folder: Folder::shared(&path)?, path, prefix })
    }

    fn make() -> io::Result<Self> {
        let path = temporary().join(format!("hopcost-{}", sys::user_id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::of_user().or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Err(error),
                _ => Self::of_all(),
            }),
        }
    }

    /// Removes the user's folder, unless another run is in it.
    fn leave(&self) {
        if self.prefix.is_empty() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// The system's temporary directory, or /tmp where that one's name is too long or where
/// others could put something else in the place of a folder.
fn temporary() -> PathBuf {
    let named = std::env::temp_dir();
    let longest = named.join(format!("hopcost-{}", sys::user_id()));
    let fits = longest.as_os_str().len() <= PARENT_BYTES_MAX;
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
pub fn sweep() -> Vec<String> {
    let mut removed = Vec::new();
    for parent in [Parent::of_user(), Parent::of_all()].into_iter().flatten() {
        for name in parent.folder.names().unwrap_or_default() {
            let shown = name.to_string_lossy();
            let Some(run) = shown.strip_prefix(&parent.prefix) else { continue };
            if let Some(things) = end(&parent, &name) {
                let run = run.rsplit_once('-').map_or(run, |(run, _)| run);
                removed.push(format!(
                    "removed what run {run}, which was killed, left behind ({things})"
                ));
            }
        }
    }
    removed
}

/// Removes a directory whose run is over, and says what was in it.
fn end(parent: &Parent, name: &OsStr) -> Option<String> {
    let folder = parent.folder.folder(name).ok()?;
    let Ok(owner) = folder.file(OWNER.as_ref()) else {
        // Being made, and then made again, or what a kill left of it: empty in any case.
        let _ = parent.folder.remove(name, Entry::Folder);
        return None;
    };
    if !lock(&owner).unwrap_or(false) {
        return None;
    }
    let things = clear(&folder, &parent.path.join(name));
    parent.folder.remove(name, Entry::Folder).ok().map(|()| things)
}

/// Empties a directory, its owner last, and removes the queues it has notes of.
fn clear(folder: &Folder, path: &Path) -> String {
    let (mut names, mut queues) = (0, 0);
    for name in folder.names().unwrap_or_default() {
        if name == OWNER {
            continue;
        }
        let queue = noted(folder, &name);
        match queue.is_some_and(|(key, noted_s)| sys::remove_sysv_queue(key, noted_s)) {
            true => queues += 1,
            false => names += 1,
        }
        if folder.remove(&name, Entry::File).is_err() {
            let _ = fs::remove_dir_all(path.join(&name));
        }
    }
    let _ = folder.remove(OWNER.as_ref(), Entry::File);
    format!("names: {names}, message queues: {queues}")
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
        fs::write(scratch.path().join("name"), "").unwrap();
        fs::create_dir_all(scratch.path().join("folder/inner")).unwrap();
        sweep();
        let path = scratch.path().to_owned();
        assert!(path.join("name").exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn other_runs_are_counted_as_long_as_they_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let parent = || Parent {
            path: folder.path().to_owned(),
            folder: Folder::open(folder.path()).unwrap(),
            prefix: String::new(),
        };
        let owned = |name: &str| {
            fs::create_dir(folder.path().join(name)).unwrap();
            let owner = File::create_new(folder.path().join(name).join(OWNER)).unwrap();
            owner.lock().unwrap();
            owner
        };
        let mut own = Scratch::create("test").unwrap();
        let made = std::mem::replace(&mut own.path, folder.path().join("own-1"));
        let _locks = [owned("own-1"), owned("copy-2")];
        fs::create_dir(folder.path().join("being-made")).unwrap();
        assert_eq!(own.others_in(&parent()), 0);
        let other = owned("other-3");
        assert_eq!(own.others_in(&parent()), 1);
        drop(other);
        assert_eq!(own.others_in(&parent()), 0, "killed");
        own.path = made;
    }

    #[test]
    fn many_are_made_while_others_are_swept() {
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .map(|maker| {
                    scope.spawn(move || {
                        for _ in 0..50 {
                            let scratch = Scratch::create(&format!("maker{maker}")).unwrap();
                            fs::write(scratch.path().join("name"), "").unwrap();
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
