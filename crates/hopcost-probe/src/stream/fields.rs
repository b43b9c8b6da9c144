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
    /// Gives `write` each field in turn.
    #[inline(always)]
    pub fn each(&mut self, mut write: impl FnMut(&mut [u8])) {
        for field in &mut self.fields {
            write(field);
        }
    }
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

/// Things that are taken in turn.
pub struct InTurn<T> {
    all: Vec<T>,
    current: usize,
}

impl<T> InTurn<T> {
    /// So many, at least one, each made for its number.
    pub fn new(count: usize, make: impl FnMut(usize) -> T) -> Self {
        Self { all: (0..count.max(1)).map(make).collect(), current: 0 }
    }
    /// All of them.
    pub fn all(&self) -> &[T] {
        &self.all
    }
    /// The one with this number.
    #[inline(always)]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.all.get_mut(number)
    }
    /// The number of that whose turn it is.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.current
    }
    /// That whose turn it is.
    #[inline(always)]
    pub fn current(&self) -> &T {
        // SAFETY: `pass` keeps the number less than how many there are.
        unsafe { self.all.get_unchecked(self.current) }
    }
    /// That whose turn it is, to be changed.
    #[inline(always)]
    pub fn current_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { self.all.get_unchecked_mut(self.current) }
    }
    /// It is the turn of the next.
    #[inline(always)]
    pub fn pass(&mut self) {
        self.current = if self.current + 1 < self.all.len() { self.current + 1 } else { 0 };
    }
}

/// How many sets of fields the messages of a window need that must not be rewritten until
/// they are acknowledged. Refuses a case whose messages are not, and sets that would take too
/// much memory.
pub fn unacknowledged(attaching: &Attaching<'_>) -> io::Result<usize> {
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
    Ok(sets as usize)
}
