//! The shapes a mechanism can have, and the link that joins two ends.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use hopcost_model::{Case, Role, ScheduleSeed, WaitKind};

use crate::clock::rough_ticks;
use crate::memory::{Backing, Scope, Shared};
use crate::sys::Look;
use crate::wait::{FdWait, Wait, Waits};

/// One end's half of a link: what it needs to reach the other end. Consumed by
/// attaching; no process keeps a descriptor of the other half, or end-of-file
/// never comes.
#[derive(Default)]
pub struct Half {
    /// Descriptors, in an order that the mechanism knows.
    pub fds: Vec<OwnedFd>,
    pub names: Vec<String>,
    /// Memory of this process, where both ends are its threads.
    pub memory: Vec<Arc<Shared>>,
    /// In-process objects, where there is neither descriptor nor name: one for each end that
    /// shares the link.
    pub locals: Vec<Box<dyn Any + Send>>,
}

impl Half {
    /// A half of descriptors alone.
    pub fn of_fds(fds: impl IntoIterator<Item = OwnedFd>) -> Self {
        Half { fds: fds.into_iter().collect(), ..Half::default() }
    }

    /// A half that is in-process objects, one for each end that shares it.
    pub fn of_locals<T: Send + 'static>(objects: impl IntoIterator<Item = T>) -> Self {
        let locals = objects.into_iter().map(|object| Box::new(object) as Box<dyn Any + Send>);
        Half { locals: locals.collect(), ..Half::default() }
    }

    /// A half for each of several ends: descriptors are duplicated, in-process objects handed out,
    /// and everything else is the same.
    pub fn shared_by(mut self, ends: u32) -> io::Result<Vec<Half>> {
        let mut halves = Vec::new();
        for _ in 1..ends {
            let fds = self.fds.iter().map(OwnedFd::try_clone).collect::<io::Result<_>>()?;
            let (names, memory) = (self.names.clone(), self.memory.clone());
            let locals = self.locals.pop().into_iter().collect();
            halves.push(Half { fds, names, memory, locals });
        }
        halves.push(self);
        halves.reverse();
        Ok(halves)
    }

    /// The descriptors, if there are exactly `N`.
    pub fn take_fds<const N: usize>(self) -> io::Result<[OwnedFd; N]> {
        let found = self.fds.len();
        self.fds.try_into().map_err(|_| {
            crate::sys::failure(format!("this end needs {N} descriptors and was given {found}"))
        })
    }

    /// The memory that was last added to the link ([`Link::add_memory`]).
    pub fn take_memory(&mut self, bytes: usize) -> io::Result<Arc<Shared>> {
        if let Some(memory) = self.memory.pop() {
            return Ok(memory);
        }
        let missing = || crate::sys::failure("the shared memory is missing");
        Shared::map(&self.fds.pop().ok_or_else(missing)?, bytes)
    }

    /// The in-process object.
    pub fn take_local<T: 'static>(mut self) -> io::Result<T> {
        self.locals
            .pop()
            .and_then(|object| object.downcast().ok())
            .map(|object| *object)
            .ok_or_else(|| crate::sys::failure("this end needs its partner in the same process"))
    }
}

/// What joins the two ends.
#[derive(Default)]
pub struct Link {
    /// The caller's half.
    pub caller: Half,
    /// The callee's half.
    pub callee: Half,
}

impl Link {
    /// Both ends have the same memory.
    pub fn of_memory(memory: Backing) -> io::Result<Self> {
        let mut link = Link::default();
        link.add_memory(memory)?;
        Ok(link)
    }
    /// Adds memory that both ends have, last in both halves.
    pub fn add_memory(&mut self, memory: Backing) -> io::Result<()> {
        match memory {
            Backing::File(fd) => {
                self.caller.fds.push(fd.try_clone()?);
                self.callee.fds.push(fd);
            }
            Backing::Mapping(mapping) => {
                self.caller.memory.push(Arc::clone(&mapping));
                self.callee.memory.push(mapping);
            }
        }
        Ok(())
    }
    /// Each end has one descriptor of a connected pair.
    pub fn of_pair<T: Into<OwnedFd>>(ends: [T; 2]) -> Self {
        let [caller, callee] = ends.map(|end| Half::of_fds([end.into()]));
        Link { caller, callee }
    }
    /// Two one-way paths, each as its reading and its writing end. Each end gets only what
    /// it uses (incoming, outgoing), so that end-of-file comes when the other is gone.
    pub fn of_two_ways(request: [OwnedFd; 2], reply: [OwnedFd; 2]) -> Self {
        let [request_read, request_write] = request;
        let [reply_read, reply_write] = reply;
        Link {
            caller: Half::of_fds([reply_read, request_write]),
            callee: Half::of_fds([request_read, reply_write]),
        }
    }
}

/// What opening a link may depend on.
pub struct Opening<'a> {
    pub case: &'a Case,
    /// A directory for names (FIFOs, sockets); gone with the run.
    pub scratch: &'a Path,
}

