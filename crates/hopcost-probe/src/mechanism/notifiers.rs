//! Mechanisms that only wake: each end has something that it notifies the other by, and no
//! message.

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use hopcost_model::WaitKind;

use crate::memory::{Line, Place, Scope};
use crate::shape::{Attaching, End, Half, Link, Notifier, Opening};
use crate::sys::{self, Doing, ensure};
use crate::transport::by_role;
use crate::transport::counter::Counter;
use crate::transport::page::{self, LINES, Page};
use crate::wait::{self, Block, Every, FdWait, Spin, Spinning, Wait, WithoutFd, Yield};

/// Between two looks for the other end.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// What an end needs of the other, once that has attached. No time-out: the supervisor ends an end
/// whose partner never comes.
fn awaited<T>(look: impl Fn() -> Option<T>) -> T {
    loop {
        match look() {
            Some(found) => return found,
            None => std::thread::sleep(LOOK_EVERY),
        }
    }
}

/// `flag`: one cache line in memory that both ends use per direction, and nothing else: no
/// kernel, no sleeping, just one core's store becoming visible to another.
///
/// Each line holds a count that only one end writes: notifying adds one, and the
/// waiter looks until the count is the next one. So a line is only ever written
/// by one end and read by the other, and a notification can be neither lost nor
/// taken twice. The floor of everything that crosses two CPUs.
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
        let spinning = Spinning::of(attaching.case, 0);
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

/// `futex`: a count in memory per direction, and futex(2) to sleep on it.
///
/// The notifier counts up, and wakes the other end if that has said that it sleeps; the
/// waiter looks first, and while the count has not moved it sets a flag and sleeps. Each
/// word lies on a line of its own that one end writes. Between storing one's own word and
/// reading the other's both ends have a full fence, so a wake-up can be neither lost nor
/// left out.
///
/// System calls of a blocking round trip: a wake and a sleep each way where both ends
/// sleep, which is 4. On one CPU it is 2 where the kernel runs the woken end at once: that
/// end answers before its partner has gone to sleep, so the answer needs no wake and
/// finds nobody asleep. On two CPUs an end that looks after its partner has counted makes
/// none. A wake that comes late, when its end sleeps for the next message already, costs
/// another sleep. That is why the count is a range.
///
/// Between threads the words are in private memory and the calls have FUTEX_PRIVATE_FLAG.
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
        let Attaching { case, role, .. } = *attaching;
        let (own, peer) = by_role(role, (0, 1), (1, 0));
        Ok(Self {
            outgoing: Counter::new(&memory, peer, case, role.other()),
            incoming: Counter::new(&memory, own, case, role),
            notified: 0,
            awaited: 0,
            spinning: Spinning::of(case, attaching.budget_ticks),
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

/// `semaphore`: a POSIX semaphore in memory that both ends use, one per direction:
/// process-shared between processes, private between threads.
///
/// glibc keeps the value and the number of waiters in one word: sem_post(3)
/// enters the kernel (futex wake) only if somebody waits, sem_wait(3) only
/// (futex wait) if the value is 0. Two ends that always find each other asleep
/// make four system calls a round trip, two that never do make none; that is
/// why the count is a range.
///
/// The opener initialises both semaphores before it hands out the halves,
/// because neither end may use one that the other has yet to initialise.
pub struct Semaphore {
    page: Page<libc::sem_t>,
    spinning: Spinning,
}

/// Makes the link.
pub fn open_semaphore(opening: &Opening<'_>) -> io::Result<Link> {
    let pshared = Scope::of(opening.case).pshared();
    page::initialised(opening, |memory| {
        for line in LINES {
            let semaphore = Place::<libc::sem_t>::new(memory, line);
            // SAFETY: room for a semaphore, and nobody else has the memory yet. If
            // process-shared, it stays valid at another address.
            sys::check(unsafe { libc::sem_init(semaphore.as_ptr(), pshared, 0) })
                .doing("initialising a semaphore")?;
        }
        Ok(())
    })
}

impl End for Semaphore {
    type Waits = WithoutFd;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let spinning = Spinning::of(attaching.case, attaching.budget_ticks);
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
            return take(own);
        }
        // Having slept is having taken: there is nothing left to look for then.
        let taken = Cell::new(false);
        wait::until::<W>(
            self.spinning,
            // SAFETY: as in `notify`.
            || taken.get() || unsafe { libc::sem_trywait(own) } == 0,
            || take(own).map(|()| taken.set(true)),
        )
    }
}

