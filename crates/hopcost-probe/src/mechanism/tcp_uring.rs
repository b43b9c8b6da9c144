//! Messages over TCP by io_uring, with the kernel's copy and without.

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::case::Case;
use hopcost_model::protocol::ZeroCopySends;
use io_uring::{cqueue, opcode, squeue, types::Fixed};

use super::tcp_zerocopy;
use crate::shape::Attaching;
use crate::stream::FIELDS_MAX;
use crate::stream::fields::{self, Fields, InTurn};
use crate::stream::sockets::{Outlet, all_of, message_of};
use crate::sys;
use crate::transport::{tcp, tcp_socket};
use crate::uring::{self, Ring};

/// Whether there is such a request here, or why not.
pub fn available() -> Result<(), String> {
    tcp::loopback_available()?;
    uring::available(opcode::SendMsg::CODE, "IORING_OP_SENDMSG")
}

/// `tcp-uring`: a message over TCP with one io_uring submission of
/// IORING_OP_SENDMSG that names all its fields.
///
/// The sender puts one entry into the submission queue and makes one
/// io_uring_enter, which submits it and waits for its completion. A message at a
/// time is not what io_uring is for: it saves calls where there are many
/// operations to submit. Here it shows what the way through the ring costs beside
/// the plain call of `tcp-sendmsg`. The receiver and the acknowledgements are the
/// same plain calls as everywhere.
pub struct Submission {
    fields: Fields,
    ring: Ring,
    socket: Fixed,
}

impl Outlet for Submission {
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let ring = Ring::open(2, 2)?;
        let [socket] = ring.files([socket])?;
        Ok(Self { fields: Fields::new(attaching), ring, socket })
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.fields.each(write);
    }
    #[inline(always)]
    fn send(&mut self, _: &OwnedFd) -> io::Result<()> {
        let Self { fields, ring, socket } = self;
        all_of(fields.vectors(), fields.bytes(), |rest| {
            let message = message_of(rest);
            // MSG_WAITALL: a part that the socket has no room for is sent by the
            // kernel when there is, and the completion is of the whole.
            let entry = opcode::SendMsg::new(*socket, &raw const message)
                .flags((libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32)
                .build();
            // SAFETY: the message and the fields outlive the operation, whose
            // completion is waited for below.
            unsafe { ring.push(&entry) }?;
            let mut submit = 1;
            loop {
                submit -= ring.enter(submit, 1)?;
                if let Some(completion) = ring.completed() {
                    return uring::moved(&completion);
                }
            }
        })
    }
}

/// In a notification's result: the kernel copied (linux/io_uring.h).
const NOTIF_USAGE_ZC_COPIED: u32 = 1 << 31;
/// Asks for that.
const SEND_ZC_REPORT_USAGE: u16 = 1 << 3;
/// Buffers that a ring takes (IORING_MAX_REG_BUFFERS).
const REGISTERED_MAX: usize = 16 * FIELDS_MAX;

/// Whether there is such a request here, or why not.
pub fn zc_available() -> Result<(), String> {
    tcp::loopback_available()?;
    uring::available(opcode::SendMsgZc::CODE, "IORING_OP_SENDMSG_ZC")
}

/// Whether a case can be had here, or why not.
pub fn zc_available_as(case: &Case) -> Result<(), String> {
    tcp_socket::takes(case)?;
    match is_by_field(case) {
        false => Ok(()),
        true => uring::available(opcode::SendZc::CODE, "IORING_OP_SEND_ZC"),
    }
}

/// Whether there is a send for each field.
fn is_by_field(case: &Case) -> bool {
    case.parameter("sends") == Some("field")
}

/// A message's fields.
struct Set {
    fields: Fields,
    /// Sends of which no notification has come.
    pending: usize,
}

/// `tcp-uring-zc`: a message over TCP with one io_uring submission of
/// IORING_OP_SENDMSG_ZC that names all its fields, as `tcp-zerocopy` has one
/// sendmsg(2) with MSG_ZEROCOPY.
///
/// With `sends=field` it is one IORING_OP_SEND_ZC for each field, from buffers that
/// are registered with the ring once, so that no send has to pin their pages. All
/// are submitted with one io_uring_enter, each linked to the one before, so that
/// they are sent in order; all but the last carry MSG_MORE.
///
/// Every send completes twice: when it is queued, and when the kernel is done with
/// the memory. The second says whether it copied after all. Until then the fields
/// may not be written, so the sender has sixteen sets of them and takes them in
/// turn. Over loopback the kernel always copies.
pub struct Referred {
    // Dropped first: the ring lets go of the buffers before they are freed.
    ring: Ring,
    socket: Fixed,
    by_field: bool,
    /// Bytes of one send.
    bytes: usize,
    sets: InTurn<Set>,
    seen: ZeroCopySends,
}

