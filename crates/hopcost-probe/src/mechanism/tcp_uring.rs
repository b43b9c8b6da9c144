//! Messages over TCP by io_uring, with the kernel's copy and without.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::{Case, ZeroCopySends};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue, types::Fd};

use super::tcp_zerocopy;
use crate::shape::Attaching;
use crate::stream::FIELDS_MAX;
use crate::stream::fields::{self, Fields, InTurn};
use crate::stream::sockets::{Outlet, message_of};
use crate::sys::{self, Doing, ensure};
use crate::transport::{peer_closed, tcp, tcp_socket};

/// Whether there is such a request here, or why not.
pub fn available() -> Result<(), String> {
    has(opcode::SendMsg::CODE, "IORING_OP_SENDMSG")
}

/// In a notification's result: the kernel copied (linux/io_uring.h).
const NOTIF_USAGE_ZC_COPIED: u32 = 1 << 31;
/// Asks for that.
const SEND_ZC_REPORT_USAGE: u16 = 1 << 3;
/// Buffers that a ring takes (IORING_MAX_REG_BUFFERS).
const REGISTERED_MAX: usize = 16 * FIELDS_MAX;

/// Whether there is such a request here, or why not.
pub fn zc_available() -> Result<(), String> {
    has(opcode::SendMsgZc::CODE, "IORING_OP_SENDMSG_ZC")
}

/// Whether a case can be had here, or why not.
pub fn zc_available_as(case: &Case) -> Result<(), String> {
    tcp_socket::takes(case)?;
    match case.parameter("sends") {
        Some("field") => has(opcode::SendZc::CODE, "IORING_OP_SEND_ZC"),
        _ => Ok(()),
    }
}

/// Whether an io_uring can be had here that knows this operation, or why not.
fn has(code: u8, name: &str) -> Result<(), String> {
    tcp::loopback_available()?;
    let ring = open_ring(2, 2).map_err(|error| error.to_string())?;
    let mut probe = Probe::new();
    ring.submitter()
        .register_probe(&mut probe)
        .map_err(|error| format!("asking io_uring for its operations: {error}"))?;
    match probe.is_supported(code) {
        true => Ok(()),
        false => Err(format!("this kernel's io_uring has no {name}")),
    }
}

/// A ring for this number of submissions at a time and of completions outstanding, on the
/// thread that will use it. Requests are completed only in the call that waits for them.
fn open_ring(submissions: usize, completions: usize) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_cqsize(completions.next_power_of_two() as u32)
        .build(submissions.next_power_of_two() as u32)
        .map_err(refused)
}

/// Why there is no ring.
fn refused(error: io::Error) -> io::Error {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    match disabled.as_deref().map(str::trim) {
        Ok(value @ ("1" | "2")) => sys::failure(format!(
            "io_uring_setup(2): {error} (kernel.io_uring_disabled is {value})"
        )),
        _ if error.raw_os_error() == Some(libc::EINVAL) => {
            sys::context(error, "io_uring_setup(2) (DEFER_TASKRUN needs Linux 6.1)")
        }
        _ => sys::refused(error, "io_uring_setup(2)"),
    }
}

/// What the ring is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// One send of the message, which the kernel copies.
    Copied,
    /// One of the message in the sender's memory.
    Referred,
    /// One for each field, likewise.
    ByField,
}

/// `tcp-uring`: a message over TCP with one io_uring submission of IORING_OP_SENDMSG that names all
/// its fields, and `tcp-uring-zc`: the same of IORING_OP_SENDMSG_ZC, as `tcp-zerocopy` has one
/// sendmsg(2) with MSG_ZEROCOPY.
///
/// The sender puts an entry into the submission queue and makes one io_uring_enter, which submits
/// it and waits for its completion. A message at a time is not what io_uring is for: it saves calls
/// where there are many operations to submit. Here it shows what the way through the ring costs
/// beside the plain call. The receiver and the acknowledgements are the same plain calls as
/// everywhere.
///
/// With `sends=field` it is one IORING_OP_SEND_ZC for each field, from buffers that
/// are registered with the ring once, so that no send has to pin their pages. All
/// are submitted with one io_uring_enter, each linked to the one before, so that
/// they are sent in order; all but the last carry MSG_MORE.
///
/// Every send without a copy completes twice: when it is queued, and when the kernel is done with
/// the memory. The second says whether it copied after all. Until then the fields
/// may not be written, so the sender has sixteen sets of them and takes them in
/// turn. Over loopback the kernel always copies.
pub struct Submission {
    ring: IoUring,
    sends: Sends,
    /// Bytes of one send.
    bytes: usize,
    /// Sends of each set of which no notification has come.
    pending: Vec<usize>,
    seen: ZeroCopySends,
}

impl Submission {
    /// Takes what completions there are; gives how many sends were queued.
    #[inline(always)]
    fn take_completions(&mut self) -> io::Result<usize> {
        let mut queued = 0;
        while let Some(completion) = self.ring.completion().next() {
            if cqueue::notif(completion.flags()) {
                if let Some(pending) = self.pending.get_mut(completion.user_data() as usize) {
                    *pending -= 1;
                }
                self.seen.completed += 1;
                self.seen.copied +=
                    u64::from(completion.result() as u32 & NOTIF_USAGE_ZC_COPIED != 0);
                continue;
            }
            let sent = match completion.result() {
                bytes @ 0.. => bytes as usize,
                error => return Err(failed(-error)),
            };
            let goes_on = cqueue::more(completion.flags());
            let is_whole = sent == self.bytes && goes_on != (self.sends == Sends::Copied);
            ensure!(is_whole, "io_uring sent {sent} of {} bytes", self.bytes);
            queued += 1;
        }
        Ok(queued)
    }

