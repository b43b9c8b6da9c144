//! Thin, safe-to-call wrappers of the system calls that hopcost needs. Every
//! measured path goes through `libc`, so that a number is what a C program pays; what
//! comes before and after goes through `rustix`.

use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::event::{EventfdFlags, epoll};
use rustix::fs::MemfdFlags;
use rustix::io::FdFlags;
pub use rustix::process::Signal;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, WaitId, WaitIdOptions};
use rustix::thread::CpuSet;

/// The result of a call that returns -1 and sets errno.
#[inline(always)]
pub fn check<T: Copy + PartialOrd + From<i8>>(result: T) -> io::Result<T> {
    if result < T::from(0) { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Adds what was being done to an error, for the one line the user sees.
#[cold]
#[inline(never)]
pub fn context(error: io::Error, doing: impl Display) -> io::Error {
    io::Error::new(error.kind(), format!("{doing}: {error}"))
}

/// A call that may fail while something is being done.
pub trait Doing<T> {
    /// The same with an error that says what.
    fn doing(self, doing: impl Display) -> io::Result<T>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    #[inline(always)]
    fn doing(self, doing: impl Display) -> io::Result<T> {
        self.map_err(|error| context(error.into(), doing))
    }
}

/// Why a call that everybody may make was refused.
pub fn refused(error: io::Error, call: &str) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS) => context(
            error,
            format_args!(
                "{call}, which a seccomp policy denies (docker run --security-opt seccomp=unconfined, \
                 SystemCallFilter= of a service)"
            ),
        ),
        _ => context(error, call),
    }
}

/// What every trial needs of the kernel, or why it cannot have that.
pub fn usable() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    let try_both = || eventfd().and_then(|_| memfd("hopcost-try", 0)).map(drop);
    KNOWN.get_or_init(|| try_both().map_err(|error| error.to_string())).clone()
}

/// An error of hopcost's own.
#[cold]
#[inline(never)]
pub fn failure(reason: impl Into<String>) -> io::Error {
    io::Error::other(reason.into())
}

/// The same where a loop's code must not hold how the reason is written.
#[cold]
#[inline(never)]
pub fn failure_of(reason: impl FnOnce() -> String) -> io::Error {
    failure(reason())
}

/// Refuses with these words what does not hold.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err($crate::sys::failure_of(|| format!($($words)+)));
        }
    };
}
pub(crate) use ensure;

/// CPUs that this thread may run on (sched_getaffinity(2)), ascending.
pub fn allowed_cpus() -> io::Result<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU as u32).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

/// Pins the calling thread to one CPU (sched_setaffinity(2)).
pub fn pin(cpu: u32) -> io::Result<()> {
    confine(0, &[cpu])
}

/// Confines a thread to these CPUs (sched_setaffinity(2)): the calling one for 0,
/// any of this user's by its id. Threads that it starts later inherit that.
pub fn confine(thread: u32, cpus: &[u32]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        let can_be_set = (cpu as usize) < CpuSet::MAX_CPU;
        ensure!(can_be_set, "CPU {cpu} is beyond what sched_setaffinity takes");
        set.set(cpu as usize);
    }
    let thread = if thread == 0 { None } else { Some(pid(thread)?) };
    Ok(rustix::thread::sched_setaffinity(thread, &set)?)
}

/// The CPU this thread is on right now.
pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

/// This thread's id.
pub fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_pid() as u32
}

/// A clock's time in nanoseconds.
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CPU time of a process of this user, threads that have ended included
/// (clock_getcpuclockid(3)); `None` where it is gone.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the clock is valid for writing.
    let found = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } == 0;
    // That of a process that has gone since is left at 0.
    found.then(|| clock_ns(clock)).filter(|ns| *ns > 0)
}

/// What a refusal of SCHED_FIFO says.
pub const FIFO_NEEDS: &str = "SCHED_FIFO needs CAP_SYS_NICE or an rtprio limit (ulimit -r)";

