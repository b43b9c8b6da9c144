//! A count in shared memory that one end moves and the other waits for.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use hopcost_model::case::WaitKind;

use crate::memory::{Line, Shared};
use crate::sys;

/// Bytes that a counter takes: its count and a flag, each on a line of its own.
pub const COUNTER_BYTES: usize = 2 * size_of::<Line<AtomicU32>>();

/// A count that wraps around at 2^32, and a flag by which its reader says that it
/// sleeps until the count moves.
#[derive(Clone, Copy)]
pub struct Counter {
    offset: usize,
    wait: WaitKind,
    /// Whether the other end may sleep, so that moving the count has to look.
    wakes: bool,
}

impl Counter {
    /// The counter at this offset of a mapping, by an end that waits like `wait`
    /// for one that waits like `peer_wait`.
    pub fn new(offset: usize, wait: WaitKind, peer_wait: WaitKind) -> Self {
        Self { offset, wait, wakes: crate::wait::may_sleep(peer_wait) }
    }
    #[inline(always)]
    fn words(self, memory: &Shared) -> (&AtomicU32, &AtomicU32) {
        let line = size_of::<Line<AtomicU32>>();
        // SAFETY: these two lines hold nothing but the words, which are only ever used
        // as atomics; zero is a valid one.
        unsafe {
            (
                &memory.reference::<Line<AtomicU32>>(self.offset).0,
                &memory.reference::<Line<AtomicU32>>(self.offset + line).0,
            )
        }
    }
    /// Moves the count: what was written before is seen by whoever sees it.
    #[inline(always)]
    pub fn publish(self, memory: &Shared, value: u32) -> io::Result<()> {
        let (count, asleep) = self.words(memory);
        count.store(value, Ordering::Release);
        if self.wakes {
            // Pairs with the fence of `sleep`.
            fence(Ordering::SeqCst);
            if asleep.load(Ordering::Relaxed) != 0 {
                return wake(count);
            }
        }
        Ok(())
    }
    /// Waits until the count differs from what was last seen of it, and gives it.
    #[inline(always)]
    pub fn beyond(self, memory: &Shared, seen: u32) -> io::Result<u32> {
        let (count, asleep) = self.words(memory);
        loop {
            let now = count.load(Ordering::Acquire);
            if now != seen {
                return Ok(now);
            }
            match self.wait {
                WaitKind::Spin => std::hint::spin_loop(),
                _ => sleep(count, asleep, seen)?,
            }
        }
    }
}

/// Sleeps until the count has moved; may return early.
#[cold]
fn sleep(count: &AtomicU32, asleep: &AtomicU32, seen: u32) -> io::Result<()> {
    asleep.store(1, Ordering::Relaxed);
    // Either the other end's fence (in `publish`) comes after this one, and then it
    // sees the flag and wakes; or it comes before, and then the kernel, which compares
    // the count before it puts us to sleep, sees the new one.
    fence(Ordering::SeqCst);
    let slept = sys::futex_wait(count, seen);
    asleep.store(0, Ordering::Relaxed);
    slept
}

#[cold]
fn wake(count: &AtomicU32) -> io::Result<()> {
    sys::futex_wake(count).map_err(|error| sys::context(error, "futex wake"))
}
