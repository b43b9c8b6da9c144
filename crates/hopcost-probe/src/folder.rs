//! A folder that is this user's alone, and what lies in it. It is opened once, without
//! following links, and believed for what fstat(2) says of the opened descriptor; from
//! then on everything in it is reached through that descriptor, so that nobody can put
//! something else in its place between the check and the use.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};

use crate::sys::{self, ensure};

/// An opened folder.
pub struct Folder(File);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// Opening a FIFO would wait for its other end without O_NONBLOCK.
const FILE: OFlags = OFlags::RDWR.union(OFlags::NONBLOCK);
const NEW_FILE: OFlags = FILE.union(OFlags::CREATE).union(OFlags::EXCL);

impl Folder {
    /// Opens a folder of this user's that nobody else may write to.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = open_at(CWD, path.as_os_str(), FOLDER)?;
        ours(&folder.metadata()?)?;
        Ok(Self(folder))
    }

    /// Opens a regular file in this folder, of this user's and not to be written to by others.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        let file = open_at(&self.0, name, FILE)?;
        let metadata = file.metadata()?;
        ours(&metadata)?;
        ensure!(metadata.is_file(), "it is no regular file");
        Ok(file)
    }

    /// Makes a file that was not there.
    pub fn make_file(&self, name: &OsStr) -> io::Result<File> {
        open_at(&self.0, name, NEW_FILE)
    }

    /// Puts a file of these bytes, for this user alone, in the place of whatever has the name:
    /// all of it or, where that fails, nothing.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut beside = name.to_owned();
        beside.push(format!(".{}", std::process::id()));
        // Of a process of this number that was killed.
        let _ = self.remove(&beside);
        let written = self.make_file(&beside).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            Ok(renameat(&self.0, &beside, &self.0, name)?)
        });
        if written.is_err() {
            let _ = self.remove(&beside);
        }
        written
    }

    /// Removes anything but a folder (unlink(2)).
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

/// Whether others may put something else in the place of what lies in a folder: it belongs
/// to someone else than this user or root, or all may write to it and it is not sticky.
pub fn others_may_rename_in(path: &Path) -> bool {
    path.metadata().is_ok_and(|folder| {
        let strangers = folder.uid() != sys::user_id() && folder.uid() != 0;
        strangers || (folder.mode() & 0o022 != 0 && folder.mode() & 0o1000 == 0)
    })
}

fn ours(metadata: &Metadata) -> io::Result<()> {
    ensure!(metadata.uid() == sys::user_id(), "it belongs to user {}", metadata.uid());
    ensure!(metadata.mode() & 0o022 == 0, "others may write to it");
    Ok(())
}

fn open_at(folder: impl AsFd, name: &OsStr, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A folder, and in it another one and a file as they ought to be.
    fn fixture() -> (tempfile::TempDir, Folder) {
        let home = tempfile::tempdir().unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        let folder = Folder::open(home.path()).unwrap();
        fs::create_dir(home.path().join("inner")).unwrap();
        folder.make_file("file".as_ref()).unwrap();
        (home, folder)
    }

    #[test]
    fn a_file_is_replaced_whole_and_by_nothing_that_it_links_to() {
        let (home, folder) = fixture();
        symlink("file", home.path().join("link")).unwrap();
        for (name, text) in [("new", "first"), ("new", "second"), ("link", "third")] {
            folder.replace(name.as_ref(), text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(home.path().join(name)).unwrap(), text);
            let mode = home.path().join(name).symlink_metadata().unwrap();
            assert_eq!((mode.mode() & 0o777, mode.is_file()), (0o600, true));
        }
        assert_eq!(fs::read_to_string(home.path().join("file")).unwrap(), "");
        assert!(folder.replace("inner".as_ref(), b"x").is_err(), "a folder");
        let entries = fs::read_dir(home.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["file", "inner", "link", "new"], "nothing else is left");
    }

    #[test]
    fn links_fifos_and_what_others_may_write_to_are_refused_at_once() {
        let (home, folder) = fixture();
        symlink("inner", home.path().join("link")).unwrap();
        symlink("file", home.path().join("file-link")).unwrap();
        rustix::fs::mkfifoat(CWD, home.path().join("fifo"), Mode::RWXU).unwrap();
        for name in ["link", "fifo", "file"] {
            assert!(Folder::open(&home.path().join(name)).is_err(), "{name} as a folder");
        }
        for name in ["file-link", "fifo", "inner"] {
            assert!(folder.file(name.as_ref()).is_err(), "{name} as a file");
        }
        for mode in [0o720, 0o702] {
            for name in ["inner", "file"] {
                let mode = Permissions::from_mode(mode);
                fs::set_permissions(home.path().join(name), mode).unwrap();
            }
            assert!(Folder::open(&home.path().join("inner")).is_err(), "{mode:o}");
            assert!(folder.file("file".as_ref()).is_err(), "{mode:o}");
        }
    }

    #[test]
    fn what_belongs_to_someone_else_is_refused() {
        // To a plain user / is a stranger's; root has to give something away.
        let (home, folder) = fixture();
        if sys::user_id() != 0 {
            assert!(Folder::open(Path::new("/")).is_err());
            return;
        }
        for name in ["inner", "file"] {
            std::os::unix::fs::chown(home.path().join(name), Some(65534), None).unwrap();
            assert!(Folder::open(&home.path().join(name)).is_err(), "{name}");
            assert!(folder.file(name.as_ref()).is_err(), "{name}");
        }
        assert!(others_may_rename_in(&home.path().join("inner")));
    }

    #[test]
    fn others_rename_where_all_may_write_unless_it_is_sticky() {
        let home = tempfile::tempdir().unwrap();
        for (mode, theirs) in [(0o700, false), (0o755, false), (0o777, true), (0o1777, false)] {
            fs::set_permissions(home.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(others_may_rename_in(home.path()), theirs, "{mode:o}");
        }
    }
}
