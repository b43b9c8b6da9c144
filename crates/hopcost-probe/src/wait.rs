//! How an end waits, as a type parameter of the loops: adding a wait touches
//! this file and not the mechanisms.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::{Case, WaitKind};

use crate::clock::{Clock, Hardware};
use crate::sys::{self, Look, get_option};

/// A wait, known at compile time.
pub trait Wait: 'static {
    const KIND: WaitKind;
}

macro_rules! waits {
    ($($name:ident),+) => { $(
        /// The wait of this name.
        pub struct $name;
        impl Wait for $name { const KIND: WaitKind = WaitKind::$name; }
    )+ };
}
waits!(Block, Spin, Yield, SpinThenBlock, Epoll, EpollEdge);

/// What is done with the wait that a case names, once it is known as a type.
pub trait WithWait {
    /// What comes of it.
    type Output;
    fn with<W: Wait>(self) -> io::Result<Self::Output>;
}

/// The waits that a mechanism has loops for: a tuple of them, so that no others are
/// compiled, or [`AtRunTime`].
pub trait Waits {
    /// Does `then` with the wait of this kind, if there are loops for it.
    fn choose<T: WithWait>(kind: WaitKind, then: T) -> io::Result<T::Output>;
}

macro_rules! tuples {
    ($($($wait:ident)+;)+) => { $(
        impl<$($wait: Wait),+> Waits for ($($wait,)+) {
            fn choose<T: WithWait>(kind: WaitKind, then: T) -> io::Result<T::Output> {
                match kind {
                    $(kind if kind == $wait::KIND => then.with::<$wait>(),)+
                    _ => Err(sys::failure(format!("this mechanism has no wait `{kind}`"))),
                }
            }
        }
    )+ };
}
tuples! { A; A B; A B C; A B C D; A B C D E F; }

/// Every wait there is: those of a descriptor.
pub type Every = (Block, Spin, Yield, SpinThenBlock, Epoll, EpollEdge);

/// Every wait but that which takes a descriptor.
pub type WithoutFd = (Block, Spin, Yield, SpinThenBlock);

/// The mechanism itself looks up how its end waits when it attaches, as where a library
/// owns the loop in which it waits: the type that its methods are given means nothing.
pub struct AtRunTime;

impl Waits for AtRunTime {
    fn choose<T: WithWait>(_: WaitKind, then: T) -> io::Result<T::Output> {
        then.with::<Block>()
    }
}

/// Whether an end that waits like this may be asleep in the kernel, so that
/// its partner has to wake it.
pub fn may_sleep(kind: WaitKind) -> bool {
    kind.sleeps() || matches!(kind, WaitKind::SpinThenBlock)
}

/// How an end spins.
#[derive(Debug, Clone, Copy)]
pub struct Spinning {
    /// Whether there is a pause instruction between two looks.
    pauses: bool,
    /// For how long, where it sleeps afterwards.
    budget_ticks: u64,
}

impl Spinning {
    /// As a case says.
    pub fn of(case: &Case, budget_ticks: u64) -> Self {
        Self { pauses: case.parameter("pause") != Some("0"), budget_ticks }
    }
    /// Between two looks.
    #[inline(always)]
    fn pause(self) {
        if self.pauses {
            std::hint::spin_loop();
        }
    }
}

/// Tries between two looks at the clock while spinning on a budget.
const TRIES_PER_LOOK: u32 = 16;

