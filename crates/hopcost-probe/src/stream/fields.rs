//! A message's fields in the sender's memory, and which set of them is whose turn.

use std::io;

use hopcost_model::case::Ack;

use crate::memory::Buffer;
use crate::shape::Attaching;
use crate::sys;

/// Memory that the sets of one flow may take together.
const SETS_BYTES_MAX: usize = 256 << 20;

/// The fields of one message, each an allocation of its own: from 4096 bytes on at a page.
pub struct Fields {
    fields: Vec<Buffer>,
    vectors: Vec<libc::iovec>,
    bytes: usize,
}

impl Fields {
    /// Fields for the messages of this case.
    pub fn new(attaching: &Attaching<'_>) -> Self {
        let count = count(attaching);
        let bytes = attaching.payload();
        let mut fields: Vec<Buffer> = (0..count).map(|_| Buffer::new(bytes / count)).collect();
        let vectors = fields
            .iter_mut()
            .map(|field| libc::iovec { iov_base: field.as_mut_ptr().cast(), iov_len: field.len() })
            .collect();
        Self { fields, vectors, bytes }
    }
    /// One field, to be written.
    #[inline(always)]
    pub fn field(&mut self, at: usize) -> &mut [u8] {
        &mut self.fields[at]
    }
    /// All fields.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Buffer> {
        self.fields.iter()
    }
    /// Where the fields are; valid as long as they live.
    #[inline(always)]
    pub fn vectors(&self) -> &[libc::iovec] {
        &self.vectors
    }
    /// Bytes of all fields together.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Fields of a message.
pub fn count(attaching: &Attaching<'_>) -> usize {
    attaching.case.fields.unwrap_or(1).max(1) as usize
}

/// Whose turn it is among sets of fields that must not be rewritten until the
/// receiver has acknowledged their message.
pub struct Turns {
    sets: u64,
    sent: u64,
    acknowledged: u64,
}

impl Turns {
    /// As many turns as the window has messages. Refuses a case whose messages
    /// are not acknowledged, and sets that would take too much memory.
    pub fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        let ack = attaching.case.ack.unwrap_or(Ack::PerMessage);
        let Some(sets) = ack.window() else {
            return Err(sys::failure(format!(
                "{} needs acknowledgements: the receiver is given the sender's own memory, which \
                 may not be rewritten before (use ack=per-message or ack=window:N)",
                attaching.case.mechanism
            )));
        };
        if sets as usize * attaching.payload() > SETS_BYTES_MAX {
            return Err(sys::failure(format!(
                "a window of {sets} messages of {} bytes, each in memory of its own, is more than \
                 the {} MiB a flow may take",
                attaching.payload(),
                SETS_BYTES_MAX >> 20
            )));
        }
        Ok(Self { sets, sent: 0, acknowledged: 0 })
    }
    /// How many sets there are.
    pub fn sets(&self) -> usize {
        self.sets as usize
    }
    /// The set whose turn it is.
    #[inline(always)]
    pub fn current(&self) -> usize {
        (self.sent % self.sets) as usize
    }
    /// Messages sent before the current one.
    #[inline(always)]
    pub fn sent(&self) -> u64 {
        self.sent
    }
    /// Makes sure that the current set may be rewritten.
    #[inline(always)]
    pub fn claim(&self) -> io::Result<()> {
        if self.sent - self.acknowledged >= self.sets {
            return Err(sys::failure("a field would be rewritten before it was received"));
        }
        Ok(())
    }
    /// The current set has been sent.
    #[inline(always)]
    pub fn pass(&mut self) {
        self.sent += 1;
    }
    /// The oldest message has been acknowledged.
    #[inline(always)]
    pub fn release(&mut self) {
        self.acknowledged += 1;
    }
}
