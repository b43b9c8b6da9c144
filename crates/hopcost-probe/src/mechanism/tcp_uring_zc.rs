//! `tcp-uring-zc`: a message over TCP as linked io_uring submissions of
//! IORING_OP_SEND_ZC, one for each field, from registered buffers.
//!
//! The fields are registered with the ring once, so that no send has to pin their
//! pages. All sends of a message are submitted with one io_uring_enter, each
//! linked to the one before, so that they are sent in order; all but the last
//! carry MSG_MORE. Every send completes twice: when it is queued, and when the
//! kernel is done with the buffer. The second says whether it copied after all.
//! Until then the field may not be written, so the sender has sixteen sets of
//! fields and takes them in turn. Over loopback the kernel always copies.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::mechanism::{Facts, PerOperation};
use hopcost_model::protocol::ZeroCopySends;
use io_uring::{IoUring, cqueue, opcode, squeue, types};

use crate::registry::Row;
use crate::shape::Attaching;
use crate::stream::facts::{TCP, block};
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, OverSocket};
use crate::stream::{FIELDS_MAX, fields, outstanding, rings};
use crate::sys;
use crate::transport::tcp;

/// The row.
pub static ROW: Row = Row::stream::<TcpUringZc>(Facts {
    name: "tcp-uring-zc",
    about: "a message over TCP, one io_uring SEND_ZC for each field, from registered buffers",
    waits: &[block(
        PerOperation::Between(
            4.0,
            20.0,
            "of a message of eight fields: one call to submit, the receives, and one call at \
             either end for the acknowledgement; one more for each completion that has to be \
             waited for",
        ),
        20.0,
    )],
    crosses: "references to the pages of the fields, as far as the way allows it; over loopback the message's bytes",
    copies: "over loopback and veth the kernel, twice a message, as without zero copy: it copies the pages when a local socket is to receive them, and then to the receiver; out of a network card nobody at the sender. What the kernel says it did is counted, send by send",
    wakes: "the kernel: the softirq that the submission raises delivers the segments and wakes the sleeping receiver",
    between_stamps: "queueing a submission for each field, io_uring_enter until all are sent; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields, and waiting until they may be filled, is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields; sixteen sets of fields, or as many as fit 64 MiB; fields of 4096 bytes and more are page-aligned; registered pages count against RLIMIT_MEMLOCK; io_uring may be forbidden (kernel.io_uring_disabled, seccomp filters of containers); between network namespaces each flow has a veth pair of its own",
    sources: &[
        "io_uring_prep_send_zc(3)",
        "io_uring_register_buffers(3)",
        "io_uring_enter(2)",
        "tcp(7)",
    ],
    no_copy: Some("SEND_ZC"),
    available,
    ..TCP
});

/// In a notification's result: the kernel copied (linux/io_uring.h).
const NOTIF_USAGE_ZC_COPIED: u32 = 1 << 31;
/// Asks for that.
const SEND_ZC_REPORT_USAGE: u16 = 1 << 3;
/// Buffers that a ring takes (IORING_MAX_REG_BUFFERS).
const REGISTERED_MAX: usize = 16 * FIELDS_MAX;

fn available() -> Result<(), String> {
    tcp::loopback_available()?;
    rings::available(opcode::SendZc::CODE, "IORING_OP_SEND_ZC")
}

/// One end.
pub type TcpUringZc = OverSocket<Registered>;

/// Sets of fields that are registered with a ring.
pub struct Registered {
    // Dropped first: the ring lets go of the buffers before they are freed.
    ring: IoUring,
    sets: Vec<Fields>,
    /// Sends of each set of which no notification has come.
    pending: Vec<usize>,
    current: usize,
    seen: ZeroCopySends,
}

impl Registered {
    /// Takes what completions there are; gives how many sends were queued.
    #[inline(always)]
    fn take_completions(&mut self) -> io::Result<usize> {
        let mut queued = 0;
        for completion in self.ring.completion() {
            let set = completion.user_data() as usize;
            if cqueue::notif(completion.flags()) {
                self.pending[set] -= 1;
                self.seen.completed += 1;
                self.seen.copied +=
                    u64::from(completion.result() as u32 & NOTIF_USAGE_ZC_COPIED != 0);
                continue;
            }
            let field_bytes = self.sets[set].vectors()[0].iov_len;
            let sent = rings::sent(&completion)?;
            if sent != field_bytes || !cqueue::more(completion.flags()) {
                return Err(sys::failure(format!(
                    "io_uring sent {sent} of the {field_bytes} bytes of a field"
                )));
            }
            queued += 1;
        }
        Ok(queued)
    }
}

impl Outlet for Registered {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let count = fields::count(attaching);
        let sets = outstanding::sets(attaching).min(REGISTERED_MAX / count);
        // Two completions for each send, of all sets.
        let ring = rings::open(count, 2 * count * sets)?;
        let fields: Vec<Fields> = (0..sets).map(|_| Fields::new(attaching)).collect();
        let vectors: Vec<libc::iovec> =
            fields.iter().flat_map(|set| set.vectors()).copied().collect();
        // SAFETY: the fields live as long as the ring and are never moved or resized.
        unsafe { ring.submitter().register_buffers(&vectors) }.map_err(|error| {
            let bytes = sets * attaching.payload();
            sys::context(
                error,
                &format!("registering {bytes} bytes of fields (RLIMIT_MEMLOCK may be too small)"),
            )
        })?;
        Ok(Self {
            ring,
            sets: fields,
            pending: vec![0; sets],
            current: 0,
            seen: ZeroCopySends::default(),
        })
    }
    #[inline(always)]
    fn claim(&mut self, _: &OwnedFd) -> io::Result<()> {
        while self.pending[self.current] > 0 {
            self.take_completions()?;
            if self.pending[self.current] > 0 {
                rings::enter(&self.ring, 1)?;
            }
        }
        Ok(())
    }
    #[inline(always)]
    fn field(&mut self, at: usize) -> &mut [u8] {
        self.sets[self.current].field(at)
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let set = self.current;
        let vectors = self.sets[set].vectors();
        let count = vectors.len();
        for (at, field) in vectors.iter().enumerate() {
            let last = at + 1 == count;
            let more = if last { 0 } else { libc::MSG_MORE };
            let entry = opcode::SendZc::new(
                types::Fd(socket.as_raw_fd()),
                field.iov_base.cast(),
                field.iov_len as u32,
            )
            .buf_index(Some((set * count + at) as u16))
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | more)
            .zc_flags(SEND_ZC_REPORT_USAGE)
            .build()
            .flags(if last { squeue::Flags::empty() } else { squeue::Flags::IO_LINK })
            .user_data(set as u64);
            // SAFETY: the field is not written or freed before its notification.
            unsafe { self.ring.submission().push(&entry) }
                .map_err(|_| sys::failure("the submission queue is full"))?;
        }
        self.pending[set] = count;
        let mut queued = 0;
        let mut wanted = count;
        while queued < count {
            rings::enter(&self.ring, wanted)?;
            queued += self.take_completions()?;
            wanted = 1;
        }
        self.current = (set + 1) % self.sets.len();
        Ok(())
    }
    fn settle(&mut self, _: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        while self.pending.iter().any(|&sends| sends > 0) {
            self.take_completions()?;
            if self.pending.iter().any(|&sends| sends > 0) {
                rings::enter(&self.ring, 1)?;
            }
        }
        Ok(Some(std::mem::take(&mut self.seen)))
    }
}
