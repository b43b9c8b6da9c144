//! What mechanisms have in common: what moves their messages once their ends have met.
//! Mechanisms over one transport differ in how their ends meet, and share its compiled loops.

pub mod beside;
pub mod counter;
pub mod packets;
pub mod page;
pub mod queue;
pub mod stream;
pub mod tcp;
pub mod tcp_socket;

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::Role;

use crate::sys;

/// Waits until a descriptor has room after a write in vain, which has written 0 bytes. A
/// spinning end's descriptor is non-blocking in both directions, so a message longer than
/// the buffer can find it full.
#[cold]
pub fn wait_writable(fd: &OwnedFd, error: io::Error) -> io::Result<usize> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(0),
        Some(libc::EAGAIN) => {
            sys::poll_one(fd, libc::POLLOUT)?;
            Ok(0)
        }
        _ => Err(error),
    }
}

/// The error of an end whose partner is gone.
#[cold]
pub fn peer_closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the other end closed the link")
}

/// Which of two things belongs to this end.
pub fn by_role<T>(role: Role, caller: T, callee: T) -> T {
    match role {
        Role::Caller => caller,
        Role::Callee => callee,
    }
}