/// The scheduling policy of the calling thread (sched(7)).
pub fn set_scheduler(policy: libc::c_int, priority: u8) -> io::Result<()> {
    // SAFETY: the structure is plain data and valid for reading.
    let result = unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = i32::from(priority);
        libc::sched_setscheduler(0, policy, &parameters)
    };
    check(result).map(drop)
}

/// Kills this process after `after_ms`, whatever its threads are doing: the
/// default action of SIGALRM. Costs nothing until it fires.
pub fn arm_deadline(after_ms: u64) -> io::Result<()> {
    // SAFETY: resets the action and mask of one signal, from valid data.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
    }
    // A timer of 0 would be none (setitimer(2)).
    ensure!(after_ms > 0, "a deadline must be longer than 0 ms");
    let value = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval {
            tv_sec: (after_ms / 1000) as libc::time_t,
            tv_usec: ((after_ms % 1000) * 1000) as libc::suseconds_t,
        },
    };
    // SAFETY: arms a timer from valid data.
    check(unsafe { libc::setitimer(libc::ITIMER_REAL, &value, std::ptr::null_mut()) }).map(drop)
}

/// Dies with the thread that spawned this process (PR_SET_PDEATHSIG), and at
/// once if that has happened already.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    ensure!(std::os::unix::process::parent_id() == parent, "the parent process is gone");
    Ok(())
}

/// Has a thread of its own do something, so that the affinity and the namespaces of the calling
/// one stay as they are.
///
/// # Errors
/// If there is no thread to be had, or if it fails.
pub fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work);
        let thread = thread.doing("starting a thread (see ulimit -u and pids.max of a cgroup)")?;
        thread.join().map_err(|_| failure("a thread ended without a result"))?
    })
}

/// Has the main thread's stack grow as far as this program needs, where the limit in force is lower
/// (ulimit -s); what it starts inherits that.
pub fn ensure_stack() -> io::Result<()> {
    let needs = "this program takes a stack of 1 MiB";
    ensure_limit(Resource::Stack, (1 << 20, 8 << 20), needs, "ulimit -Hs")
}

/// Sets this process's limit to what is aimed at, or as near as it may, where it is lower than what is
/// needed. Where it may not be as high as that, says what `needs` it and how to raise it.
pub(crate) fn ensure_limit(
    of: Resource,
    (needed, aimed): (u64, u64),
    needs: &str,
    by: &str,
) -> io::Result<()> {
    let Rlimit { current, maximum } = rustix::process::getrlimit(of);
    if current.is_none_or(|now| now >= needed) {
        return Ok(());
    }
    let current = maximum.map_or(aimed, |most| most.min(aimed));
    ensure!(current >= needed, "{needs}, and the limit is {current}: raise it ({by})");
    let current = Some(current);
    Ok(rustix::process::setrlimit(of, Rlimit { current, maximum })?)
}

/// Marks every descriptor from 3 up close-on-exec, so that those of the user's
/// shell do not reach the workers.
pub fn close_on_exec_from_3() {
    // SAFETY: only changes flags; where the kernel lacks the call (before 5.11) nothing happens.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 4u32 /* CLOSE_RANGE_CLOEXEC */)
    };
}

/// Has a descriptor survive exec.
pub fn keep_over_exec(fd: &impl AsFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(fd, FdFlags::empty())?)
}

/// Sets O_NONBLOCK on the open file description.
pub fn set_nonblocking(fd: &impl AsFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(fd, true)?)
}

/// read(2), or a look that never sleeps, whatever the descriptor.
#[inline(always)]
pub fn read(fd: &impl AsRawFd, buffer: &mut [u8], look: Look) -> io::Result<usize> {
    let (fd, len) = (fd.as_raw_fd(), buffer.len());
    // SAFETY: the buffer is valid for its length.
    let result = unsafe {
        match look {
            Look::AsOpened => libc::read(fd, buffer.as_mut_ptr().cast(), len) as libc::c_long,
            Look::AtSocket => {
                libc::recv(fd, buffer.as_mut_ptr().cast(), len, libc::MSG_DONTWAIT) as libc::c_long
            }
            Look::Now => {
                let vector = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: len };
                preadv2(fd, &vector)
            }
        }
    };
    check(result).map(|bytes| bytes as usize)
}

