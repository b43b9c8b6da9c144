//! One operation in one thread that takes no link.

use std::cell::UnsafeCell;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::{Coroutine, CoroutineResult};

use super::pairs::pipe;
use crate::memory::{Buffer, Line};
use crate::party;
use crate::shape::{Attaching, Call};
use crate::sys;
use crate::transport::stream::{read_some, write_some};
use crate::worker::lines::{give_up, give_up_after};

/// A call that keeps nothing from one operation to the next.
trait Stateless: Default {
    fn call(x: u64) -> u64;
}

impl<M: Stateless> Call for M {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(M::default())
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        <M as Stateless>::call(x)
    }
}

/// `call-inline`: a call that the compiler has dissolved into its caller: what
/// is left is one addition and the chain from each operation to the next. The
/// floor of every other call, and the first thing to check when a number of the
/// `call` workload looks too good.
///
/// What is added is not a constant to the compiler or the processor: additions of
/// small constants are folded by some processors while they rename registers
/// (Intel's since Golden Cove), and come out at a fraction of a cycle.
pub struct CallInline {
    step: u64,
}

impl Call for CallInline {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(CallInline { step: std::hint::black_box(1) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x.wrapping_add(self.step)
    }
}

/// `call`: a real call and return, at an address that the compiler knows.
///
/// The function has a name of its own and the call is one line of assembly,
/// because a compiler left to itself loads the address into a register once and
/// then calls through the register, which is the other row, `call-indirect`.
/// Anyone can look: `objdump -d` shows one `call hopcost_called` an operation.
#[derive(Default)]
pub struct DirectCall;

/// Calls [`hopcost_called`] at its fixed address.
#[inline(always)]
fn call_directly(x: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a function of this signature, called by the C convention.
    unsafe {
        let result;
        std::arch::asm!("call {}", sym hopcost_called, in("rdi") x, out("rax") result, clobber_abi("C"));
        result
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a function of this signature, called by the C convention.
    unsafe {
        let result;
        std::arch::asm!("bl {}", sym hopcost_called, inout("x0") x => result, clobber_abi("C"));
        result
    }
}

/// What is called: adds one.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn hopcost_called(x: u64) -> u64 {
    x.wrapping_add(1)
}

impl Stateless for DirectCall {
    #[inline(always)]
    fn call(x: u64) -> u64 {
        call_directly(x)
    }
}

/// `call-indirect`: the same function through a pointer whose value the compiler
/// does not know, as in a virtual method, a callback or a plug-in.
pub struct IndirectCall(extern "C" fn(u64) -> u64);

impl Call for IndirectCall {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        // Behind the black box, or the compiler would call the function directly.
        Ok(IndirectCall(std::hint::black_box(hopcost_called as extern "C" fn(u64) -> u64)))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        (self.0)(x)
    }
}

/// `multiply`: a chain of multiplications of 64 bits, each of which waits for the result of the
/// one before (`imul` on x86-64, `mul` on AArch64). It needs no memory and no branch that can be
/// mispredicted, so its time tells the clock rate of the core and who else uses its multiplier.
///
/// The factor is not a constant to the compiler, which would otherwise shift and add.
pub struct Multiply {
    factor: u64,
}

impl Call for Multiply {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        // Odd, so that no number of multiplications ends in zero.
        Ok(Multiply { factor: std::hint::black_box(0x9e37_79b9_7f4a_7c15) })
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x.wrapping_mul(self.factor)
    }
}

/// `atomic-rmw`: one atomic read-modify-write on a cache line that nobody else
/// touches (`lock xadd` on x86-64, `ldaddal` on AArch64 with LSE): what every
/// lock, reference count and queue pays at least once.
pub struct AtomicRmw(Box<Line<AtomicU64>>);

impl Call for AtomicRmw {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(AtomicRmw(Box::new(Line(AtomicU64::new(1)))))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        self.0.0.fetch_add(x, Ordering::SeqCst)
    }
}

/// `mutex-uncontended`: lock and unlock a pthread mutex that nobody else wants:
/// one atomic instruction each way, and no system call.
///
/// glibc leaves the atomic instructions out while a process has never had a
/// second thread. A program with a mutex has had one, so one is started and
/// joined before the first operation; otherwise this row would measure half of
/// what programs pay.
pub struct MutexUncontended(Box<UnsafeCell<libc::pthread_mutex_t>>);

