//! One operation in one thread that takes no link: what makes each mechanism's only end.

use std::cell::UnsafeCell;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};

use corosensei::{Coroutine, CoroutineResult};

use super::pairs::bound_udp;
use crate::memory::Line;
use crate::party;
use crate::shape::{Attaching, Half};
use crate::sys::{self, Doing};
use crate::worker::lines::give_up;
use crate::workload::Endpoint;
use crate::workload::call::only_end as end;

/// `call-inline`: a call that the compiler has dissolved into its caller: what
/// is left is one addition and the chain from each operation to the next. The
/// floor of every other call, and the first thing to check when a number of the
/// `call` workload looks too good.
///
/// What is added is not a constant to the compiler or the processor: additions of
/// small constants are folded by some processors while they rename registers
/// (Intel's since Golden Cove), and come out at a fraction of a cycle.
pub fn call_inline(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let step = std::hint::black_box(1);
    end(move |x| x.wrapping_add(step))
}

/// `call`: a real call and return, at an address that the compiler knows.
///
/// The function has a name of its own and the call is one line of assembly,
/// because a compiler left to itself loads the address into a register once and
/// then calls through the register, which is the other row, `call-indirect`.
/// Anyone can look: `objdump -d` shows one `call hopcost_called` an operation.
pub fn call(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    end(call_directly)
}

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

/// `call-indirect`: the same function through a pointer whose value the compiler
/// does not know, as in a virtual method, a callback or a plug-in.
pub fn call_indirect(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    // Behind the black box, or the compiler would call the function directly.
    let called = std::hint::black_box(hopcost_called as extern "C" fn(u64) -> u64);
    end(move |x| called(x))
}

/// `multiply`: a chain of multiplications of 64 bits, each of which waits for the result of the
/// one before (`imul` on x86-64, `mul` on AArch64). It needs no memory and no branch that can be
/// mispredicted, so its time tells the clock rate of the core and who else uses its multiplier.
///
/// The factor is not a constant to the compiler, which would otherwise shift and add.
pub fn multiply(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    // Odd, so that no number of multiplications ends in zero.
    let factor = std::hint::black_box(0x9e37_79b9_7f4a_7c15);
    end(move |x: u64| x.wrapping_mul(factor))
}

/// `atomic-rmw`: one atomic read-modify-write on a cache line that nobody else
/// touches (`lock xadd` on x86-64, `ldaddal` on AArch64 with LSE): what every
/// lock, reference count and queue pays at least once.
pub fn atomic_rmw(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let line = Box::new(Line(AtomicU64::new(1)));
    end(move |x| line.0.fetch_add(x, Ordering::SeqCst))
}

/// `mutex-uncontended`: lock and unlock a pthread mutex that nobody else wants:
/// one atomic instruction each way, and no system call.
///
/// glibc leaves the atomic instructions out while a process has never had a
/// second thread. A program with a mutex has had one, so one is started and
/// joined before the first operation; otherwise this row would measure half of
/// what programs pay.
pub fn mutex_uncontended(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    std::thread::Builder::new()
        .spawn(|| {})?
        .join()
        .map_err(|_| sys::failure("a thread that does nothing failed"))?;
    let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
    end(move |x| {
        let mutex = mutex.get();
        // SAFETY: initialised, never moved, and locked and unlocked by one thread in turn. Both
        // return 0; adding that to the result keeps it an input of the next operation.
        unsafe {
            let locked = libc::pthread_mutex_lock(mutex);
            let x = x.wrapping_add(1 + locked as u64);
            x.wrapping_add(libc::pthread_mutex_unlock(mutex) as u64)
        }
    })
}

/// `coroutine-switch`: into a stackful coroutine and out again: one resume and
/// one suspend an operation, so two switches of the stack, all in user mode.
pub fn coroutine_switch(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let mut coroutine: Coroutine<u64, u64, ()> = Coroutine::new(|yielder, mut x: u64| {
        loop {
            x = yielder.suspend(x.wrapping_add(1));
        }
    });
    end(move |x| match coroutine.resume(x) {
        CoroutineResult::Yield(next) => next,
        // Never happens: the coroutine's loop has no end.
        CoroutineResult::Return(()) => x,
    })
}