/// Waits for the semaphore and takes it.
#[inline(always)]
fn take(own: *mut libc::sem_t) -> io::Result<()> {
    // SAFETY: initialised by the opener, mapped as long as its end lives.
    let taken = sys::uninterrupted(|| sys::check(unsafe { libc::sem_wait(own) }));
    taken.map(drop).doing("sem_wait")
}

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

/// `condvar`: the textbook ping-pong: one pthread mutex, and for each direction a
/// condition variable and a predicate. All three are process-shared between processes,
/// and private between threads.
///
/// Notifying is lock, set the predicate, signal, unlock; waiting is lock, wait
/// while the predicate is clear, clear it, unlock. The signal is sent with the
/// mutex held, as in most textbooks and programs. If the woken end runs at once
/// (as it often does on one CPU), it finds the mutex held and sleeps a second time.
///
/// Everything is futex(2) inside glibc. A direction makes a wake and a wait where
/// the waiter was asleep, and up to a wait and a wake more for the mutex; none
/// at all where the predicate was set before the waiter looked and the mutex
/// was free. That is why the count is a range.
///
/// The mutex is not robust: an end that dies with it leaves the other one
/// asleep, as in any mechanism without end-of-file, and the supervisor ends it.
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
        let attributes = &raw mut attributes;
        pthread(libc::pthread_mutexattr_init(attributes), "a mutex")?;
        pthread(libc::pthread_mutexattr_setpshared(attributes, pshared), "a mutex")?;
        let mutex = &raw mut (*meeting).mutex;
        pthread(libc::pthread_mutex_init(mutex, attributes), "a mutex")?;
        libc::pthread_mutexattr_destroy(attributes);

        let mut attributes: libc::pthread_condattr_t = std::mem::zeroed();
        let attributes = &raw mut attributes;
        pthread(libc::pthread_condattr_init(attributes), "a condition")?;
        pthread(libc::pthread_condattr_setpshared(attributes, pshared), "a condition")?;
        for way in 0..2 {
            let condition = &raw mut (*meeting).ways[way].condition;
            pthread(libc::pthread_cond_init(condition, attributes), "a condition")?;
        }
        libc::pthread_condattr_destroy(attributes);
    }
    Ok(())
}

/// Makes the link.
pub fn open_condvar(opening: &Opening<'_>) -> io::Result<Link> {
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

/// `eventfd`: a counter in the kernel per direction. Writing adds to it, reading
/// takes what is there and sets it to 0; both move 8 bytes.
///
/// A blocking round trip is write, read, read, write: four system calls, as for
/// a pipe, but with no page, no lock on one, and no buffer to manage. In a closed
/// loop the count read is always 1, and anything else is an error.
pub struct EventFd {
    incoming: OwnedFd,
    outgoing: OwnedFd,
    wait: FdWait,
}

/// Makes the link.
pub fn open_eventfd(_: &Opening<'_>) -> io::Result<Link> {
    let (request, reply) = (sys::eventfd()?, sys::eventfd()?);
    let (request_in, reply_out) = (request.try_clone()?, reply.try_clone()?);
    Ok(Link::of_two_ways([request_in, request], [reply, reply_out]))
}

impl End for EventFd {
    type Waits = Every;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [incoming, outgoing] = half.take_fds()?;
        let wait = attaching.fd_wait(&incoming, wait::look_at)?;
        Ok(Self { incoming, outgoing, wait })
    }
}