impl Call for MutexUncontended {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        std::thread::Builder::new()
            .spawn(|| {})?
            .join()
            .map_err(|_| sys::failure("a thread that does nothing failed"))?;
        Ok(MutexUncontended(Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        let mutex = self.0.get();
        // SAFETY: initialised, never moved, and locked and unlocked by one thread in turn. Both
        // return 0; adding that to the result keeps it an input of the next operation.
        unsafe {
            let locked = libc::pthread_mutex_lock(mutex);
            let x = x.wrapping_add(1 + locked as u64);
            x.wrapping_add(libc::pthread_mutex_unlock(mutex) as u64)
        }
    }
}

/// `coroutine-switch`: into a stackful coroutine and out again: one resume and
/// one suspend an operation, so two switches of the stack, all in user mode.
pub struct CoroutineSwitch(Coroutine<u64, u64, ()>);

impl Call for CoroutineSwitch {
    fn new(_: &Attaching<'_>) -> io::Result<Self> {
        Ok(CoroutineSwitch(Coroutine::new(|yielder, mut x: u64| {
            loop {
                x = yielder.suspend(x.wrapping_add(1));
            }
        })))
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        match self.0.resume(x) {
            CoroutineResult::Yield(next) => next,
            // Never happens: the coroutine's loop has no end.
            CoroutineResult::Return(()) => x,
        }
    }
}

/// `vdso-clock`: clock_gettime(CLOCK_MONOTONIC), which looks like a system call
/// and is none: the kernel maps code into the process (vdso(7)) that reads the
/// processor's counter and scales it.
///
/// Where the kernel's clock source cannot be read from user mode (hpet,
/// acpi_pm, some hypervisors' clocks), the same function does enter the kernel:
/// that is why its count of system calls is a range. In one process it is always
/// 0 or always 1.
#[derive(Default)]
pub struct VdsoClock;

impl Stateless for VdsoClock {
    #[inline(always)]
    fn call(x: u64) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid for writing.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        x.wrapping_add(time.tv_nsec as u64)
    }
}

/// `syscall`: the cheapest call that really enters the kernel and returns.
#[derive(Default)]
pub struct Syscall;

impl Stateless for Syscall {
    #[inline(always)]
    fn call(x: u64) -> u64 {
        x.wrapping_add(sys::getppid())
    }
}

/// `sched-yield`: the system call by which a thread gives its CPU away, with nobody there to
/// take it: the kernel asks its scheduler, which picks the caller again.
///
/// It is what a context switch by sched_yield(2) costs without the switch. The switch itself
/// is in the round trip of `flag` with `wait=yield` on one CPU, where each end gives the CPU to
/// the other once.
#[derive(Default)]
pub struct SchedYield;

impl Stateless for SchedYield {
    #[inline(always)]
    fn call(x: u64) -> u64 {
        sys::sched_yield();
        x.wrapping_add(1)
    }
}

/// `thread-start`: create a thread that does nothing and wait until it is gone.
///
/// The stack of a thread that is gone is used again (glibc keeps some), so this is
/// what a thread costs a program that has started others before. The new thread
/// returns the number that it was given: the chain from operation to operation
/// goes through it.
#[derive(Default)]
pub struct ThreadStart;

extern "C" fn empty(argument: *mut libc::c_void) -> *mut libc::c_void {
    argument
}

#[cold]
fn no_thread(doing: &str, code: libc::c_int) -> ! {
    give_up(&format!("{doing} a thread: {}", io::Error::from_raw_os_error(code)))
}

impl Stateless for ThreadStart {
    #[inline(always)]
    fn call(x: u64) -> u64 {
        let argument = x as usize as *mut libc::c_void;
        let mut result = std::ptr::null_mut();
        // SAFETY: null attributes are the default ones; the thread only returns its argument,
        // which nobody takes for an address, and is joined once.
        unsafe {
            let mut thread: libc::pthread_t = std::mem::zeroed();
            let created = libc::pthread_create(&mut thread, std::ptr::null(), empty, argument);
            if created != 0 {
                no_thread("creating", created);
            }
            let joined = libc::pthread_join(thread, &mut result);
            if joined != 0 {
                no_thread("joining", joined);
            }
        }
        (result as usize as u64).wrapping_add(1)
    }
}

