//! Sockets of the Unix domain. A writer copies into a socket buffer that is queued at the
//! receiving socket; the reader copies out of it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::shape::{Link, Opening};
use crate::sys;

/// `socketpair` and `unix-sendmsg`: two connected stream sockets. No name, no handshake:
/// socketpair(2) gives both ends at once.
pub fn open_pair(_: &Opening<'_>) -> io::Result<Link> {
    let (caller, callee) = UnixStream::pair()?;
    Ok(Link::of_pair([OwnedFd::from(caller), OwnedFd::from(callee)]))
}

/// `unix-stream`: a stream socket that was connected by path.
///
/// The caller connects, the callee's end is accepted, and the path is removed
/// before anything is timed. From there on it is the same code in the kernel as
/// `socketpair`: any difference between the two is noise.
pub fn open_by_path(opening: &Opening<'_>) -> io::Result<Link> {
    let path = opening.fresh_path("stream");
    let listener = UnixListener::bind(&path)
        .map_err(|e| sys::context(e, &format!("binding a socket to {}", path.display())))?;
    // The connection is complete before it is accepted, so one thread can do both.
    let joined = UnixStream::connect(&path).and_then(|caller| Ok((caller, listener.accept()?.0)));
    let removed = std::fs::remove_file(&path);
    let (caller, callee) = joined?;
    removed?;
    Ok(Link::of_pair([OwnedFd::from(caller), OwnedFd::from(callee)]))
}

/// `unix-dgram`: two datagram sockets, each bound to a path and connected to the other.
///
/// One send is one datagram, received whole by one recv. Unlike UDP nothing is
/// lost or reordered: a full receive queue makes the sender wait. The paths are
/// removed as soon as the two are connected; a connection refers to the socket
/// and not to its path.
pub fn open_datagrams(opening: &Opening<'_>) -> io::Result<Link> {
    let (a, b) = (opening.fresh_path("dgram"), opening.fresh_path("dgram"));
    let pair = connected(&a, &b);
    for path in [&a, &b] {
        let _ = std::fs::remove_file(path);
    }
    pair.map(Link::of_pair)
        .map_err(|e| sys::context(e, &format!("connecting sockets at {}", a.display())))
}

/// Two sockets bound to these paths and connected to each other.
fn connected(a: &Path, b: &Path) -> io::Result<[OwnedFd; 2]> {
    let caller = UnixDatagram::bind(a)?;
    let callee = UnixDatagram::bind(b)?;
    caller.connect(b)?;
    callee.connect(a)?;
    Ok([OwnedFd::from(caller), OwnedFd::from(callee)])
}

/// `unix-seqpacket`: two connected sockets that keep message borders.
///
/// Like a stream socket such a one has a connection and an end-of-file, like a datagram
/// socket it delivers each message whole. socketpair(2) gives both ends at once.
pub fn open_seqpackets(_: &Opening<'_>) -> io::Result<Link> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let (caller, callee) = socketpair(family, kind, SocketFlags::CLOEXEC, None)?;
    Ok(Link::of_pair([caller, callee]))
}
