//! `condvar`: the textbook ping-pong: one pthread mutex, and for each direction a
//! condition variable and a predicate. All three are process-shared between processes,
//! and private between threads.
//!
//! Notifying is lock, set the predicate, signal, unlock; waiting is lock, wait
//! while the predicate is clear, clear it, unlock. The signal is sent with the
//! mutex held, as in most textbooks and programs. If the woken end runs at once
//! (as it often does on one CPU), it finds the mutex held and sleeps a second time.
//!
//! Everything is futex(2) inside glibc. A direction makes a wake and a wait where
//! the waiter was asleep, and up to a wait and a wake more for the mutex; none
//! at all where the predicate was set before the waiter looked and the mutex
//! was free. That is why the count is a range.
//!
//! The mutex is not robust: an end that dies with it leaves the other one
//! asleep, as in any mechanism without end-of-file, and the supervisor ends it.

use std::io;

use crate::memory::{Place, Scope};
use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::sys;
use crate::transport::by_role;
use crate::transport::page;
use crate::wait::{Block, Wait};

/// What the ends share; touched only through raw pointers.
#[repr(C)]
struct Meeting {
    mutex: libc::pthread_mutex_t,
    ways: [Way; 2],
}

#[repr(C)]
struct Way {
    condition: libc::pthread_cond_t,
    /// The predicate; the mutex guards it.
    notified: u32,
}

pub struct Condvar {
    meeting: Place<Meeting>,
    own: *mut Way,
    peer: *mut Way,
}

/// The result of a pthread call, which returns its error.
fn pthread(result: libc::c_int, doing: &str) -> io::Result<()> {
    match result {
        0 => Ok(()),
        code => Err(sys::context(io::Error::from_raw_os_error(code), doing)),
    }
}

fn initialise(meeting: *mut Meeting, scope: Scope) -> io::Result<()> {
    let pshared = scope.pshared();
    // SAFETY: the attributes are initialised before use and outlive it; the objects have room in
    // the mapping, nobody else has it yet, and if process-shared they stay valid at another
    // address.
    unsafe {
        let mut attributes: libc::pthread_mutexattr_t = std::mem::zeroed();
        pthread(libc::pthread_mutexattr_init(&mut attributes), "pthread_mutexattr_init")?;
        pthread(
            libc::pthread_mutexattr_setpshared(&mut attributes, pshared),
            "pthread_mutexattr_setpshared",
        )?;
        let mutex = &raw mut (*meeting).mutex;
        pthread(libc::pthread_mutex_init(mutex, &attributes), "pthread_mutex_init")?;
        libc::pthread_mutexattr_destroy(&mut attributes);

        let mut attributes: libc::pthread_condattr_t = std::mem::zeroed();
        pthread(libc::pthread_condattr_init(&mut attributes), "pthread_condattr_init")?;
        pthread(
            libc::pthread_condattr_setpshared(&mut attributes, pshared),
            "pthread_condattr_setpshared",
        )?;
        for way in 0..2 {
            let condition = &raw mut (*meeting).ways[way].condition;
            pthread(libc::pthread_cond_init(condition, &attributes), "pthread_cond_init")?;
        }
        libc::pthread_condattr_destroy(&mut attributes);
    }
    Ok(())
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let scope = Scope::of(opening.case);
    page::initialised(opening, |memory| {
        initialise(Place::<Meeting>::new(memory, 0).as_ptr(), scope)
    })
}

impl End for Condvar {
    type Waits = (Block,);
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let meeting = Place::<Meeting>::new(&half.take_memory(page::BYTES)?, 0);
        // SAFETY: both are in the mapping.
        let way = |at: usize| unsafe { &raw mut (*meeting.as_ptr()).ways[at] };
        let (own, peer) = by_role(attaching.role, (way(0), way(1)), (way(1), way(0)));
        Ok(Self { meeting, own, peer })
    }
}

impl Notifier for Condvar {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        let meeting = self.meeting.as_ptr();
        // SAFETY: initialised by the opener, mapped as long as `self` lives; the predicate is
        // touched only with the mutex held.
        unsafe {
            let (mutex, way) = (&raw mut (*meeting).mutex, self.peer);
            pthread(libc::pthread_mutex_lock(mutex), "pthread_mutex_lock")?;
            (*way).notified = 1;
            pthread(libc::pthread_cond_signal(&raw mut (*way).condition), "pthread_cond_signal")?;
            pthread(libc::pthread_mutex_unlock(mutex), "pthread_mutex_unlock")
        }
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let meeting = self.meeting.as_ptr();
        // SAFETY: as in `notify`.
        unsafe {
            let (mutex, way) = (&raw mut (*meeting).mutex, self.own);
            pthread(libc::pthread_mutex_lock(mutex), "pthread_mutex_lock")?;
            while (&raw const (*way).notified).read() == 0 {
                let condition = &raw mut (*way).condition;
                pthread(libc::pthread_cond_wait(condition, mutex), "pthread_cond_wait")?;
            }
            (*way).notified = 0;
            pthread(libc::pthread_mutex_unlock(mutex), "pthread_mutex_unlock")
        }
    }
}