/// `vdso-clock`: clock_gettime(CLOCK_MONOTONIC), which looks like a system call
/// and is none: the kernel maps code into the process (vdso(7)) that reads the
/// processor's counter and scales it.
///
/// Where the kernel's clock source cannot be read from user mode (hpet,
/// acpi_pm, some hypervisors' clocks), the same function does enter the kernel:
/// that is why its count of system calls is a range. In one process it is always
/// 0 or always 1.
pub fn vdso_clock(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    end(|x| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is valid for writing.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
        x.wrapping_add(time.tv_nsec as u64)
    })
}

/// `syscall`: the cheapest call that really enters the kernel and returns.
pub fn syscall(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    end(|x| x.wrapping_add(sys::getppid()))
}

/// `sched-yield`: the system call by which a thread gives its CPU away, with nobody there to
/// take it: the kernel asks its scheduler, which picks the caller again.
///
/// It is what a context switch by sched_yield(2) costs without the switch. The switch itself
/// is in the round trip of `flag` with `wait=yield` on one CPU, where each end gives the CPU to
/// the other once.
pub fn sched_yield(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    end(|x| {
        sys::sched_yield();
        x.wrapping_add(1)
    })
}

/// `thread-start`: create a thread that does nothing and wait until it is gone.
///
/// The stack of a thread that is gone is used again (glibc keeps some), so this is
/// what a thread costs a program that has started others before. The new thread
/// returns the number that it was given: the chain from operation to operation
/// goes through it.
pub fn thread_start(_: Half, _: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    end(|x| {
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
    })
}

extern "C" fn empty(argument: *mut libc::c_void) -> *mut libc::c_void {
    argument
}

#[cold]
fn no_thread(doing: &str, code: libc::c_int) -> ! {
    let error = io::Error::from_raw_os_error(code);
    give_up(&sys::failure(format!("{doing} a thread: {error}")))
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
pub fn udp_send(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let mut message = vec![0; attaching.payload()];
    party::fill(&mut message, 1);
    // The receiver stays open, so that its port is bound.
    let sockets = with_full_receiver(&message)?;
    end(move |x| x.wrapping_add(send(&sockets[0], &message)))
}

/// A socket that is connected to another, whose buffer is full of this message.
fn with_full_receiver(message: &[u8]) -> io::Result<[UdpSocket; 2]> {
    let (socket, receiver) = (bound_udp()?, bound_udp()?);
    socket.connect(receiver.local_addr()?)?;
    receiver.connect(socket.local_addr()?)?;
    // The kernel raises this to its least.
    sys::set_option(&receiver, libc::SOL_SOCKET, libc::SO_RCVBUF, 1, "SO_RCVBUF")?;
    for _ in 0..FILL {
        socket.send(message).doing("sending a datagram")?;
    }
    Ok([socket, receiver])
}

#[inline(always)]
fn send(socket: &UdpSocket, message: &[u8]) -> u64 {
    match sys::send(socket, message, 0) {
        Ok(bytes) => bytes as u64,
        Err(error) => not_sent(&error),
    }
}

#[cold]
fn not_sent(error: &io::Error) -> ! {
    give_up(&sys::failure(format!("sending a datagram: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_sent_whole_and_dropped_at_the_full_buffer() {
        for payload in [0, 1, 64, 65_507] {
            let mut message = vec![0; payload];
            party::fill(&mut message, 1);
            let [socket, receiver] = with_full_receiver(&message).unwrap();
            let got = (0..100).fold(0, |x, _| x + send(&socket, &message));
            assert_eq!(got, 100 * payload as u64);
            // What is in the buffer came before, and of the hundred nothing did.
            receiver.set_nonblocking(true).unwrap();
            let mut buffer = vec![0; 65_507];
            let mut queued = 0;
            while let Ok(len) = receiver.recv(&mut buffer) {
                assert_eq!(len, payload);
                assert!(party::verify(&buffer[..len], 1));
                queued += 1;
                assert!(queued < FILL, "the buffer was not full");
            }
            assert!(queued > 0 || payload > 4096, "nothing arrives: {payload}");
        }
    }
}
