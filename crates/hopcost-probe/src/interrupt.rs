//! Interrupts, and calls that wait with one in view: no call of the control process blocks
//! without a deadline, and a signal ends the process within a second wherever it is.
//!
//! A wait here is poll(2) on a descriptor and on the interrupt. What cannot be polled (a disk, a
//! process that is being killed) ends with the process: a thread sleeps until a signal comes, and
//! ends everything where the process has not ended in time. A worker catches no signals, and the
//! same calls wait there for their deadline alone.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::EventfdFlags;
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{SocketAddrUnix, SocketFlags, SocketType};

use crate::sys::{self, Doing, check, ensure, eventfd_with, failure};

/// How long the process may take to end by itself after an interrupt.
const GRACE: Duration = Duration::from_millis(800);
/// How long it may take where it shows what is finished, unless a second interrupt comes.
const REPORT: Duration = Duration::from_secs(10);
/// How long a document may go on after an interrupt to a reader that takes it.
const READER: Duration = Duration::from_millis(300);
/// How long a line of our own waits for room.
const SAID: Duration = Duration::from_millis(100);
/// Bytes that a pipe takes without blocking once poll(2) calls it writable (PIPE_BUF).
const AT_ONCE: usize = 4096;
/// Between two looks whether a call that never returns has to.
const LOOK: Duration = Duration::from_millis(5);
/// Interrupts after which nothing is tidied up; the first few may come at once (timeout(1)
/// signals a process and its group).
const INTERRUPTS_MAX: u32 = 5;

/// Signals that end a process and say nothing of its state: all but SIGQUIT, which
/// is to leave everything as it stands.
const INTERRUPTS: [libc::c_int; 9] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGXCPU,
];

static EVENT: AtomicI32 = AtomicI32::new(-1);
static SEEN: AtomicU32 = AtomicU32::new(0);
static REPORTS: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    let one = 1u64;
    // SAFETY: write(2) and _exit(2) are async-signal-safe; the descriptor lives as long as the process.
    unsafe {
        if SEEN.fetch_add(1, Ordering::Relaxed) + 1 >= INTERRUPTS_MAX {
            libc::_exit(130);
        }
        libc::write(EVENT.load(Ordering::Relaxed), (&raw const one).cast(), 8);
    }
}

