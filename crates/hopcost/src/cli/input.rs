//! Files that a user names, read whole.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// O_NONBLOCK of Linux (asm-generic/fcntl.h).
const NONBLOCK: i32 = 0o4000;

/// The bytes of a regular file, `bytes_max` at most.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    // Non-blocking, because opening a FIFO would otherwise wait for a writer.
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    match file.metadata()? {
        found if found.is_dir() => Err(io::Error::other("it is a directory")),
        found if !found.is_file() => Err(io::Error::other("not a regular file")),
        _ => capped(file, bytes_max),
    }
}

/// All bytes of a stream, `bytes_max` at most.
pub fn capped(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let mib = bytes_max >> 20;
        return Err(io::Error::other(format!("larger than {mib} MiB, which no such file needs")));
    }
    Ok(bytes)
}
