//! `futex`: a word in shared memory per direction, and futex(2) to sleep on it.
//!
//! The notifier sets the word and, if the other end may be asleep, wakes it.
//! The waiter looks at the word first and sleeps only while it is clear, so a
//! wait whose notification has already come makes no system call: that is why
//! the count is a range. Two threads map the page at two addresses, so the kernel
//! has to tell words apart by page: never FUTEX_PRIVATE_FLAG.

use std::io;
use std::sync::atomic::Ordering;

use hopcost_model::case::WaitKind;
use hopcost_model::mechanism::{Facts, PerOperation, WaitFacts};

use crate::registry::{NOTIFIER, Row};
use crate::shape::{Attaching, Half, Link, Notifier, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::page::Page;
use crate::transport::waits::{SPIN, WAKER_OR_WOKEN_FIRST, YIELD};
use crate::wait::{self, Wait, WithoutFd};

/// The row.
pub static ROW: Row = Row::notifier::<Futex>(Facts {
    name: "futex",
    about: "a word in shared memory that the kernel can put a waiter to sleep on",
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                2.0,
                4.5,
                "a wake each way always; a sleep each way only where the word is not yet set, \
                 and once more where the word changed while going to sleep",
            ),
            switches_one_cpu: WAKER_OR_WOKEN_FIRST,
            switches_two_cpus: PerOperation::Between(
                0.0,
                2.2,
                "an end that finds the word set does not sleep",
            ),
        },
        SPIN,
        YIELD,
        WaitFacts {
            wait: WaitKind::SpinThenBlock,
            system_calls: PerOperation::Between(
                2.0,
                4.5,
                "a wake each way always; a sleep only after the budget",
            ),
            switches_one_cpu: PerOperation::Between(0.0, 2.2, "sleeps after the budget"),
            switches_two_cpus: PerOperation::Between(0.0, 2.2, "sleeps only after the budget"),
        },
    ],
    crosses: "one 32-bit word per direction in shared memory (and, with a payload, a shared buffer)",
    copies: "with a payload, each end copies it into the shared buffer and out of it; the kernel copies nothing",
    wakes: "the notifying end, by FUTEX_WAKE of one waiter",
    between_stamps: "set the word, wake, look at the own word, sleep, be woken; the same on the other side",
    limits: "payload up to 1 MiB; both ends must map the same page",
    sources: &["futex(2)", "futex(7)"],
    ..NOTIFIER
});

/// One end.
pub struct Futex {
    page: Page,
    wakes_peer: bool,
    budget_ticks: u64,
}

impl TwoEnds for Futex {
    type End = Self;
    type Waits = WithoutFd;
    const PEER_EXIT: PeerExit = PeerExit::Unnoticed;
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        Page::link()
    }

    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Self {
            page: Page::attach(half, attaching)?,
            wakes_peer: wait::may_sleep(attaching.peer_wait()),
            budget_ticks: attaching.budget_ticks,
        })
    }
}

impl Notifier for Futex {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        let word = self.page.peer_word();
        word.store(1, Ordering::Release);
        if self.wakes_peer { sys::futex_wake(word) } else { Ok(()) }
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let word = self.page.own_word();
        wait::until::<W>(
            self.budget_ticks,
            || word.load(Ordering::Acquire) != 0,
            || sys::futex_wait(word, 0),
        )?;
        word.store(0, Ordering::Relaxed);
        Ok(())
    }
}
