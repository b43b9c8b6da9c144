//! Pipes with a name and without, two for each link, one per direction. The writer copies into a
//! page of the kernel, the reader copies out of it. A blocking round trip is write, read, read,
//! write: four system calls.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

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
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| sys::failure("a NUL in the run's directory"))?;
    // SAFETY: the name is NUL-terminated and outlives the calls; the flags are integers.
    unsafe {
        sys::check(libc::mkfifo(name.as_ptr(), 0o600))
            .map_err(|e| sys::context(e, &format!("making the FIFO {}", path.display())))?;
        let opened = open_both(&name);
        libc::unlink(name.as_ptr());
        opened.map_err(|e| sys::context(e, "opening a FIFO"))
    }
}

/// Opens the reading end without waiting for a writer (O_NONBLOCK allows that
/// for this end only), then the writing end, which finds its reader, and makes
/// the reading end a blocking one. Opened O_RDWR, an end would hold the other
/// side open too and never see end-of-file.
fn open_both(name: &CString) -> io::Result<[OwnedFd; 2]> {
    // SAFETY: the name is NUL-terminated; each new descriptor is owned at once.
    unsafe {
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let read = OwnedFd::from_raw_fd(sys::check(libc::open(name.as_ptr(), flags))?);
        let flags = libc::O_WRONLY | libc::O_CLOEXEC;
        let write = OwnedFd::from_raw_fd(sys::check(libc::open(name.as_ptr(), flags))?);
        sys::check(libc::fcntl(read.as_raw_fd(), libc::F_SETFL, 0))?;
        Ok([read, write])
    }
}