/// write(2): how many bytes were written.
#[inline(always)]
pub fn write(fd: &impl AsRawFd, buffer: &[u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::write(fd.as_raw_fd(), buffer.as_ptr().cast(), buffer.len()) };
    check(result).map(|bytes| bytes as usize)
}

/// send(2): how many bytes were sent. Without MSG_NOSIGNAL a dead partner would end this process
/// silently.
#[inline(always)]
pub fn send(socket: &impl AsRawFd, buffer: &[u8], flags: libc::c_int) -> io::Result<usize> {
    let (fd, at, len) = (socket.as_raw_fd(), buffer.as_ptr().cast(), buffer.len());
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::send(fd, at, len, flags | libc::MSG_NOSIGNAL) };
    check(result).map(|bytes| bytes as usize)
}

/// recv(2): how many bytes came.
#[inline(always)]
pub fn receive(socket: &impl AsRawFd, buffer: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
    let (fd, at, len) = (socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len());
    // SAFETY: the buffer is valid for its length.
    let result = unsafe { libc::recv(fd, at, len, flags) };
    check(result).map(|bytes| bytes as usize)
}

/// Makes a call again each time that a signal interrupts it.
#[inline(always)]
pub fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Whether a look at a descriptor takes it that there is nothing, or sleeps as it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It sleeps, unless the descriptor is non-blocking.
    AsOpened,
    /// It never does: MSG_DONTWAIT.
    AtSocket,
    /// It never does: RWF_NOWAIT, preadv2(2).
    Now,
}

/// preadv2(2) of one vector from where the descriptor stands, with RWF_NOWAIT.
///
/// # Safety
/// What the vector names is valid for writing, or nothing at all, which gives EFAULT.
#[inline(always)]
unsafe fn preadv2(fd: RawFd, vector: &libc::iovec) -> libc::c_long {
    // SAFETY: one vector is passed as one; -1 is the position, in two halves.
    unsafe {
        let vector: *const libc::iovec = vector;
        libc::syscall(libc::SYS_preadv2, fd, vector, 1, -1_i64, -1_i64, libc::RWF_NOWAIT)
    }
}

/// Whether [`Look::Now`] works with this pipe (Linux 6.4) or eventfd. What there is to be read
/// stays there: a byte of it has nowhere to go, and an eventfd gives no less than eight.
pub fn can_look(fd: &OwnedFd) -> bool {
    let nowhere = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 1 };
    // SAFETY: the vector names nothing.
    match check(unsafe { preadv2(fd.as_raw_fd(), &nowhere) }) {
        Ok(_) => true,
        Err(error) => !matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)),
    }
}

/// Takes ownership of descriptor numbers that were inherited for this purpose.
/// Refuses the standard ones and any that is not open.
pub fn adopt(numbers: &[i32]) -> io::Result<Vec<OwnedFd>> {
    for (at, &number) in numbers.iter().enumerate() {
        // SAFETY: fcntl with integer arguments.
        let open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
        let is_ours = number >= 3 && open && !numbers[..at].contains(&number);
        ensure!(is_ours, "descriptor {number} was not inherited");
    }
    // SAFETY: each is open, above 2 and named once; nothing else in a worker owns descriptors
    // before it attaches, because it was just started.
    Ok(numbers.iter().map(|&number| unsafe { OwnedFd::from_raw_fd(number) }).collect())
}

/// An anonymous file in memory (memfd_create(2)) of this size, close-on-exec.
pub fn memfd(name: &str, bytes: u64) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(|error| refused(error.into(), "memfd_create(2)"))?;
    rustix::fs::ftruncate(&fd, bytes)?;
    Ok(fd)
}

/// A counter that can be waited for (eventfd(2)), close-on-exec.
pub fn eventfd() -> io::Result<OwnedFd> {
    eventfd_with(EventfdFlags::empty())
}

