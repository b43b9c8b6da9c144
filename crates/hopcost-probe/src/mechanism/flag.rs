//! `flag`: one cache line in memory that both ends use per direction, and nothing else: no
//! kernel, no sleeping, just one core's store becoming visible to another.
//!
//! Each line holds a count that only one end writes: notifying adds one, and the
//! waiter looks until the count is the next one. So a line is only ever written
//! by one end and read by the other, and a notification can be neither lost nor
//! taken twice. The floor of everything that crosses two CPUs.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::shape::{Attaching, End, Half, Notifier};
use crate::transport::page::Page;
use crate::wait::{self, Spin, Spinning, Wait, Yield};

pub struct Flag {
    page: Page<AtomicU32>,
    notified: u32,
    awaited: u32,
    spinning: Spinning,
}

impl End for Flag {
    type Waits = (Spin, Yield);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        // The budget and the sleep belong to waits that this mechanism does not have.
        let spinning = Spinning::of(attaching.case, 0)?;
        Ok(Self { page: Page::attach(half, attaching)?, notified: 0, awaited: 0, spinning })
    }
}

impl Notifier for Flag {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        self.notified = self.notified.wrapping_add(1);
        self.page.peer.store(self.notified, Ordering::Release);
        Ok(())
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        self.awaited = self.awaited.wrapping_add(1);
        let (count, awaited) = (&self.page.own, self.awaited);
        wait::until::<W>(self.spinning, || count.load(Ordering::Acquire) == awaited, || Ok(()))
    }
}
