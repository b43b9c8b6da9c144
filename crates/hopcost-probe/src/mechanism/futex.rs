//! `futex`: a count in memory per direction, and futex(2) to sleep on it.
//!
//! The notifier counts up and, if the other end may be asleep, wakes it. The waiter looks
//! first and sleeps only while the count has not moved, so a wait whose notification has
//! already come makes no system call: that is why the count of calls is a range. Each
//! count is written by one end only.
//!
//! Between threads the words are in private memory and the calls have FUTEX_PRIVATE_FLAG;
//! with `pshared=always` the two threads map the page at two addresses, as two processes
//! do, and the kernel tells words apart by page.

use std::io;

use hopcost_model::case::WaitKind;
use hopcost_model::mechanism::{Facts, PerOperation, WaitFacts};

use crate::memory::{PSHARED, Scope};
use crate::registry::{NOTIFIER, Row};
use crate::shape::{Attaching, Half, Link, Notifier, Opening, PeerExit, TwoEnds};
use crate::transport::counter::{Counter, Wake};
use crate::transport::waits::{SPIN, WAKER_OR_WOKEN_FIRST, YIELD};
use crate::transport::{by_role, page};
use crate::wait::{self, Wait, WithoutFd};

/// The row.
pub static ROW: Row = Row::notifier::<Futex>(Facts {
    name: "futex",
    about: "a count in memory that the kernel can put a waiter to sleep on",
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                2.0,
                4.5,
                "a wake each way always; a sleep each way only where the count has not moved yet, \
                 and once more where a wake came late",
            ),
            switches_one_cpu: WAKER_OR_WOKEN_FIRST,
            switches_two_cpus: PerOperation::Between(
                0.0,
                2.2,
                "an end that finds the count moved does not sleep",
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
    parameters: &[PSHARED],
    crosses: "one 32-bit count per direction in memory that both ends use (and, with a payload, a shared buffer)",
    copies: "with a payload, each end writes its message into the shared buffer and reads the other's there; the kernel copies nothing",
    wakes: "the notifying end, by FUTEX_WAKE of one waiter",
    between_stamps: "count up, wake, look at the own count, sleep, be woken; the same on the other side",
    limits: "payload up to 1 MiB; both ends must map the same page, which is private to the process between threads",
    sources: &["futex(2)", "futex(7)"],
    ..NOTIFIER
});

/// One end.
pub struct Futex {
    outgoing: Counter,
    incoming: Counter,
    /// Notifications sent.
    notified: u32,
    /// Notifications taken.
    awaited: u32,
    budget_ticks: u64,
}

impl TwoEnds for Futex {
    type End = Self;
    type Waits = WithoutFd;
    const PEER_EXIT: PeerExit = PeerExit::Unnoticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        page::link(opening)
    }

    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let memory = half.take_memory(page::BYTES)?;
        let (own, peer) = by_role(attaching.role, (0, 1), (1, 0));
        let counter = |number: usize, waiter: WaitKind| {
            let wake = match Wake::of(waiter) {
                Wake::Never => Wake::Never,
                Wake::Needed | Wake::Always => Wake::Always,
            };
            Counter::new(&memory, Counter::at(number), wake, Scope::of(attaching.case))
        };
        Ok(Self {
            outgoing: counter(peer, attaching.peer_wait()),
            incoming: counter(own, attaching.wait()),
            notified: 0,
            awaited: 0,
            budget_ticks: attaching.budget_ticks,
        })
    }
}

impl Notifier for Futex {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        self.notified = self.notified.wrapping_add(1);
        self.outgoing.publish(self.notified)
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let (incoming, seen) = (&self.incoming, self.awaited);
        wait::until::<W>(self.budget_ticks, || incoming.now() != seen, || incoming.sleep(seen))?;
        self.awaited = seen.wrapping_add(1);
        Ok(())
    }
}
