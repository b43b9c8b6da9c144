//! What mechanisms on descriptors share: a message over a byte stream, and a
//! message over packets. Each of them is one or two system calls a message;
//! the rest is the wait.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::case::{Role, WaitKind};
use hopcost_model::mechanism::{PerOperation, WaitFacts};

use crate::memory::Buffer;
use crate::shape::{Attaching, Half};
use crate::sys;
use crate::wait::{FdWait, Wait};

/// A message of fixed length over byte streams: `write` until all is written,
/// `read` until all is there. `outgoing` and `incoming` are one and the same
/// socket, or the two pipes of the two directions.
pub struct Stream {
    incoming: OwnedFd,
    outgoing: Option<OwnedFd>,
    wait: FdWait,
    payload: usize,
    out: Buffer,
    input: Buffer,
}

impl Stream {
    /// Over one bidirectional descriptor.
    pub fn over_socket(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        Self::new(fd, None, attaching)
    }

    /// Over two descriptors: incoming, outgoing.
    pub fn over_pair(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.take_fds()?;
        Self::new(incoming, Some(outgoing), attaching)
    }

    fn new(
        incoming: OwnedFd,
        outgoing: Option<OwnedFd>,
        attaching: &Attaching<'_>,
    ) -> io::Result<Self> {
        let payload = attaching.payload();
        let wait = FdWait::prepare_kind(attaching.wait(), &incoming, attaching.budget_ticks)?;
        Ok(Self {
            incoming,
            outgoing,
            wait,
            payload,
            out: Buffer::new(payload),
            input: Buffer::new(payload),
        })
    }

    /// Where the next message is written.
    #[inline(always)]
    pub fn slot(&mut self, len: usize) -> &mut [u8] {
        &mut self.out[..len]
    }

    /// Writes the message.
    #[inline(always)]
    pub fn send(&mut self, len: usize) -> io::Result<()> {
        let fd = self.outgoing.as_ref().unwrap_or(&self.incoming);
        let mut done = 0;
        while done < len {
            done += write_some(fd, &self.out[done..len])?;
        }
        Ok(())
    }

    /// Reads the next message.
    #[inline(always)]
    pub fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let mut done = 0;
        while done < self.payload {
            let (fd, rest) = (&self.incoming, &mut self.input[done..]);
            done += self.wait.receive::<W>(fd, || read_some(fd, rest))?;
        }
        Ok(&self.input)
    }
}

#[inline(always)]
fn read_some(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    match sys::check(result)? {
        0 => Err(peer_closed()),
        n => Ok(n as usize),
    }
}

#[inline(always)]
fn write_some(fd: &OwnedFd, buffer: &[u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::write(fd.as_raw_fd(), buffer.as_ptr().cast(), buffer.len()) };
    match sys::check(result) {
        Ok(n) => Ok(n as usize),
        Err(error) => wait_writable(fd, error),
    }
}

/// A spinning end's descriptor is non-blocking in both directions, so a message
/// longer than the buffer can find it full.
#[cold]
fn wait_writable(fd: &OwnedFd, error: io::Error) -> io::Result<usize> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(0),
        Some(libc::EAGAIN) => {
            let mut polled = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
            // SAFETY: one entry is passed as one entry.
            unsafe { libc::poll(&mut polled, 1, -1) };
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

/// A message as one packet on a connected socket: `send` and `recv`, never split.
pub struct Packets {
    fd: OwnedFd,
    wait: FdWait,
    out: Buffer,
    input: Buffer,
}

impl Packets {
    /// Over one connected socket.
    pub fn over_socket(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let wait = FdWait::prepare_kind(attaching.wait(), &fd, attaching.budget_ticks)?;
        let payload = attaching.payload();
        // One byte more than a message, so that a longer one is seen as such.
        Ok(Self { fd, wait, out: Buffer::new(payload), input: Buffer::new(payload + 1) })
    }

    /// Where the next message is written.
    #[inline(always)]
    pub fn slot(&mut self, len: usize) -> &mut [u8] {
        &mut self.out[..len]
    }

    /// Sends the message as one packet.
    #[inline(always)]
    pub fn send(&mut self, len: usize) -> io::Result<()> {
        loop {
            // SAFETY: the buffer is valid for its length. Without MSG_NOSIGNAL a
            // dead partner would end this process silently.
            let result = unsafe {
                libc::send(self.fd.as_raw_fd(), self.out.as_ptr().cast(), len, libc::MSG_NOSIGNAL)
            };
            match sys::check(result) {
                Ok(n) if n as usize == len => return Ok(()),
                Ok(n) => return Err(sys::failure(format!("only {n} of {len} bytes were sent"))),
                Err(error) => wait_writable(&self.fd, error).map(drop)?,
            }
        }
    }

    /// Receives the next packet.
    #[inline(always)]
    pub fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.recv_unless::<W>(|| false)
    }

    /// Receives the next packet, or fails with [`io::ErrorKind::TimedOut`] as soon as
    /// there is none and `given_up` says so. It is asked after every look in vain,
    /// and after a signal.
    #[inline(always)]
    pub fn recv_unless<W: Wait>(&mut self, given_up: impl Fn() -> bool) -> io::Result<&[u8]> {
        let (fd, input) = (&self.fd, &mut self.input);
        let len = self.wait.receive::<W>(fd, || {
            // SAFETY: the buffer is valid for its length.
            let result = sys::check(unsafe {
                libc::recv(fd.as_raw_fd(), input.as_mut_ptr().cast(), input.len(), 0)
            });
            match result {
                Ok(n) => Ok(n as usize),
                Err(error) if nothing_there(&error) && given_up() => {
                    Err(io::ErrorKind::TimedOut.into())
                }
                Err(error) => Err(error),
            }
        })?;
        Ok(&self.input[..len])
    }
}

