//! A message's fields in the sender's memory, and which set of them is whose turn.

use std::any::Any;
use std::io;

use hopcost_model::Ack;

use crate::memory::Buffer;
use crate::shape::Attaching;
use crate::sys::{self, ensure};

/// Memory that the sets of one flow may take together.
const SETS_BYTES_MAX: usize = 256 << 20;

/// The fields of one message.
pub struct Fields {
    vectors: Vec<libc::iovec>,
    bytes: usize,
    /// What they lie in.
    _memory: Box<dyn Any>,
}

impl Fields {
    /// Fields for the messages of this case, each an allocation of its own: from 4096 bytes on at a
    /// page.
    pub fn new(attaching: &Attaching<'_>) -> Self {
        let (bytes, count) = (attaching.payload(), count(attaching));
        let mut buffers: Vec<_> = (0..count).map(|_| Buffer::new(bytes / count)).collect();
        let starts: Vec<_> = buffers.iter_mut().map(|buffer| buffer.as_mut_ptr()).collect();
        Self::at(starts, bytes, Box::new(buffers))
    }
    /// Sets of them that are taken in turn.
    pub fn sets(count: usize, attaching: &Attaching<'_>) -> InTurn<Self> {
        InTurn::new(count, |_| Self::new(attaching))
    }
    /// Fields that begin at these addresses and have `bytes` in total; `memory` is what they lie in.
    pub fn at(starts: Vec<*mut u8>, bytes: usize, memory: Box<dyn Any>) -> Self {
        let iov_len = bytes / starts.len().max(1);
        let vector = |start: *mut u8| libc::iovec { iov_base: start.cast(), iov_len };
        Self { vectors: starts.into_iter().map(vector).collect(), bytes, _memory: memory }
    }
    /// Gives `write` each field in turn.
    #[inline(always)]
    pub fn each(&mut self, mut write: impl FnMut(&mut [u8])) {
        for field in &self.vectors {
            // SAFETY: it names memory that these fields keep, and that nobody else looks at before
            // the message is sent.
            write(unsafe { std::slice::from_raw_parts_mut(field.iov_base.cast(), field.iov_len) });
        }
    }
    #[inline(always)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        // SAFETY: as above.
        let field = |one: &libc::iovec| unsafe {
            std::slice::from_raw_parts(one.iov_base.cast::<u8>().cast_const(), one.iov_len)
        };
        self.vectors.iter().map(field)
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
    let bytes = attaching.payload();
    ensure!(
        sets as usize * bytes <= SETS_BYTES_MAX,
        "a window of {sets} messages of {bytes} bytes, each in memory of its own, is more than the \
         {} MiB a flow may take",
        SETS_BYTES_MAX >> 20
    );
    Ok(sets as usize)
}
