//! `park`: Rust's std::thread::park and unpark, with a flag as the predicate:
//! what a channel, a future's executor or a lock in a Rust program sleeps with.
//!
//! std keeps a token per thread: unpark leaves it, and wakes the thread by
//! futex(2) only if it is parked; park takes the token, and sleeps only if there
//! is none. So a round trip is two wakes and two waits where both ends sleep, and
//! fewer where an end finds the token already there; that is why the count is
//! a range. Threads only: a handle to a thread means nothing in another process.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use hopcost_model::case::Role;

use crate::memory::Line;
use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::wait::{Block, Wait};

/// Between two looks for the other thread.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// What a thread is reached by.
#[derive(Default)]
struct Side {
    thread: OnceLock<Thread>,
    notified: AtomicBool,
}

/// Where the threads meet: the caller's side, the callee's side.
type Meeting = [Arc<Line<Side>>; 2];

pub struct Park {
    own: Arc<Line<Side>>,
    peers: Arc<Line<Side>>,
    peer: Thread,
}

/// Makes the link.
pub fn open(_: &Opening<'_>) -> io::Result<Link> {
    let meeting: Meeting = Default::default();
    Ok(Link { caller: Half::of_local(meeting.clone()), callee: Half::of_local(meeting) })
}

impl End for Park {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [callers, callees]: Meeting = half.take_local()?;
        let (own, peers) = match attaching.role {
            Role::Caller => (callers, callees),
            Role::Callee => (callees, callers),
        };
        own.0.thread.get_or_init(std::thread::current);
        let peer = loop {
            // No time-out: the supervisor ends an end whose partner never comes.
            match peers.0.thread.get() {
                Some(thread) => break thread.clone(),
                None => std::thread::sleep(LOOK_EVERY),
            }
        };
        Ok(Self { own, peers, peer })
    }
}

impl Notifier for Park {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        self.peers.0.notified.store(true, Ordering::Release);
        self.peer.unpark();
        Ok(())
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let notified = &self.own.0.notified;
        // park may return for no reason, hence the flag.
        while !notified.load(Ordering::Acquire) {
            std::thread::park();
        }
        notified.store(false, Ordering::Relaxed);
        Ok(())
    }
}
