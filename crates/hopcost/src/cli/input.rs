//! Files that a user names, read whole.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use hopcost_probe::interrupt;

/// POLLIN of Linux (asm-generic/poll.h).
const POLLIN: i16 = 1;
/// O_NONBLOCK of Linux (asm-generic/fcntl.h).
const NONBLOCK: i32 = 0o4000;

/// The bytes of a regular file, or of a pipe that this process was given (`<(command)` of a shell is
/// /dev/fd/63), `bytes_max` at most. Another pipe may never have a writer.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    // Non-blocking, because opening a FIFO would otherwise wait for a writer.
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    match file.metadata()? {
        found if found.is_dir() => Err(io::Error::other("it is a directory")),
        found if found.is_file() => capped(file, bytes_max),
        found if is_given(&found, &file) => capped(Waiting(file), bytes_max),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// Whether an opened file is a pipe of which this process has had the reading end before, and no
/// writing end, which would keep it from ending.
fn is_given(found: &Metadata, opened: &File) -> bool {
    let own = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let before = own.filter(|fd| *fd.file_name() != *opened.as_raw_fd().to_string());
    let is_it = |file: Metadata| (file.dev(), file.ino()) == (found.dev(), found.ino());
    let ends = before.filter(|fd| fs::metadata(fd.path()).is_ok_and(is_it));
    // The permissions of these links are how the descriptor was opened (proc(5)).
    let modes: Vec<u32> = ends.filter_map(|fd| Some(fd.metadata().ok()?.mode() & 0o600)).collect();
    found.file_type().is_fifo() && !modes.is_empty() && modes.iter().all(|mode| *mode == 0o400)
}

/// A non-blocking pipe, read as one that blocks.
struct Waiting(File);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    interrupt::until_ready("input", &self.0, POLLIN, None)?;
                }
                done => return done,
            }
        }
    }
}

/// All bytes of a stream, `bytes_max` at most.
fn capped(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let mib = bytes_max >> 20;
        return Err(io::Error::other(format!("larger than {mib} MiB, which no such file needs")));
    }
    Ok(bytes)
}