impl Notifier for EventFd {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        // Never EAGAIN or EINTR, even where the other end made this descriptor non-blocking: the count
        // is far from its maximum.
        sys::write(&self.outgoing, &1u64.to_ne_bytes()).map(drop)
    }

    #[inline(always)]
    fn wait<W: Wait>(&mut self) -> io::Result<()> {
        let (fd, mut count) = (&self.incoming, [0; 8]);
        self.wait.receive(W::KIND, fd, |look| sys::read(fd, &mut count, look))?;
        let count = u64::from_ne_bytes(count);
        ensure!(count == 1, "the eventfd counted {count} notifications instead of 1");
        Ok(())
    }
}

/// `signal`: SIGUSR1 to the other end, which waits for it in sigwaitinfo(2): no
/// handler, so nothing is interrupted and nothing runs twice.
///
/// Between processes the signal is sent by kill(2), between threads by
/// tgkill(2). A blocking round trip is kill, sigwaitinfo, sigwaitinfo, kill: four
/// system calls.
///
/// A standard signal that is already pending is not queued again. In a closed loop
/// at most one is outstanding, so none is lost. One that comes from elsewhere
/// does not count: the sender's id is checked.
///
/// The ends need each other's ids and meet in a shared page: each first blocks the
/// signal (one that comes unblocked would kill it) and then writes its id there.
/// The signal stays blocked when an end goes, for the same reason.
pub struct Signal {
    waited_for: libc::sigset_t,
    /// Whose signals count, as the kernel reports senders.
    peer_pid: libc::pid_t,
    /// The other end's thread, where both are of one process.
    peer_tid: Option<libc::pid_t>,
}

/// Blocks SIGUSR1 in the calling thread and returns it as a set.
fn block() -> io::Result<libc::sigset_t> {
    // SAFETY: an all-zero set is valid and emptied before use.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        pthread(blocked, "blocking SIGUSR1").map(|()| set)
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
        let own_pid = own_pid as libc::pid_t;
        let peer = awaited(|| Some(peer_id.load(Ordering::Acquire)).filter(|id| *id != 0));
        let peer = peer as libc::pid_t;
        let (peer_pid, peer_tid) = if threads { (own_pid, Some(peer)) } else { (peer, None) };
        Ok(Self { waited_for, peer_pid, peer_tid })
    }
}

impl Notifier for Signal {
    #[inline(always)]
    fn notify<W: Wait>(&mut self) -> io::Result<()> {
        // SAFETY: integer arguments; the receiver blocked the signal before it told its id.
        let result = match self.peer_tid {
            None => i64::from(unsafe { libc::kill(self.peer_pid, libc::SIGUSR1) }),
            Some(tid) => unsafe {
                libc::syscall(libc::SYS_tgkill, self.peer_pid, tid, libc::SIGUSR1)
            },
        };
        sys::check(result).map(drop).doing("signalling the partner")
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

/// What a thread is reached by.
#[derive(Default)]
struct Side {
    thread: OnceLock<Thread>,
    notified: AtomicBool,
}

/// Where the threads meet: the caller's side, the callee's side.
type Sides = [Arc<Line<Side>>; 2];

/// `park`: Rust's std::thread::park and unpark, with a flag as the predicate:
/// what a channel, a future's executor or a lock in a Rust program sleeps with.
///
/// std keeps a token per thread: unpark leaves it, and wakes the thread by
/// futex(2) only if it is parked; park takes the token, and sleeps only if there
/// is none. So a round trip is two wakes and two waits where both ends sleep, and
/// fewer where an end finds the token already there; that is why the count is
/// a range. Threads only: a handle to a thread means nothing in another process.
pub struct Park {
    own: Arc<Line<Side>>,
    peers: Arc<Line<Side>>,
    peer: Thread,
}

/// Makes the link.
pub fn open_park(_: &Opening<'_>) -> io::Result<Link> {
    let meeting: Sides = Default::default();
    Ok(Link { caller: Half::of_locals([meeting.clone()]), callee: Half::of_locals([meeting]) })
}

impl End for Park {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [callers, callees]: Sides = half.take_local()?;
        let [first, second] = [callers.clone(), callees.clone()];
        let (own, peers) = by_role(attaching.role, (first, second), (callees, callers));
        own.0.thread.get_or_init(std::thread::current);
        let peer = awaited(|| peers.0.thread.get().cloned());
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