/// The same with these flags besides.
pub(crate) fn eventfd_with(flags: EventfdFlags) -> io::Result<OwnedFd> {
    rustix::event::eventfd(0, EventfdFlags::CLOEXEC | flags)
        .map_err(|error| refused(error.into(), "eventfd(2)"))
}

/// An epoll instance for these events of descriptors, each told by its place among them (epoll(7)).
pub fn epoll(watched: &[&OwnedFd], events: libc::c_int) -> io::Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let events = epoll::EventFlags::from_bits_retain(events as u32);
    for (place, fd) in (0..).zip(watched) {
        epoll::add(&epoll, fd, epoll::EventData::new_u64(place), events)?;
    }
    Ok(epoll)
}

/// An event that epoll has yet to tell of.
pub const NO_EVENT: libc::epoll_event = libc::epoll_event { events: 0, u64: 0 };

/// Sleeps until descriptors are ready (epoll_wait(2)): how many events it has put there, none where a
/// signal came.
#[inline(always)]
pub fn epoll_wait(epoll: &OwnedFd, events: &mut [libc::epoll_event]) -> io::Result<usize> {
    let (epoll, room) = (epoll.as_raw_fd(), events.len() as libc::c_int);
    // SAFETY: there is room for as many events as it says.
    match check(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), room, -1) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        found => found.map(|found| found as usize),
    }
}

/// A number that the kernel keeps in a file because it has something.
pub fn limit(path: &str, of: &str) -> Result<usize, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("this kernel has no {of} ({path}: {error})"))?;
    text.trim().parse().map_err(|_| format!("{path} holds no number"))
}

/// Refuses a message that is longer than what the kernel has there.
pub fn ensure_within(path: &str, of: &str, bytes: usize) -> io::Result<()> {
    let most = limit(path, of).map_err(failure)?;
    ensure!(bytes <= most, "a message of {bytes} bytes is longer than {path} allows ({most})");
    Ok(())
}

/// Sends a signal to a process group.
pub fn kill_group(leader: u32) {
    if let Ok(leader) = pid(leader)
        && leader != Pid::INIT
    {
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    }
}

/// A descriptor that stands for a process, whoever has its number later; readable once it has
/// ended (pidfd_open(2)).
pub fn open_process(id: u32) -> io::Result<OwnedFd> {
    Ok(rustix::process::pidfd_open(pid(id)?, PidfdFlags::empty())?)
}

/// A process or a thread by its id.
pub(crate) fn pid(id: u32) -> io::Result<Pid> {
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    id.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))
}

/// Sends a signal to a process, by its descriptor (pidfd_send_signal(2)).
pub fn signal_process(process: &OwnedFd, signal: Signal) -> io::Result<()> {
    Ok(rustix::process::pidfd_send_signal(process, signal)?)
}

/// Whether a child was stopped and went on since this was last asked (waitid(2)).
pub fn was_stopped(child: u32) -> bool {
    let options = WaitIdOptions::CONTINUED | WaitIdOptions::NOHANG;
    pid(child).is_ok_and(|child| {
        matches!(rustix::process::waitid(WaitId::Pid(child), options), Ok(Some(_)))
    })
}

/// getppid(2), the cheapest call that really enters the kernel.
#[inline(always)]
pub fn getppid() -> u64 {
    // SAFETY: no arguments.
    unsafe { libc::getppid() as u64 }
}

/// sched_yield(2).
#[inline(always)]
pub fn sched_yield() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

/// A time as the kernel takes it.
pub const fn timespec(ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    }
}

/// Sleeps for this long, whatever signals come (clock_nanosleep(2)).
#[inline(always)]
pub fn sleep(time: libc::timespec) {
    let mut rest = time;
    // SAFETY: both point to a live value; the kernel reads the first before it writes the
    // second, and writes it only when a signal came, which is when it is needed.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const rest, &raw mut rest) }
        == libc::EINTR
    {}
}