impl Referred {
    /// Takes what completions there are; gives how many sends were queued.
    #[inline(always)]
    fn take_completions(&mut self) -> io::Result<usize> {
        let mut queued = 0;
        while let Some(completion) = self.ring.completed() {
            if cqueue::notif(completion.flags()) {
                if let Some(set) = self.sets.get_mut(completion.user_data() as usize) {
                    set.pending -= 1;
                }
                self.seen.completed += 1;
                self.seen.copied +=
                    u64::from(completion.result() as u32 & NOTIF_USAGE_ZC_COPIED != 0);
                continue;
            }
            let sent = uring::moved(&completion)?;
            if sent != self.bytes || !cqueue::more(completion.flags()) {
                return Err(not_sent(sent, self.bytes));
            }
            queued += 1;
        }
        Ok(queued)
    }

    /// Takes completions, as they come, until the sets are as they have to be.
    #[inline(always)]
    fn wait_until(&mut self, done: impl Fn(&InTurn<Set>) -> bool) -> io::Result<()> {
        while !done(&self.sets) {
            self.take_completions()?;
            if !done(&self.sets) {
                self.ring.enter(0, 1)?;
            }
        }
        Ok(())
    }

    /// Queues a send for each field of the current set, in their order, and says how many that
    /// were.
    #[inline(always)]
    fn queue_fields(&mut self) -> io::Result<usize> {
        let set = self.sets.number();
        let vectors = self.sets.current().fields.vectors();
        let count = vectors.len();
        for (at, field) in vectors.iter().enumerate() {
            let (more, link) = match at + 1 == count {
                true => (0, squeue::Flags::empty()),
                false => (libc::MSG_MORE, squeue::Flags::IO_LINK),
            };
            let bytes = field.iov_len as u32;
            let entry = opcode::SendZc::new(self.socket, field.iov_base.cast(), bytes)
                .buf_index(Some((set * count + at) as u16))
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | more)
                .zc_flags(SEND_ZC_REPORT_USAGE)
                .build()
                .flags(link)
                .user_data(set as u64);
            // SAFETY: the field is not written or freed before its notification.
            unsafe { self.ring.push(&entry) }?;
        }
        Ok(count)
    }
}

#[cold]
fn not_sent(sent: usize, bytes: usize) -> io::Error {
    sys::failure(format!("io_uring sent {sent} of {bytes} bytes"))
}

impl Outlet for Referred {
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let by_field = is_by_field(attaching.case);
        let most = tcp_zerocopy::sets(attaching);
        let (count, sets) = match (by_field, fields::count(attaching)) {
            (false, _) => (1, most),
            (true, count) => (count, most.min(REGISTERED_MAX / count)),
        };
        // Two completions for each send, of all sets.
        let ring = Ring::open(count, 2 * count * sets)?;
        let [socket] = ring.files([socket])?;
        let fields = InTurn::new(sets, |_| Set { fields: Fields::new(attaching), pending: 0 });
        if by_field {
            let vectors = fields.all().iter().flat_map(|set| set.fields.vectors()).copied();
            let vectors: Vec<libc::iovec> = vectors.collect();
            // SAFETY: the fields live as long as the ring and are never moved or resized.
            unsafe { ring.register_buffers(&vectors) }.map_err(|error| {
                let bytes = sets * attaching.payload();
                sys::context(
                    error,
                    &format!(
                        "registering {bytes} bytes of fields (RLIMIT_MEMLOCK may be too small)"
                    ),
                )
            })?;
        }
        Ok(Self {
            ring,
            socket,
            by_field,
            bytes: attaching.payload() / count,
            sets: fields,
            seen: ZeroCopySends::default(),
        })
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd) -> io::Result<()> {
        self.wait_until(|sets| sets.current().pending == 0)
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.sets.current_mut().fields.each(write);
    }
    #[inline(always)]
    fn send(&mut self, _: &OwnedFd) -> io::Result<()> {
        let vectors = self.sets.current().fields.vectors();
        let message = message_of(vectors);
        let count = match self.by_field {
            false => {
                let entry = opcode::SendMsgZc::new(self.socket, &raw const message)
                    .flags((libc::MSG_NOSIGNAL | libc::MSG_WAITALL) as u32)
                    .ioprio(SEND_ZC_REPORT_USAGE)
                    .build()
                    .user_data(self.sets.number() as u64);
                // SAFETY: the message lives until it is sent, and the fields are not written or
                // freed before their notification.
                unsafe { self.ring.push(&entry) }?;
                1
            }
            true => self.queue_fields()?,
        };
        self.sets.current_mut().pending = count;
        let (mut queued, mut submit) = (0, count);
        while queued < count {
            submit -= self.ring.enter(submit, submit.max(1))?;
            queued += self.take_completions()?;
        }
        self.sets.pass();
        Ok(())
    }
    fn settle(&mut self, _: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        self.wait_until(|sets| sets.all().iter().all(|set| set.pending == 0))?;
        Ok(Some(std::mem::take(&mut self.seen)))
    }
}