#[inline(always)]
fn nothing_there(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR))
}

/// Splits a connected pair into the halves of the caller and the callee.
pub fn halves(pair: [OwnedFd; 2]) -> crate::shape::Link {
    let [caller, callee] = pair;
    crate::shape::Link { caller: Half::of_fds([caller]), callee: Half::of_fds([callee]) }
}

/// Splits two one-way streams (reading end, writing end; the request's and the
/// reply's) into the halves that [`Stream::over_pair`] takes: each end gets only
/// what it uses, so that end-of-file comes when the other is gone.
pub fn two_ways(request: [OwnedFd; 2], reply: [OwnedFd; 2]) -> crate::shape::Link {
    let [request_read, request_write] = request;
    let [reply_read, reply_write] = reply;
    crate::shape::Link {
        caller: Half::of_fds([reply_read, request_write]),
        callee: Half::of_fds([request_read, reply_write]),
    }
}

/// Which of two things belongs to this end.
pub fn by_role<T>(role: Role, caller: T, callee: T) -> T {
    match role {
        Role::Caller => caller,
        Role::Callee => callee,
    }
}

const EVERY_TRY: &str = "every look in vain is a system call too";
const SLEEPS: PerOperation = PerOperation::Between(
    1.8,
    2.2,
    "each end sleeps once a round trip, give or take a message that is there before it looks",
);
const SLEEPS_OR_NOT: PerOperation =
    PerOperation::Between(0.0, 2.2, "an end that finds its message already there does not sleep");
const NOBODY_SLEEPS: PerOperation = PerOperation::Between(0.0, 0.1, "nobody sleeps");
const SLICES: PerOperation = PerOperation::Between(0.0, 2.2, "only the scheduler's time slices");

/// The waits of a descriptor mechanism that makes one call to send and one to
/// receive: four system calls a round trip when both ends block.
pub const FD_WAITS: &[WaitFacts] = &fd_waits(SLEEPS, SLEEPS_OR_NOT);

/// The waits of a stream of the Unix domain. There, reading a message gives its
/// sender room again, and the kernel says so by waking whoever sleeps on the
/// sender's socket: the sender itself, waiting for the answer. It looks, finds
/// nothing and sleeps again. (Datagram sockets filter such wake-ups by what the
/// sleeper waits for: receiver_wake_function in net/core/datagram.c.)
pub const UNIX_STREAM_WAITS: &[WaitFacts] = &fd_waits(
    PerOperation::Between(1.8, 4.2, WOKEN_FOR_NOTHING),
    PerOperation::Between(0.0, 4.2, WOKEN_FOR_NOTHING),
);

const WOKEN_FOR_NOTHING: &str = "each end sleeps once a round trip, and may be woken once more for \
                                 nothing, when its partner's reading gives it room to write";

const fn fd_waits(one_cpu: PerOperation, two_cpus: PerOperation) -> [WaitFacts; 5] {
    [
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Exactly(4.0),
            switches_one_cpu: one_cpu,
            switches_two_cpus: two_cpus,
        },
        WaitFacts {
            wait: WaitKind::Spin,
            system_calls: PerOperation::Between(4.0, f64::INFINITY, EVERY_TRY),
            switches_one_cpu: SLICES,
            switches_two_cpus: NOBODY_SLEEPS,
        },
        WaitFacts {
            wait: WaitKind::Yield,
            system_calls: PerOperation::Between(4.0, f64::INFINITY, EVERY_TRY),
            switches_one_cpu: PerOperation::Between(
                1.0,
                4.2,
                "each yield hands the CPU to the other end",
            ),
            switches_two_cpus: PerOperation::Between(0.0, 0.5, "there is nobody else to yield to"),
        },
        WaitFacts {
            wait: WaitKind::SpinThenBlock,
            system_calls: PerOperation::Between(4.0, f64::INFINITY, EVERY_TRY),
            switches_one_cpu: two_cpus,
            switches_two_cpus: two_cpus,
        },
        WaitFacts {
            wait: WaitKind::Epoll,
            system_calls: PerOperation::Between(
                6.0,
                8.0,
                "epoll_wait before each receive; once more where it returns for a message already read",
            ),
            switches_one_cpu: one_cpu,
            switches_two_cpus: two_cpus,
        },
    ]
}