/// Sleeps until a descriptor may be ready for these events (poll(2)), and says for which; may return
/// early.
pub fn poll_one(fd: &impl AsRawFd, events: libc::c_short) -> io::Result<libc::c_short> {
    let mut polled = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    // SAFETY: one entry is passed as one entry.
    match check(unsafe { libc::poll(&raw mut polled, 1, -1) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(polled.revents),
    }
}

/// Whether descriptor 1 was closed when the process began.
static STDOUT_WAS_CLOSED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Runs before `main`, where Rust opens /dev/null in place of a closed descriptor.
#[used]
// SAFETY: the loader calls what stands in this section once, with one thread running.
#[unsafe(link_section = ".init_array")]
static LOOK_AT_STDOUT: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: fcntl with integer arguments.
        let closed = unsafe { libc::fcntl(1, libc::F_GETFD) } < 0;
        STDOUT_WAS_CLOSED.store(closed, std::sync::atomic::Ordering::Relaxed);
    }
    look
};

/// Whether standard output was closed when the process began, so that what is written
/// there is lost without an error.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(std::sync::atomic::Ordering::Relaxed)
}

/// This process's effective user id.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether a file has an access list (acl(5)) beyond its mode, by which others may have rights.
pub fn has_access_list(path: &Path) -> bool {
    rustix::fs::getxattr_query(path, "system.posix_acl_access").is_ok_and(|bytes| bytes > 0)
}

/// What the kernel knows of a System V message queue (msgctl(2)).
pub fn sysv_queue(id: i32) -> io::Result<libc::msqid_ds> {
    // SAFETY: the structure is plain data and valid for writing.
    unsafe {
        let mut state: libc::msqid_ds = std::mem::zeroed();
        check(libc::msgctl(id, libc::IPC_STAT, &mut state))?;
        Ok(state)
    }
}

/// Has msgget(2) make a System V message queue, for this user alone, of a key that none has.
pub const NEW_QUEUE: libc::c_int = libc::IPC_CREAT | libc::IPC_EXCL | 0o600;

/// The id of the System V message queue of a key, which these flags may have made (msgget(2)).
pub fn sysv_queue_of(key: i32, flags: libc::c_int) -> io::Result<i32> {
    // SAFETY: integer arguments.
    check(unsafe { libc::msgget(key, flags) })
}

/// How long after it was noted a queue may have been created, in seconds.
const NOTED_WITHIN_S: i64 = 60;

/// Removes the System V message queue of a key that this user created soon after it was noted, in
/// seconds since 1970: another program may have a queue of that key. Says whether it was one and is gone.
pub fn remove_sysv_queue(key: i32, noted_s: i64) -> bool {
    let user = user_id();
    let ours = |queue: libc::msqid_ds| {
        // The kernel takes the time of its last tick, which may lie in the second before.
        let noted = (noted_s - 1..=noted_s + NOTED_WITHIN_S).contains(&queue.msg_ctime);
        queue.msg_perm.cuid == user && queue.msg_perm.uid == user && noted
    };
    let Some(id) = sysv_queue_of(key, 0).ok().filter(|id| sysv_queue(*id).is_ok_and(ours)) else {
        return false;
    };
    // SAFETY: msgctl with integer arguments and no buffer.
    unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) == 0 }
}

/// Reads an integer option of a socket.
pub fn get_option(socket: &impl AsRawFd, level: i32, option: i32) -> io::Result<i32> {
    let (mut value, mut len) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: the value is valid for writing, and its size is its own.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut len)
    };
    check(result).map(|_| value)
}

/// Sets an integer option of a socket and makes sure that it took.
pub fn set_option(
    socket: &impl AsRawFd,
    level: i32,
    option: i32,
    value: i32,
    name: &str,
) -> io::Result<()> {
    // SAFETY: the value is valid for reading, and its size is its own.
    let result = unsafe {
        let (at, bytes) = ((&raw const value).cast(), size_of::<i32>() as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), level, option, at, bytes)
    };
    check(result).doing(format_args!("setting {name}"))?;
    let is_taken = (get_option(socket, level, option)? != 0) == (value != 0);
    ensure!(is_taken, "the kernel did not take the setting of {name}");
    Ok(())
}
