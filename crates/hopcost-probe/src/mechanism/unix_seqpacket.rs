//! `unix-seqpacket`: a pair of connected Unix sockets that keep message borders.
//!
//! Like a stream socket it has a connection and an end-of-file, like a datagram
//! socket it delivers each message whole. socketpair(2) gives both ends at once.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::{FD_WAITS, Packets, halves, peer_closed};
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<UnixSeqpacket>(Facts {
    name: "unix-seqpacket",
    family: "unix socket",
    about: "a pair of connected Unix sequenced-packet sockets",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Process, Boundary::Thread],
    waits: FD_WAITS,
    call_system_calls: None,
    payload: Payload::Bytes { min: 1, max: 1 << 17, default: 64 },
    parameters: &[],
    crosses: "one packet a message, in a socket buffer queued at the receiving socket",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver",
    wakes: "the kernel wakes the sleeping receiver from within send(2)",
    between_stamps: "send, sleep in recv, be woken, recv returns; on the other side recv returns, send, recv",
    limits: "1 byte (an empty packet cannot be told from end-of-file) to 128 KiB, which fits the default send buffer",
    sources: &["unix(7)", "socketpair(2)", "send(2)", "recv(2)"],
    hidden: false,
    available: always_available,
});

/// One end.
pub struct UnixSeqpacket(Packets);

impl Channel for UnixSeqpacket {
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors, owned from here on.
        let pair = unsafe {
            let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
            sys::check(libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()))?;
            fds.map(|fd| OwnedFd::from_raw_fd(fd))
        };
        Ok(halves(pair))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Packets::over_socket(half, attaching).map(UnixSeqpacket)
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
        let message = self.0.recv::<W>()?;
        if message.is_empty() { Err(peer_closed()) } else { Ok(message) }
    }
}
