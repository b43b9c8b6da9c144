//! `uring-msg`: an io_uring per end, and IORING_OP_MSG_RING to put a completion
//! into the other end's ring.
//!
//! The sender submits one request by io_uring_enter(2); the kernel writes a
//! completion into the partner's queue and wakes it, and leaves none in the
//! sender's own (IOSQE_CQE_SKIP_SUCCESS). A blocking receiver waits in
//! io_uring_enter(2) as a pipe's reader waits in read(2), without a look at its
//! queue first; so a round trip is four system calls. A spinning receiver looks at
//! the queue, which lies in memory that it shares with the kernel.
//!
//! An end needs the descriptor of the other's ring. Since Linux 6.7 a ring cannot be
//! sent over a Unix socket (SCM_RIGHTS gives EINVAL), so the opener makes both rings
//! and both ends inherit them. That rules out IORING_SETUP_SINGLE_ISSUER, which binds a
//! ring to the thread that makes or enables it, and with it DEFER_TASKRUN. (With both, in
//! rings that are enabled by their ends, a blocking round trip takes 1.16 [1.14, 1.18] of
//! the time, because a message to such a ring is a task that its thread has to run.)

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::case::WaitKind;
use io_uring::{opcode, squeue, types};

use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::sys;
use crate::uring::{self, Ring};
use crate::wait::{self, Spinning, Wait, WithoutFd};

/// Places in a submission queue; one is ever used, and a completion queue has twice as many.
const PLACES: u32 = 4;

/// What a completion of an end's own request bears, which comes only if it failed.
const OWN: u64 = u64::MAX;

/// Whether this can be used here, or why not.
pub fn available() -> Result<(), String> {
    let ring = Ring::unmapped(PLACES).and_then(|fd| Ring::map(fd, PLACES));
    uring::knows(ring, opcode::MsgRingData::CODE, "IORING_OP_MSG_RING (Linux 5.18)")
}

pub struct UringMsg {
    ring: Ring,
    peer: OwnedFd,
    sent: u64,
    awaited: u64,
    spinning: Spinning,
}

/// Makes the link.
pub fn open(_: &Opening<'_>) -> io::Result<Link> {
    let ring = || Ring::unmapped(PLACES);
    let (caller, callee) = (ring()?, ring()?);
    let (to_caller, to_callee) = (caller.try_clone()?, callee.try_clone()?);
    Ok(Link {
        caller: Half::of_fds([caller, to_callee]),
        callee: Half::of_fds([callee, to_caller]),
    })
}

impl End for UringMsg {
    type Waits = WithoutFd;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [own, peer] = half.take_fds()?;
        let ring = Ring::map(own, PLACES)?;
        let spinning = Spinning::of(attaching.case, attaching.budget_ticks)?;
        Ok(Self { ring, peer, sent: 0, awaited: 0, spinning })
    }
}

impl Notifier for UringMsg {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        self.sent += 1;
        let entry = opcode::MsgRingData::new(types::Fd(self.peer.as_raw_fd()), 0, self.sent, None)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(OWN);
        // SAFETY: the request refers to a descriptor that `self` holds, and to no memory.
        unsafe { self.ring.push(&entry) }?;
        match self.ring.enter(1, 0)? {
            1 => Ok(()),
            _ => Err(sys::failure("no request was submitted")),
        }
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        self.awaited += 1;
        let ring = &self.ring;
        let found = Cell::new(None);
        let look = || {
            let entry = ring.completed();
            let there = entry.is_some();
            found.set(entry);
            there
        };
        let sleep = || ring.enter(0, 1).map(drop);
        if W::KIND == WaitKind::Block {
            sleep()?;
        }
        wait::until::<W>(self.spinning, look, sleep)?;
        match found.take() {
            Some(entry) if entry.user_data() == self.awaited => Ok(()),
            other => Err(unexpected(other.map(|entry| (entry.user_data(), entry.result())))),
        }
    }
}

#[cold]
fn unexpected(completion: Option<(u64, i32)>) -> io::Error {
    match completion {
        Some((OWN, result)) => sys::context(
            io::Error::from_raw_os_error(result.saturating_neg()),
            "a message to the other ring",
        ),
        Some((number, _)) => sys::failure(format!("completion {number} is not the next one")),
        None => sys::failure("no completion"),
    }
}