impl Opening<'_> {
    /// Bytes per message.
    pub fn payload(&self) -> usize {
        self.case.payload_bytes.unwrap_or(0) as usize
    }
    /// New memory for both ends.
    pub fn memory(&self, bytes: usize) -> io::Result<Backing> {
        Backing::new(bytes, Scope::of(self.case))
    }
    /// A path in the scratch directory, unused so far in this process.
    pub fn fresh_path(&self, stem: &str) -> std::path::PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.scratch.join(format!("{stem}-{}-{number}", std::process::id()))
    }
}

/// What attaching may depend on.
pub struct Attaching<'a> {
    pub case: &'a Case,
    /// Which end this is.
    pub role: Role,
    /// The spin budget in clock ticks.
    pub budget_ticks: u64,
    /// The trial's number, for engines whose trials differ.
    pub trial: u32,
    /// Which flow of a stream or sender of a load this is, from 0.
    pub flow: u32,
    /// The memory in which the two ends of a `wake` or a `load` meet.
    pub meeting: Option<&'a OwnedFd>,
    /// What the times follow from at which a `load` sends.
    pub schedule: Option<ScheduleSeed>,
    /// Ids of the threads that this end has started.
    pub helpers: RefCell<Vec<u32>>,
}

impl<'a> Attaching<'a> {
    /// An end of the first trial of a case, of its first flow, without a meeting.
    pub fn new(case: &'a Case, role: Role) -> Self {
        let budget_ticks = case.spin_budget_ns.map_or(0, rough_ticks);
        let helpers = RefCell::default();
        let (trial, flow, meeting, schedule) = (0, 0, None, None);
        Attaching { case, role, budget_ticks, trial, flow, meeting, schedule, helpers }
    }
    /// Bytes per message.
    pub fn payload(&self) -> usize {
        self.case.payload_bytes.unwrap_or(0) as usize
    }
    /// How this end waits.
    pub fn wait(&self) -> WaitKind {
        self.case.wait(self.role)
    }
    /// What it needs to wait on a descriptor, at which it looks in this way while it spins for a while.
    pub fn fd_wait(&self, fd: &OwnedFd, look_at: fn(&OwnedFd) -> Look) -> io::Result<FdWait> {
        FdWait::prepare(self.wait(), fd, look_at, self.budget_ticks)
    }
    /// Starts a thread that works for this end: what it does counts as done by the end.
    pub fn start_helper(
        &self,
        name: &str,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        let (id_out, id) = mpsc::channel();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            // The other side waits for it below.
            let _ = id_out.send(crate::sys::thread_id());
            work();
        })?;
        let id = id.recv().map_err(|_| crate::sys::failure("a helper thread did not start"))?;
        self.helpers.borrow_mut().push(id);
        Ok(thread)
    }
    /// The value of a declared parameter.
    pub fn parameter(&self, name: &str) -> &str {
        self.case.parameter(name).unwrap_or_default()
    }
}

/// One of two ends that have met. Mechanisms that differ only in how their ends meet have the
/// same, and so the compiled loops.
pub trait End: Sized + 'static {
    /// The waits that there are loops for: those of its facts.
    type Waits: Waits;
    /// Takes one end of a link; both ends do so at the same time.
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self>;
}

/// Only wakes: carries no payload. One generic adapter adds a shared buffer.
///
/// What an end wrote before it notified, its partner sees when its wait has returned, without
/// a fence of the adapter's: a word that is stored with Release and loaded with Acquire orders
/// that, and so does whatever lock a library's or the kernel's notification goes through.
pub trait Notifier {
    /// Tells the other end, once; releases what was written before.
    fn notify<W: Wait>(&mut self) -> io::Result<()>;
    /// Waits for one notification; acquires what was written before that.
    fn wait<W: Wait>(&mut self) -> io::Result<()>;
}

/// How a channel delivers messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Each arrives, once.
    Reliable,
    /// The same, but that one may be sent only when the one before has been taken: there is one
    /// buffer, and a second notification might be none.
    OneByOne,
    /// Each arrives, once, and an empty one says that the other end is gone.
    EmptyAtEnd,
    /// One can be lost. Then the caller's `recv` in a round trip fails with
    /// [`io::ErrorKind::TimedOut`] when nothing came for a while, and one that is sent again is known by
    /// its number.
    Lossy,
    /// The same of messages without payload, of which each looks like the next.
    LossyAndAlike,
}

impl Delivery {
    /// Whether a message can be lost.
    pub fn loses(self) -> bool {
        matches!(self, Self::Lossy | Self::LossyAndAlike)
    }
}

/// Moves messages between two ends, with a loan-style interface, so that copying
/// and copy-free paths cost what they cost and no more.
pub trait Channel {
    /// How it delivers them.
    #[inline(always)]
    fn delivery(&self) -> Delivery {
        Delivery::Reliable
    }
    /// A place to write a message of `len` bytes into; may wait for room. Every message of an end
    /// is as long as the payload that it attached with, so that one with a buffer of its own
    /// lends and sends all of it, and checks nothing in the loop.
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]>;
    /// Sends what was written into the slot.
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()>;
    /// The next message, lent until the next call.
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]>;
}
