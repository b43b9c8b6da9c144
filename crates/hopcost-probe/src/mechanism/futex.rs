//! `futex`: a count in memory per direction, and futex(2) to sleep on it.
//!
//! The notifier counts up, and wakes the other end if that has said that it sleeps; the
//! waiter looks first, and while the count has not moved it sets a flag and sleeps. Each
//! word lies on a line of its own that one end writes. Between storing one's own word and
//! reading the other's both ends have a full fence, so a wake-up can be neither lost nor
//! left out. `wake=always` has no flag and no fence: every notification calls FUTEX_WAKE,
//! as the plainest programs do.
//!
//! System calls of a blocking round trip: a wake and a sleep each way where both ends
//! sleep, which is 4. On one CPU it is 2 where the kernel runs the woken end at once: that
//! end answers before its partner has gone to sleep, so the answer needs no wake and
//! finds nobody asleep. On two CPUs an end that looks after its partner has counted makes
//! none. A wake that comes late, when its end sleeps for the next message already, costs
//! another sleep. That is why the count is a range.
//!
//! Between threads the words are in private memory and the calls have FUTEX_PRIVATE_FLAG;
//! with `pshared=always` the two threads map the page at two addresses, as two processes
//! do, and the kernel tells words apart by page.

use std::io;

use hopcost_model::case::WaitKind;
use hopcost_model::mechanism::{Facts, Parameter, PerOperation, WaitFacts};

use crate::memory::{PSHARED, Scope};
use crate::registry::{NOTIFIER, Row};
use crate::shape::{Attaching, Half, Link, Notifier, Opening, PeerExit, TwoEnds};
use crate::transport::counter::{Counter, Wake};
use crate::transport::waits::{SPIN, WAKER_OR_WOKEN_FIRST, YIELD};
use crate::transport::{by_role, page};
use crate::wait::{self, PAUSE, Spinning, Wait, WithoutFd};

pub static ROW: Row = Row::notifier::<Futex>(Facts {
    name: "futex",
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                0.0,
                4.5,
                "a sleep each way only where the count has not moved yet; with wake=needed a wake \
                 only where the other end sleeps, together 2 to 4 on one CPU and 0 to 4 on two; \
                 with wake=always a wake each way, together 3 or 4 on one CPU and 2 to 4 on two; \
                 now and then another sleep after a wake that came late",
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
                0.0,
                4.5,
                "none within the budget, a sleep and its wake only after it; with wake=always a \
                 wake each way besides",
            ),
            switches_one_cpu: PerOperation::Between(0.0, 2.2, "sleeps after the budget"),
            switches_two_cpus: PerOperation::Between(0.0, 2.2, "sleeps only after the budget"),
        },
    ],
    parameters: &[
        PAUSE,
        PSHARED,
        Parameter {
            name: "wake",
            values: &["needed", "always"],
            default: "needed",
            about: "FUTEX_WAKE only where the other end has said that it sleeps, or with every \
                    notification; never where the other end spins or yields",
        },
    ],
    revision: 3,
    ..NOTIFIER
});

pub struct Futex {
    outgoing: Counter,
    incoming: Counter,
    /// Notifications sent.
    notified: u32,
    /// Notifications taken.
    awaited: u32,
    spinning: Spinning,
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
            let wake = match (Wake::of(waiter), attaching.parameter("wake")) {
                (Wake::Needed, "always") => Wake::Always,
                (wake, _) => wake,
            };
            Counter::new(&memory, Counter::at(number), wake, Scope::of(attaching.case))
        };
        Ok(Self {
            outgoing: counter(peer, attaching.peer_wait()),
            incoming: counter(own, attaching.wait()),
            notified: 0,
            awaited: 0,
            spinning: Spinning::of(attaching.case, attaching.budget_ticks)?,
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
        wait::until::<W>(self.spinning, || incoming.now() != seen, || incoming.sleep(seen))?;
        self.awaited = seen.wrapping_add(1);
        Ok(())
    }
}
