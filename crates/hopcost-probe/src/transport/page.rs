//! A page of memory that both ends map, in which each has a line of its own: what a
//! notifier without a descriptor meets in.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;

use super::by_role;
use crate::memory::{Line, Shared};
use crate::shape::{Attaching, Half, Link};

/// Bytes of it.
pub const BYTES: usize = 4096;

/// Where the two lines are: the caller's, the callee's.
pub const LINES: [usize; 2] = [0, size_of::<Line<AtomicU32>>()];

/// The page as one end sees it.
pub struct Page {
    memory: Shared,
    own: usize,
    peer: usize,
}

impl Page {
    /// A link of a page of zeros.
    pub fn link() -> io::Result<Link> {
        Link::of_one(Shared::create(BYTES)?)
    }

    /// A link of a page in which `initialise` has prepared what needs it: neither end may
    /// use what the other has yet to initialise. What it puts there has to stay valid at
    /// another address.
    pub fn initialised(initialise: impl FnOnce(&Shared) -> io::Result<()>) -> io::Result<Link> {
        let fd: OwnedFd = Shared::create(BYTES)?;
        initialise(&Shared::map(&fd, BYTES)?)?;
        Link::of_one(fd)
    }

    /// Maps the page.
    pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let [caller, callee] = LINES;
        Ok(Self {
            memory: Shared::map(&fd, BYTES)?,
            own: by_role(attaching.role, caller, callee),
            peer: by_role(attaching.role, callee, caller),
        })
    }

    /// What lies in this end's line.
    #[inline(always)]
    pub fn own<T>(&self) -> *mut T {
        self.memory.at(self.own)
    }

    /// What lies in the other end's line.
    #[inline(always)]
    pub fn peer<T>(&self) -> *mut T {
        self.memory.at(self.peer)
    }

    #[inline(always)]
    fn word(&self, line: usize) -> &AtomicU32 {
        // SAFETY: zero bytes are a valid atomic, and an end that uses words uses nothing else.
        &unsafe { self.memory.reference::<Line<AtomicU32>>(line) }.0
    }

    /// The word of this end's line, in a page of nothing but words.
    #[inline(always)]
    pub fn own_word(&self) -> &AtomicU32 {
        self.word(self.own)
    }

    /// The word of the other end's line, in a page of nothing but words.
    #[inline(always)]
    pub fn peer_word(&self) -> &AtomicU32 {
        self.word(self.peer)
    }
}