/// From now on, a signal that would end the process makes [`event`]
/// readable instead; the fifth ends it. One that was ignored at the start stays so:
/// nohup(1) has SIGHUP ignored, a shell SIGINT for what it runs in the background.
/// A file that grows over its limit is an error (EFBIG) and not SIGXFSZ.
pub fn catch() -> io::Result<()> {
    EVENT.store(eventfd_with(EventfdFlags::NONBLOCK)?.into_raw_fd(), Ordering::Relaxed);
    // SAFETY: each action is valid; the handler only writes to a descriptor that is never closed.
    unsafe {
        for signal in INTERRUPTS {
            let mut action: libc::sigaction = std::mem::zeroed();
            check(libc::sigaction(signal, std::ptr::null(), &mut action))?;
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            // Without SA_RESTART: a call that blocks all the same returns with EINTR.
            action = std::mem::zeroed();
            action.sa_sigaction = note as *const () as usize;
            check(libc::sigaction(signal, &action, std::ptr::null_mut()))?;
        }
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    Ok(())
}

/// Readable once an interrupt has come; no descriptor where none is caught.
pub fn event() -> RawFd {
    EVENT.load(Ordering::Relaxed)
}

/// From now on, what is finished is read and shown.
pub fn report() {
    REPORTS.store(true, Ordering::Relaxed);
}

/// Whether an interrupt has come.
pub fn came() -> bool {
    SEEN.load(Ordering::Relaxed) > 0
}

/// Has a thread end the process where it has not ended by itself soon after an interrupt; `tidy`
/// is what must not be left undone. Without a thread to be had, the fifth interrupt ends it.
pub fn ensure_end(tidy: impl FnOnce() + Send + 'static) {
    let wait = move || {
        let mut polled = [readable(event())];
        while poll(&mut polled, None).is_err() || polled[0].revents == 0 {}
        std::thread::sleep(GRACE);
        let until = Instant::now() + REPORT;
        let reports = || REPORTS.load(Ordering::Relaxed) && SEEN.load(Ordering::Relaxed) == 1;
        while reports() && Instant::now() < until {
            std::thread::sleep(READER);
        }
        tidy();
        say("hopcost: interrupted; finished trials are kept\n");
        // SAFETY: an integer argument; nothing else of this process is to run.
        unsafe { libc::_exit(130) };
    };
    let thread = std::thread::Builder::new().name("hopcost-end".into()).stack_size(128 << 10);
    // It sleeps until the process ends.
    drop(thread.spawn(wait));
}

/// Writes a line to standard error; what nobody makes room for in a moment is dropped.
pub fn say(line: &str) {
    if is_writable(libc::STDERR_FILENO, SAID) {
        let _ = sys::write(&libc::STDERR_FILENO, line.as_bytes());
    }
}

/// Whether a line that is drawn now would not block: a terminal may be stopped.
pub fn is_drawable() -> bool {
    is_writable(libc::STDERR_FILENO, Duration::ZERO)
}

/// Whether a short line can be written without blocking, at the latest after so long: not to a
/// terminal that was stopped, nor to a full pipe. A closed one fails at once.
fn is_writable(fd: RawFd, within: Duration) -> bool {
    let mut polled = [libc::pollfd { fd, events: libc::POLLOUT, revents: 0 }];
    poll(&mut polled, Some(Instant::now() + within)).is_ok() && polled[0].revents != 0
}

/// Whether a test has this call never return, by its name; it learns when the call is made.
fn never_returns(call: &str) -> bool {
    static STALLED: OnceLock<Option<String>> = OnceLock::new();
    static SAID: AtomicBool = AtomicBool::new(false);
    let stalled = STALLED.get_or_init(|| std::env::var("HOPCOST_STALL").ok());
    let never = stalled.as_deref() == Some(call);
    if never && !SAID.swap(true, Ordering::Relaxed) {
        say(&format!("stalled: {call}\n"));
    }
    never
}

/// The descriptor that a call waits for; none where a test says that it never returns.
pub fn awaited(call: &str, fd: &impl AsRawFd) -> RawFd {
    if never_returns(call) { -1 } else { fd.as_raw_fd() }
}

/// A call that cannot be polled is about to be made: where a test says so, it never returns.
pub fn stall(call: &str) {
    while never_returns(call) {
        std::thread::sleep(LOOK);
    }
}

const fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// poll(2) until a moment, or without end; a signal ends it with nothing ready.
fn poll(polled: &mut [libc::pollfd], until: Option<Instant>) -> io::Result<()> {
    let timeout_ms = until.map_or(-1, |until| {
        let left = until.saturating_duration_since(Instant::now());
        // Rounded up, and in parts of a minute.
        left.as_millis().min(60_000) as i32 + i32::from(!left.is_zero())
    });
    // SAFETY: the array is valid for its length.
    let result =
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, timeout_ms) };
    match check(result) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            polled.iter_mut().for_each(|one| one.revents = 0);
            Ok(())
        }
        other => other.map(drop),
    }
}

/// Waits for readability of any descriptor until a moment, at most a minute: for each whether it is
/// readable, hung up or in error.
pub fn poll_readable(fds: &[RawFd], until: Instant) -> io::Result<Vec<bool>> {
    let mut polled: Vec<_> = fds.iter().map(|fd| readable(*fd)).collect();
    poll(&mut polled, Some(until))?;
    Ok(polled.iter().map(|one| one.revents != 0).collect())
}