/// Waits in memory: `ready` looks, `sleep` blocks until it may be worth looking
/// again (and may return early).
#[inline(always)]
pub fn until<W: Wait>(
    spinning: Spinning,
    mut ready: impl FnMut() -> bool,
    mut sleep: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    match W::KIND {
        WaitKind::Spin => {
            while !ready() {
                spinning.pause();
            }
        }
        WaitKind::Yield => {
            while !ready() {
                sys::sched_yield();
            }
        }
        kind => {
            if kind == WaitKind::SpinThenBlock && spin_on_budget(spinning, &mut ready) {
                return Ok(());
            }
            while !ready() {
                sleep()?;
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn spin_on_budget(spinning: Spinning, ready: &mut impl FnMut() -> bool) -> bool {
    let (start, _) = Hardware::stamp();
    loop {
        for _ in 0..TRIES_PER_LOOK {
            if ready() {
                return true;
            }
            spinning.pause();
        }
        if Hardware::stamp().0.wrapping_sub(start) > spinning.budget_ticks {
            return false;
        }
    }
}

/// What an end needs to wait on a descriptor.
pub struct FdWait {
    /// How its end waits, where a library owns the loop.
    pub kind: WaitKind,
    budget_ticks: u64,
    epoll: Option<OwnedFd>,
    /// How an end that spins for a while looks at the descriptor.
    spinning: Look,
}

impl FdWait {
    /// Prepares a descriptor for the wait of this end: non-blocking where it must be,
    /// registered with an epoll instance of its own for `epoll` and `epoll-edge`. An end that
    /// spins for a while looks in this way; a look as it was opened takes O_NONBLOCK, and then a
    /// poll(2) to sleep.
    pub fn prepare(
        kind: WaitKind,
        fd: &OwnedFd,
        look_at: fn(&OwnedFd) -> Look,
        budget_ticks: u64,
    ) -> io::Result<Self> {
        let spinning = match kind {
            WaitKind::SpinThenBlock => look_at(fd),
            _ => Look::AsOpened,
        };
        if kind != WaitKind::Block && spinning == Look::AsOpened {
            sys::set_nonblocking(fd)?;
        }
        let epoll = match kind {
            WaitKind::Epoll => Some(sys::epoll(&[fd], libc::EPOLLIN)?),
            WaitKind::EpollEdge => Some(sys::epoll(&[fd], libc::EPOLLIN | libc::EPOLLET)?),
            _ => None,
        };
        Ok(Self { kind, budget_ticks, epoll, spinning })
    }

    /// The same of what has no descriptor, and looks without sleeping where it is told to.
    pub const fn without_fd(kind: WaitKind, budget_ticks: u64) -> Self {
        Self { kind, budget_ticks, epoll: None, spinning: Look::AtSocket }
    }

    /// Repeats `attempt` (a system call on the descriptor that returns the
    /// bytes it moved, or EAGAIN when there is nothing) as `kind` says: a constant,
    /// unless a library owns the loop.
    #[inline(always)]
    pub fn receive(
        &self,
        kind: WaitKind,
        fd: &impl AsRawFd,
        mut attempt: impl FnMut(Look) -> io::Result<usize>,
    ) -> io::Result<usize> {
        match kind {
            WaitKind::Block => sys::uninterrupted(|| attempt(Look::AsOpened)),
            WaitKind::Spin | WaitKind::Yield => loop {
                match attempt(Look::AsOpened) {
                    Err(error) if !would_block(&error) => return Err(error),
                    Err(_) if kind == WaitKind::Yield => sys::sched_yield(),
                    Err(_) => {}
                    done => return done,
                }
            },
            WaitKind::SpinThenBlock => {
                let (start, _) = Hardware::stamp();
                let mut look = self.spinning;
                loop {
                    match attempt(look) {
                        Err(error) if would_block(&error) => {
                            if Hardware::stamp().0.wrapping_sub(start) > self.budget_ticks {
                                match self.spinning {
                                    Look::AsOpened => drop(sys::poll_one(fd, libc::POLLIN)?),
                                    Look::AtSocket | Look::Now => look = Look::AsOpened,
                                }
                            }
                        }
                        done => return done,
                    }
                }
            }
            WaitKind::Epoll => loop {
                self.epoll_wait()?;
                match attempt(Look::AsOpened) {
                    Err(error) if would_block(&error) => {}
                    done => return done,
                }
            },
            // epoll reports an arrival once, so there is nothing left when this waits (epoll(7)).
            WaitKind::EpollEdge => loop {
                match attempt(Look::AsOpened) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if would_block(&error) => self.epoll_wait()?,
                    done => return done,
                }
            },
        }
    }

    fn epoll_wait(&self) -> io::Result<()> {
        let Some(epoll) = &self.epoll else { return Err(sys::failure("no epoll instance")) };
        sys::epoll_wait(epoll, &mut [sys::NO_EVENT]).map(drop)
    }
}

/// Descriptors taken at once from the kernel.
const READY_MAX: usize = 64;

/// Which of several descriptors have something to read (epoll(7)).
pub struct Ready {
    epoll: OwnedFd,
    events: [libc::epoll_event; READY_MAX],
    /// Of these, found and taken.
    found: usize,
    taken: usize,
}

impl Ready {
    /// Of these, by their places.
    pub fn of(watched: &[&OwnedFd]) -> io::Result<Self> {
        let epoll = sys::epoll(watched, libc::EPOLLIN)?;
        Ok(Self { epoll, events: [sys::NO_EVENT; READY_MAX], found: 0, taken: 0 })
    }
    /// The place of the next that has something to read, once there is one.
    #[inline(always)]
    pub fn take(&mut self) -> io::Result<usize> {
        while self.taken == self.found {
            (self.found, self.taken) = (sys::epoll_wait(&self.epoll, &mut self.events)?, 0);
        }
        let place = self.events[self.taken].u64;
        self.taken += 1;
        Ok(place as usize)
    }
}

/// How to look at a descriptor that gives a stream so that the same call can sleep afterwards.
/// Not at Unix stream sockets: who sleeps in a receive there is woken, for nothing, by what makes
/// room for its own writes, and who sleeps in poll(2) is not.
pub fn look_at(fd: &OwnedFd) -> Look {
    let domain = get_option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN);
    match domain {
        Ok(libc::AF_UNIX) => Look::AsOpened,
        Ok(_) => Look::AtSocket,
        Err(_) if sys::can_look(fd) => Look::Now,
        Err(_) => Look::AsOpened,
    }
}

#[inline(always)]
fn would_block(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ENOMSG))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message may be there before an end has attached.
    #[test]
    fn asking_how_to_look_takes_nothing() {
        use std::os::fd::FromRawFd;
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, &1u64.to_ne_bytes()).unwrap();
        // SAFETY: the new descriptor is owned at once.
        let event = unsafe { OwnedFd::from_raw_fd(libc::eventfd(1, libc::EFD_CLOEXEC)) };
        for fd in [OwnedFd::from(reader), event] {
            let mut count = [0; 8];
            let look = look_at(&fd);
            assert_ne!(look, Look::AtSocket);
            assert_eq!(sys::read(&fd, &mut count, Look::AsOpened).unwrap(), 8);
            assert_eq!(u64::from_ne_bytes(count), 1);
            if look == Look::Now {
                let nothing = sys::read(&fd, &mut count, look).unwrap_err();
                assert!(would_block(&nothing), "{nothing}");
            }
        }
    }
}
