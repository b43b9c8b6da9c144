//! `signal`: SIGUSR1 to the other end, which waits for it in sigwaitinfo(2): no
//! handler, so nothing is interrupted and nothing runs twice.
//!
//! Between processes the signal is sent by kill(2), between threads by
//! tgkill(2). A blocking round trip is kill, sigwaitinfo, sigwaitinfo, kill: four
//! system calls.
//!
//! A standard signal that is already pending is not queued again. In a closed loop
//! at most one is outstanding, so none is lost. One that comes from elsewhere
//! does not count: the sender's id is checked.
//!
//! The ends need each other's ids and meet in a shared page: each first blocks the
//! signal (one that comes unblocked would kill it) and then writes its id there.
//! The signal stays blocked when an end goes, for the same reason.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::shape::{Attaching, End, Half, Notifier};
use crate::sys;
use crate::transport::page::Page;
use crate::wait::{Block, Wait};

/// Between two looks for the other end's id.
const LOOK_EVERY: Duration = Duration::from_micros(100);

pub struct Signal {
    waited_for: libc::sigset_t,
    peer: Peer,
    /// Whose signals count, as the kernel reports senders.
    peer_pid: libc::pid_t,
}

/// Whom to signal.
enum Peer {
    Process { pid: libc::pid_t },
    Thread { pid: libc::pid_t, tid: libc::pid_t },
}

/// Blocks SIGUSR1 in the calling thread and returns it as a set.
fn block() -> io::Result<libc::sigset_t> {
    // SAFETY: an all-zero set is valid and emptied before use.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        match libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) {
            0 => Ok(set),
            code => Err(sys::context(io::Error::from_raw_os_error(code), "blocking SIGUSR1")),
        }
    }
}

impl End for Signal {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let page = Page::<AtomicU32>::attach(half, attaching)?;
        let (own_id, peer_id) = (&page.own, &page.peer);
        let waited_for = block()?;
        let own_pid = std::process::id();
        let threads = !attaching.case.two_processes();
        own_id.store(if threads { sys::thread_id() } else { own_pid }, Ordering::Release);
        let peer = loop {
            // No time-out: the supervisor ends an end whose partner never comes.
            match peer_id.load(Ordering::Acquire) {
                0 => std::thread::sleep(LOOK_EVERY),
                id => break id as libc::pid_t,
            }
        };
        let own_pid = own_pid as libc::pid_t;
        Ok(if threads {
            let peer = Peer::Thread { pid: own_pid, tid: peer };
            Self { waited_for, peer, peer_pid: own_pid }
        } else {
            Self { waited_for, peer: Peer::Process { pid: peer }, peer_pid: peer }
        })
    }
}

impl Notifier for Signal {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        // SAFETY: integer arguments; the receiver blocked the signal before it told its id.
        let result = match self.peer {
            Peer::Process { pid } => i64::from(unsafe { libc::kill(pid, libc::SIGUSR1) }),
            Peer::Thread { pid, tid } => unsafe {
                libc::syscall(libc::SYS_tgkill, pid, tid, libc::SIGUSR1)
            },
        };
        sys::check(result).map(drop).map_err(|error| sys::context(error, "signalling the partner"))
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        loop {
            // SAFETY: the set is valid for reading, the information for writing.
            let (result, sender) = unsafe {
                let mut information: libc::siginfo_t = std::mem::zeroed();
                let result = libc::sigwaitinfo(&self.waited_for, &mut information);
                (result, information.si_pid())
            };
            match sys::check(result) {
                Ok(_) if sender == self.peer_pid => return Ok(()),
                // From elsewhere, or another signal came.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(sys::context(error, "sigwaitinfo")),
            }
        }
    }
}
