//! A count in memory that one end moves and the other waits for, asleep in futex(2) if it
//! has to.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use hopcost_model::{Case, Role};

use crate::memory::{Line, Place, Scope, Shared};
use crate::sys;
use crate::wait::may_sleep;

/// Bytes that a counter takes: its count and a flag, each on a line of its own, because
/// each is written by another end.
pub const COUNTER_BYTES: usize = 2 * LINE;

const LINE: usize = size_of::<Line<AtomicU32>>();

/// A count that wraps around at 2^32, and a flag by which its waiter says that it
/// sleeps until the count moves.
pub struct Counter {
    count: Place<AtomicU32>,
    sleeper: Sleeper,
}

impl Counter {
    /// Counter `number` of several at the beginning of a mapping, for which this end waits.
    pub fn new(memory: &Arc<Shared>, number: usize, case: &Case, waiter: Role) -> Self {
        let at = number * COUNTER_BYTES;
        let sleeper = Sleeper::new(memory, at + LINE, case, waiter);
        Self { count: Place::new(memory, at), sleeper }
    }
    /// The count: an end that sees it also sees what was written before.
    #[inline(always)]
    pub fn now(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }
    /// Moves the count, and wakes the waiter if need be.
    #[inline(always)]
    pub fn publish(&self, value: u32) -> io::Result<()> {
        self.sleeper.publish(&self.count, value)
    }
    /// Waits until the count differs from what was last seen of it, and gives it.
    #[inline(always)]
    pub fn beyond(&self, seen: u32) -> io::Result<u32> {
        loop {
            let now = self.now();
            if now != seen {
                return Ok(now);
            }
            match self.sleeper.may_sleep {
                false => std::hint::spin_loop(),
                true => self.sleep(seen)?,
            }
        }
    }
    /// Sleeps while the count is `seen`; may return early.
    #[inline]
    pub fn sleep(&self, seen: u32) -> io::Result<()> {
        self.sleeper.sleep(&self.count, seen)
    }
}

/// The end that waits for a word to move, as both ends know it: whether it may be asleep,
/// and the flag by which it says so.
pub struct Sleeper {
    asleep: Place<AtomicU32>,
    may_sleep: bool,
    scope: Scope,
}

impl Sleeper {
    /// This end of a case, whose flag is at this offset of a mapping.
    pub fn new(memory: &Arc<Shared>, asleep: usize, case: &Case, waiter: Role) -> Self {
        let (may_sleep, scope) = (may_sleep(case.wait(waiter)), Scope::of(case));
        Self { asleep: Place::new(memory, asleep), may_sleep, scope }
    }
    /// Moves a word that it waits for, and wakes it if need be.
    #[inline(always)]
    pub fn publish(&self, word: &AtomicU32, value: u32) -> io::Result<()> {
        word.store(value, Ordering::Release);
        if !self.may_sleep {
            return Ok(());
        }
        // Pairs with the fence of `sleep`.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) != 0 { self.wake(word) } else { Ok(()) }
    }
    /// Sleeps while the word is `seen`; may return early.
    #[inline]
    pub fn sleep(&self, word: &AtomicU32, seen: u32) -> io::Result<()> {
        self.asleep.store(1, Ordering::Relaxed);
        // Either the other end's fence (in `publish`) comes after this one, and then it
        // sees the flag and wakes; or it comes before, and then the kernel, which compares
        // the word before it puts us to sleep, sees the new one.
        fence(Ordering::SeqCst);
        let slept = self.futex_wait(word, seen);
        self.asleep.store(0, Ordering::Relaxed);
        slept
    }

    /// FUTEX_WAIT (futex(2)).
    #[inline(always)]
    fn futex_wait(&self, word: &AtomicU32, expected: u32) -> io::Result<()> {
        // SAFETY: the word outlives the call; no time-out (the supervisor has one).
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | self.private(),
                expected,
                std::ptr::null::<libc::timespec>(),
            )
        };
        match sys::check(result) {
            Ok(_) => Ok(()),
            // The word changed meanwhile, or a signal came: the caller looks again.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                Ok(())
            }
            Err(error) => Err(sys::context(error, "futex wait")),
        }
    }

    /// FUTEX_WAKE of one waiter (futex(2)).
    #[inline(always)]
    fn wake(&self, word: &AtomicU32) -> io::Result<()> {
        let operation = libc::FUTEX_WAKE | self.private();
        // SAFETY: the word outlives the call.
        let result = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 1) };
        sys::check(result).map(drop).map_err(|error| sys::context(error, "futex wake"))
    }

    #[inline(always)]
    fn private(&self) -> libc::c_int {
        match self.scope {
            Scope::Private => libc::FUTEX_PRIVATE_FLAG,
            Scope::Shared => 0,
        }
    }
}