/// Waits until a descriptor is ready for these events. `call` is what it is for.
///
/// # Errors
/// If the moment passes (TimedOut) or an interrupt comes.
pub fn until_ready(
    call: &str,
    fd: &impl AsRawFd,
    events: libc::c_short,
    until: Option<Instant>,
) -> io::Result<()> {
    let polled = libc::pollfd { fd: awaited(call, fd), events, revents: 0 };
    let mut polled = [polled, readable(event())];
    loop {
        poll(&mut polled, until)?;
        ensure!(polled[1].revents == 0, "interrupted");
        if polled[0].revents != 0 {
            return Ok(());
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(late());
        }
    }
}

/// The same, until there is something to read.
pub fn until_readable(fd: &impl AsRawFd, until: Instant) -> io::Result<()> {
    until_ready("read", fd, libc::POLLIN, Some(until))
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "no answer in time")
}

/// Sleeps until a moment.
///
/// # Errors
/// If an interrupt comes.
pub fn sleep_until(call: &str, moment: Instant) -> io::Result<()> {
    let until = if never_returns(call) { None } else { Some(moment) };
    match until_ready(call, &-1, 0, until) {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
        other => other,
    }
}

/// Connects to a listener of this host or another, by a socket that `prepare` has seen before.
pub fn connect<S: From<OwnedFd>>(
    address: &impl SocketAddrArg,
    until: Instant,
    prepare: impl FnOnce(&OwnedFd) -> io::Result<()>,
) -> io::Result<S> {
    stall("connect");
    let family = address.as_any().address_family();
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    prepare(&socket)?;
    loop {
        match rustix::net::connect(&socket, address) {
            Err(Errno::INPROGRESS) => {
                until_ready("connect", &socket, libc::POLLOUT, Some(until))?;
                rustix::net::sockopt::socket_error(&socket)??;
            }
            // The queue of a listener with a path is full.
            Err(Errno::AGAIN) if Instant::now() >= until => return Err(late()),
            Err(Errno::AGAIN) => {
                std::thread::sleep(LOOK);
                continue;
            }
            result => result?,
        }
        rustix::io::ioctl_fionbio(&socket, false)?;
        return Ok(socket.into());
    }
}

/// Connects to a listener with a path, once there is room in its queue.
pub fn connect_unix(path: &Path, until: Instant) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path);
    let address = address.map_err(|_| failure("the path of a socket has at most 107 bytes"))?;
    connect(&address, until, |_| Ok(()))
}

/// Takes a connection, which blocks as one of a plain accept(2) does; the listener no longer does.
pub fn accept(listener: &TcpListener, until: Instant) -> io::Result<(TcpStream, SocketAddr)> {
    listener.set_nonblocking(true)?;
    loop {
        until_ready("accept", listener, libc::POLLIN, Some(until))
            .doing("accepting a connection")?;
        match listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other,
        }
    }
}

/// Writes all of a document, however long its reader takes; after an interrupt, no longer than a moment.
pub fn write_all(fd: &impl AsRawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        if !came() {
            // After an interrupt the moment is what ends it.
            let _ = until_ready("write", fd, libc::POLLOUT, None);
        }
        if came() {
            static LAST: OnceLock<Instant> = OnceLock::new();
            let last = *LAST.get_or_init(|| Instant::now() + READER);
            let fd = awaited("write", fd);
            let mut polled = [libc::pollfd { fd, events: libc::POLLOUT, revents: 0 }];
            poll(&mut polled, Some(last))?;
            ensure!(polled[0].revents != 0 && Instant::now() < last, "interrupted");
        }
        match sys::write(fd, &bytes[..bytes.len().min(AT_ONCE)]) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {}
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn what_is_not_answered_ends_in_time() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let refused = listener.local_addr().unwrap();
        let error = accept(&listener, soon()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(listener);
        let error = connect::<TcpStream>(&refused, soon(), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        // Whose queue is full.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let mut held = Vec::new();
        let error = loop {
            match connect_unix(&path, soon()) {
                Ok(one) => held.push(one),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{} held", held.len());
    }
}