    /// Takes completions, as they come, until none of a set's is to come.
    #[inline(always)]
    fn wait_for(&mut self, set: usize) -> io::Result<()> {
        let is_pending = |of: &Self| of.pending.get(set).is_some_and(|sends| *sends > 0);
        while is_pending(self) {
            self.take_completions()?;
            if is_pending(self) {
                self.enter(1)?;
            }
        }
        Ok(())
    }

    /// Submits what is queued, and waits until this number of completions is there or a signal comes.
    #[inline(always)]
    fn enter(&self, completions: usize) -> io::Result<()> {
        match self.ring.submitter().submit_and_wait(completions) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                Err(sys::context(error, "io_uring_enter"))
            }
            _ => Ok(()),
        }
    }

    /// Queues a send for each field of a set, in their order, and says how many that were.
    #[inline(always)]
    fn queue_fields(&mut self, socket: Fd, set: usize, fields: &Fields) -> io::Result<usize> {
        let count = fields.vectors().len();
        for (at, field) in fields.vectors().iter().enumerate() {
            let (more, link) = match at + 1 == count {
                true => (0, squeue::Flags::empty()),
                false => (libc::MSG_MORE, squeue::Flags::IO_LINK),
            };
            let bytes = field.iov_len as u32;
            let entry = opcode::SendZc::new(socket, field.iov_base.cast(), bytes)
                .buf_index(Some((set * count + at) as u16))
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | more)
                .zc_flags(SEND_ZC_REPORT_USAGE)
                .build()
                .flags(link)
                .user_data(set as u64);
            // SAFETY: the field is not written or freed before its notification.
            unsafe { push(&mut self.ring, &entry) }?;
        }
        Ok(count)
    }
}

/// Queues an entry.
///
/// # Safety
/// What it names lives until it is completed.
#[inline(always)]
unsafe fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    // SAFETY: as the caller promises.
    unsafe { ring.submission().push(entry) }
        .map_err(|_| sys::failure("the submission queue is full"))
}

#[cold]
fn failed(error: i32) -> io::Error {
    match error {
        libc::EPIPE | libc::ECONNRESET => peer_closed(),
        libc::ENOMEM => sys::failure(
            "a request of io_uring found no memory: the pages that a send without a copy pins are \
             limited (see ulimit -l)",
        ),
        _ => io::Error::from_raw_os_error(error),
    }
}

impl Outlet for Submission {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        let sends = match attaching.case.mechanism_name() {
            "tcp-uring" => Sends::Copied,
            _ if attaching.parameter("sends") == "field" => Sends::ByField,
            _ => Sends::Referred,
        };
        let (most, fields) = (tcp_zerocopy::sets(attaching), fields::count(attaching));
        let (count, sets) = match sends {
            Sends::Copied => (1, 1),
            Sends::Referred => (1, most),
            Sends::ByField => (fields, most.min(REGISTERED_MAX / fields)),
        };
        // Two completions for each send, of all sets.
        let ring = open_ring(count, 2 * count * sets)?;
        let (pending, sets) = (vec![0; sets], Fields::sets(sets, attaching));
        if sends == Sends::ByField {
            let vectors = sets.all().iter().flat_map(Fields::vectors).copied();
            let vectors: Vec<libc::iovec> = vectors.collect();
            // SAFETY: the fields live as long as the ring and are never moved or resized.
            unsafe { ring.submitter().register_buffers(&vectors) }.doing(format_args!(
                "registering {} bytes of fields (RLIMIT_MEMLOCK may be too small)",
                pending.len() * attaching.payload()
            ))?;
        }
        let (bytes, seen) = (attaching.payload() / count, ZeroCopySends::default());
        Ok((Self { ring, sends, bytes, pending, seen }, sets))
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd, set: usize) -> io::Result<()> {
        self.wait_for(set)
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, set: usize, fields: &Fields) -> io::Result<()> {
        let socket = Fd(socket.as_raw_fd());
        let message = message_of(fields.vectors());
        // MSG_WAITALL: a part that the socket has no room for is sent by the kernel when there is,
        // and the completion is of the whole.
        let flags = (libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32;
        let message = &raw const message;
        let entry = match self.sends {
            Sends::ByField => None,
            Sends::Copied => Some(opcode::SendMsg::new(socket, message).flags(flags).build()),
            Sends::Referred => Some(
                opcode::SendMsgZc::new(socket, message)
                    .flags(flags)
                    .ioprio(SEND_ZC_REPORT_USAGE)
                    .build()
                    .user_data(set as u64),
            ),
        };
        let count = match &entry {
            None => self.queue_fields(socket, set, fields)?,
            Some(entry) => {
                // SAFETY: the message lives until it is sent, and the fields are not written or
                // freed before their notification.
                unsafe { push(&mut self.ring, entry) }?;
                1
            }
        };
        if let Some(pending) = self.pending.get_mut(set) {
            *pending = if self.sends == Sends::Copied { 0 } else { count };
        }
        let mut queued = 0;
        while queued < count {
            self.enter(count - queued)?;
            queued += self.take_completions()?;
        }
        Ok(())
    }
    fn settle(&mut self, _: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        (0..self.pending.len()).try_for_each(|set| self.wait_for(set))?;
        Ok((self.sends != Sends::Copied).then(|| std::mem::take(&mut self.seen)))
    }
}
