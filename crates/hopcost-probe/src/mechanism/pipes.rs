//! Pipes with a name and without, two for each link, one per direction. The writer copies into a
//! page of the kernel, the reader copies out of it. A blocking round trip is write, read, read,
//! write: four system calls.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::shape::{Link, Opening};
use crate::sys;

/// `pipe`: without a name.
pub fn open(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link::of_two_ways(pipe()?, pipe()?))
}

/// A pipe: read end, write end, both close-on-exec.
pub fn pipe() -> io::Result<[OwnedFd; 2]> {
    let (read, write) = io::pipe()?;
    Ok([read.into(), write.into()])
}

/// `fifo`: with a name. Once open, a FIFO is a pipe: the same pages, the same code in the kernel.
/// What differs is how the ends meet, and that is over before the first stamp.
pub fn open_fifos(opening: &Opening<'_>) -> io::Result<Link> {
    let one_way = || fifo(&opening.fresh_path("fifo"));
    Ok(Link::of_two_ways(one_way()?, one_way()?))
}

/// A FIFO with both ends open and its name gone: read end, write end.
fn fifo(path: &Path) -> io::Result<[OwnedFd; 2]> {
    rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)
        .map_err(|e| sys::context(e.into(), &format!("making the FIFO {}", path.display())))?;
    let opened = open_both(path);
    let _ = std::fs::remove_file(path);
    opened.map_err(|e| sys::context(e, "opening a FIFO"))
}

/// Opens the reading end without waiting for a writer (O_NONBLOCK allows that
/// for this end only), then the writing end, which finds its reader, and makes
/// the reading end a blocking one. Opened O_RDWR, an end would hold the other
/// side open too and never see end-of-file.
fn open_both(path: &Path) -> io::Result<[OwnedFd; 2]> {
    let open = |flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let read = open(OFlags::RDONLY | OFlags::NONBLOCK)?;
    let write = open(OFlags::WRONLY)?;
    rustix::io::ioctl_fionbio(&read, false)?;
    Ok([read, write])
}
