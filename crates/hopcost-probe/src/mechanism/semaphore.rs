//! `semaphore`: a POSIX semaphore in memory that both ends use, one per direction:
//! process-shared between processes, private between threads.
//!
//! glibc keeps the value and the number of waiters in one word: sem_post(3)
//! enters the kernel (futex wake) only if somebody waits, sem_wait(3) only
//! (futex wait) if the value is 0. Two ends that always find each other asleep
//! make four system calls a round trip, two that never do make none; that is
//! why the count is a range.
//!
//! The opener initialises both semaphores before it hands out the halves,
//! because neither end may use one that the other has yet to initialise.

use std::cell::Cell;
use std::io;

use hopcost_model::case::WaitKind;

use crate::memory::{Place, Scope};
use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::sys;
use crate::transport::page::{self, LINES, Page};
use crate::wait::{self, Spinning, Wait, WithoutFd};

pub struct Semaphore {
    page: Page<libc::sem_t>,
    spinning: Spinning,
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let pshared = Scope::of(opening.case).pshared();
    page::initialised(opening, |memory| {
        for line in LINES {
            let semaphore = Place::<libc::sem_t>::new(memory, line);
            // SAFETY: room for a semaphore, and nobody else has the memory yet. If
            // process-shared, it stays valid at another address.
            sys::check(unsafe { libc::sem_init(semaphore.as_ptr(), pshared, 0) })
                .map_err(|error| sys::context(error, "initialising a semaphore"))?;
        }
        Ok(())
    })
}

impl End for Semaphore {
    type Waits = WithoutFd;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let spinning = Spinning::of(attaching.case, attaching.budget_ticks)?;
        Ok(Self { page: Page::attach(half, attaching)?, spinning })
    }
}

impl Notifier for Semaphore {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        // SAFETY: initialised by the opener, mapped as long as `self` lives.
        sys::check(unsafe { libc::sem_post(self.page.peer.as_ptr()) }).map(drop)
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let own = self.page.own.as_ptr();
        if W::KIND == WaitKind::Block {
            // sem_wait itself looks before it sleeps.
            while !take(own)? {}
            return Ok(());
        }
        // Having slept is having taken: there is nothing left to look for then.
        let taken = Cell::new(false);
        wait::until::<W>(
            self.spinning,
            // SAFETY: as in `notify`.
            || taken.get() || unsafe { libc::sem_trywait(own) } == 0,
            || take(own).map(|done| taken.set(done)),
        )
    }
}

/// Waits for the semaphore and takes it; false if a signal came first.
fn take(own: *mut libc::sem_t) -> io::Result<bool> {
    // SAFETY: initialised by the opener, mapped as long as its end lives.
    match sys::check(unsafe { libc::sem_wait(own) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(sys::context(error, "sem_wait")),
    }
}
