//! `posix-mq`: two POSIX message queues, one per direction.
//!
//! A queue of Linux is a file of the internal file system mqueue and its handle a
//! descriptor, so an end is two descriptors, opened apart from the other end's:
//! O_NONBLOCK belongs to each opening. A message is copied into memory of the
//! kernel and out of it; where a receiver is already asleep it is handed to it
//! directly and never enters the queue. The names are removed as soon as both
//! ends are open. A blocking round trip is send, receive, receive, send.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::sys::{self, Look};
use crate::wait::{Every, FdWait, Wait};

/// Messages a queue holds. A strict round trip uses one.
const PLACES: usize = 4;

const LIMITS: &str = "/proc/sys/fs/mqueue";
const OF: &str = "POSIX message queues";

/// Whether there are such queues here, or why not.
pub fn available() -> Result<(), String> {
    crate::clock::available()?;
    let messages = sys::limit(&format!("{LIMITS}/msg_max"), OF)?;
    if messages < PLACES {
        return Err(format!("{LIMITS}/msg_max is {messages}: it must be at least {PLACES}"));
    }
    Ok(())
}

pub struct PosixMq {
    incoming: OwnedFd,
    outgoing: OwnedFd,
    wait: FdWait,
    out: Buffer,
    input: Buffer,
}

/// One queue, opened apart for reading and for writing, its name already gone.
fn queue(name: &str, bytes: usize) -> io::Result<[OwnedFd; 2]> {
    let name = CString::new(name).map_err(|_| sys::failure("a NUL in a queue's name"))?;
    // SAFETY: the name is NUL-terminated and the attributes outlive the calls; a queue's
    // handle is a descriptor on Linux (mq_overview(7)), and each new one is owned at once.
    unsafe {
        let mut attributes: libc::mq_attr = std::mem::zeroed();
        attributes.mq_maxmsg = PLACES as i64;
        attributes.mq_msgsize = bytes.max(1) as i64;
        let flags = libc::O_RDONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let mode: libc::mode_t = 0o600;
        let read = sys::check(libc::mq_open(name.as_ptr(), flags, mode, &mut attributes))?;
        let read = OwnedFd::from_raw_fd(read);
        let write = sys::check(libc::mq_open(name.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC));
        libc::mq_unlink(name.as_ptr());
        Ok([read, OwnedFd::from_raw_fd(write?)])
    }
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let bytes = opening.payload();
    sys::ensure_within(&format!("{LIMITS}/msgsize_max"), OF, bytes)?;
    // A path that is unused in the run's directory makes the name, so that one left by a kill in
    // mid-open tells which run it came from.
    let open = || {
        let name = opening.fresh_path("hopcost").to_string_lossy().replace('/', "-");
        let name = format!("/{name}");
        queue(&name, bytes).map_err(|error| {
            // Also what the kernel says where the bytes of this user's queues are used up.
            let full = error.raw_os_error() == Some(libc::EMFILE);
            let see = if full { " (see ulimit -q and -n)" } else { "" };
            sys::context(error, format_args!("opening the queue {name}{see}"))
        })
    };
    Ok(Link::of_two_ways(open()?, open()?))
}

impl End for PosixMq {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.take_fds()?;
        let wait = attaching.fd_wait(&incoming, |_| Look::AsOpened)?;
        let payload = attaching.payload();
        // Filled with ones, because pages of zeros are not touched until written. The
        // kernel refuses a buffer that is smaller than the queue's longest message.
        Ok(Self {
            incoming,
            outgoing,
            wait,
            out: Buffer::new(payload),
            input: Buffer::new(payload.max(1)),
        })
    }
}

impl Channel for PosixMq {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }

    /// Sleeps where the queue is full, whatever the wait: the outgoing opening stays
    /// a blocking one, and a strict round trip never fills it.
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        let (fd, message) = (self.outgoing.as_raw_fd(), &self.out);
        let sent = sys::uninterrupted(|| {
            // SAFETY: the buffer is valid for its length.
            sys::check(unsafe { libc::mq_send(fd, message.as_ptr().cast(), message.len(), 0) })
        });
        sent.map(drop)
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        let (fd, input) = (&self.incoming, &mut self.input);
        let len = self.wait.receive(W::KIND, fd, |_| {
            // SAFETY: the buffer is valid for its length; no priority is asked for.
            let result = unsafe {
                libc::mq_receive(
                    fd.as_raw_fd(),
                    input.as_mut_ptr().cast(),
                    input.len(),
                    std::ptr::null_mut(),
                )
            };
            sys::check(result).map(|n| n as usize)
        })?;
        // SAFETY: the kernel has written so many bytes there.
        Ok(unsafe { self.input.first(len) })
    }
}
