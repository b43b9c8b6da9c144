//! `futex`: a count in memory per direction, and futex(2) to sleep on it.
//!
//! The notifier counts up, and wakes the other end if that has said that it sleeps; the
//! waiter looks first, and while the count has not moved it sets a flag and sleeps. Each
//! word lies on a line of its own that one end writes. Between storing one's own word and
//! reading the other's both ends have a full fence, so a wake-up can be neither lost nor
//! left out.
//!
//! System calls of a blocking round trip: a wake and a sleep each way where both ends
//! sleep, which is 4. On one CPU it is 2 where the kernel runs the woken end at once: that
//! end answers before its partner has gone to sleep, so the answer needs no wake and
//! finds nobody asleep. On two CPUs an end that looks after its partner has counted makes
//! none. A wake that comes late, when its end sleeps for the next message already, costs
//! another sleep. That is why the count is a range.
//!
//! Between threads the words are in private memory and the calls have FUTEX_PRIVATE_FLAG.

use std::io;

use hopcost_model::case::Role;

use crate::memory::Scope;
use crate::shape::{Attaching, End, Half, Notifier};
use crate::transport::counter::Counter;
use crate::transport::{by_role, page};
use crate::wait::{self, Spinning, Wait, WithoutFd};

pub struct Futex {
    outgoing: Counter,
    incoming: Counter,
    /// Notifications sent.
    notified: u32,
    /// Notifications taken.
    awaited: u32,
    spinning: Spinning,
}

impl End for Futex {
    type Waits = WithoutFd;
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let memory = half.take_memory(page::BYTES)?;
        let (own, peer) = by_role(attaching.role, (0, 1), (1, 0));
        let counter = |number: usize, waiter: Role| {
            let (waiter, scope) = (attaching.case.wait(waiter), Scope::of(attaching.case));
            Counter::new(&memory, Counter::at(number), waiter, scope)
        };
        Ok(Self {
            outgoing: counter(peer, attaching.role.other()),
            incoming: counter(own, attaching.role),
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
