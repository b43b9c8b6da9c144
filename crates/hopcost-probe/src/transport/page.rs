//! A page of memory that both ends use, in which each has a line of its own: what a
//! notifier without a descriptor meets in.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::by_role;
use crate::memory::{Line, Place, Shared};
use crate::shape::{Attaching, Half, Link, Opening};

/// Bytes of it.
pub const BYTES: usize = 4096;

/// Where the two lines are: the caller's, the callee's.
pub const LINES: [usize; 2] = [0, size_of::<Line<AtomicU32>>()];

/// What lies in the two lines as one end sees it.
pub struct Page<T> {
    /// In this end's line.
    pub own: Place<T>,
    /// In the other end's line.
    pub peer: Place<T>,
}

/// A link of a page of zeros.
pub fn link(opening: &Opening<'_>) -> io::Result<Link> {
    Link::of_memory(opening.memory(BYTES)?)
}

/// A link of a page in which `initialise` has prepared what needs it: neither end may
/// use what the other has yet to initialise. What it puts there has to stay valid at
/// another address if the memory's scope is shared.
pub fn initialised(
    opening: &Opening<'_>,
    initialise: impl FnOnce(&Arc<Shared>) -> io::Result<()>,
) -> io::Result<Link> {
    let memory = opening.memory(BYTES)?;
    initialise(&memory.map(BYTES)?)?;
    Link::of_memory(memory)
}

impl<T> Page<T> {
    /// Finds the lines.
    pub fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let memory = half.take_memory(BYTES)?;
        let [caller, callee] = LINES;
        Ok(Self {
            own: Place::new(&memory, by_role(attaching.role, caller, callee)),
            peer: Place::new(&memory, by_role(attaching.role, callee, caller)),
        })
    }
}
