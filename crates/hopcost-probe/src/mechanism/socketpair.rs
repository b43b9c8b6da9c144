//! `socketpair`: one pair of connected Unix stream sockets.
//!
//! The writer copies into a socket buffer that is queued at the receiving
//! socket; the reader copies out of it. No name, no handshake: socketpair(2)
//! gives both ends at once. A blocking round trip is write, read, read, write.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::transport::{Stream, UNIX_STREAM_WAITS, halves};
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<SocketPair>(Facts {
    name: "socketpair",
    family: "unix socket",
    about: "a pair of connected Unix stream sockets without a name",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: UNIX_STREAM_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 1 << 20, default: 64 },
    parameters: &[],
    crosses: "the message's bytes, in socket buffers queued at the receiving socket",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver",
    wakes: "the kernel wakes the sleeping reader from within write(2)",
    between_stamps: "write, sleep in read, be woken, read returns; on the other side read returns, write, read",
    limits: "1 byte to 1 MiB; a message longer than the send buffer (net.core.wmem_default) is written and read in parts",
    sources: &["socketpair(2)", "unix(7)", "read(2)", "write(2)"],
    hidden: false,
    available: always_available,
});

/// One end.
pub struct SocketPair(Stream);

impl Channel for SocketPair {
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let (caller, callee) = UnixStream::pair()?;
        Ok(halves([OwnedFd::from(caller), OwnedFd::from(callee)]))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Stream::over_socket(half, attaching).map(SocketPair)
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        Ok(self.0.slot(len))
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        self.0.send(len)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.0.recv::<W>()
    }
}