/// `pipe-inline`: a message goes into a pipe and comes out again in the same thread: what
/// write(2) and read(2) of a pipe cost where nobody sleeps, is woken or is switched to.
///
/// An operation makes the message, writes it, reads it and compares it, each byte, as one hop
/// of the round trip of `pipe` does. So two operations are that round trip without its two
/// wake-ups and its two switches, and with warmer caches.
pub struct PipeInline {
    incoming: OwnedFd,
    outgoing: OwnedFd,
    out: Buffer,
    input: Buffer,
    /// Messages so far.
    sequence: u64,
}

impl PipeInline {
    fn of(payload: usize) -> io::Result<Self> {
        let [incoming, outgoing] = pipe()?;
        let holds = rustix::pipe::fcntl_getpipe_size(&outgoing)?;
        if holds < payload {
            return Err(sys::failure(format!(
                "the kernel gives this user pipes of {holds} bytes, because it has too many (pipe(7))"
            )));
        }
        let (out, input) = (Buffer::new(payload), Buffer::new(payload));
        Ok(Self { incoming, outgoing, out, input, sequence: 0 })
    }

    #[inline(always)]
    fn pass(&mut self) -> io::Result<usize> {
        self.sequence += 1;
        party::fill(&mut self.out, self.sequence);
        write_some(&self.outgoing, &self.out)?;
        let done = read_some(&self.incoming, &mut self.input, sys::Look::AsOpened)?;
        match party::verify(&self.input, self.sequence) {
            true => Ok(done),
            false => Err(sys::failure("the pipe gave another message than it was given")),
        }
    }
}

impl Call for PipeInline {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::of(attaching.payload())
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        match self.pass() {
            Ok(done) => x.wrapping_add(done as u64),
            Err(error) => give_up_after(&error),
        }
    }
}

/// Datagrams sent beforehand: far more than fit a receive buffer of the least size.
const FILL: usize = 256;

/// `udp-send`: send a datagram that nobody reads: what the sender pays for a
/// message, without a wake-up and without a receiver.
///
/// The socket is connected to another one on the loopback interface that is never
/// read and whose receive buffer is full before the first operation. Every datagram
/// goes the whole way through the network stack, in the sender's context, and the
/// kernel drops it at the full buffer. Sent to a port that nobody has bound, every
/// other send would fail instead (ECONNREFUSED).
pub struct UdpSend {
    socket: UdpSocket,
    /// Never read; open, so that its port is bound.
    #[cfg_attr(not(test), expect(dead_code))]
    receiver: UdpSocket,
    message: Vec<u8>,
}

impl UdpSend {
    fn of(payload: usize) -> io::Result<Self> {
        let bind = || {
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
                .map_err(|e| sys::context(e, "binding a UDP socket to 127.0.0.1"))
        };
        let (socket, receiver) = (bind()?, bind()?);
        socket.connect(receiver.local_addr()?)?;
        receiver.connect(socket.local_addr()?)?;
        // The kernel raises this to its least.
        sys::set_option(&receiver, libc::SOL_SOCKET, libc::SO_RCVBUF, 1, "SO_RCVBUF")?;
        let mut message = vec![0; payload];
        party::fill(&mut message, 1);
        for _ in 0..FILL {
            socket.send(&message).map_err(|e| sys::context(e, "sending a datagram"))?;
        }
        Ok(UdpSend { socket, receiver, message })
    }
}

#[cold]
fn not_sent() -> ! {
    give_up(&format!("sending a datagram: {}", io::Error::last_os_error()))
}

impl Call for UdpSend {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::of(attaching.payload())
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                self.message.as_ptr().cast(),
                self.message.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        if sent < 0 {
            not_sent();
        }
        x.wrapping_add(sent as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_sent_whole_and_dropped_at_the_full_buffer() {
        for payload in [0, 1, 64, 65_507] {
            let mut send = UdpSend::of(payload).unwrap();
            let got = (0..100).fold(0, |x, _| send.call(x));
            assert_eq!(got, 100 * payload as u64);
            // What is in the buffer came before, and of the hundred nothing did.
            send.receiver.set_nonblocking(true).unwrap();
            let mut buffer = vec![0; 65_507];
            let mut queued = 0;
            while let Ok(len) = send.receiver.recv(&mut buffer) {
                assert_eq!(len, payload);
                assert!(party::verify(&buffer[..len], 1));
                queued += 1;
                assert!(queued < FILL, "the buffer was not full");
            }
            assert!(queued > 0 || payload > 4096, "nothing arrives: {payload}");
        }
    }
}
