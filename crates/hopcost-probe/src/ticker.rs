//! A clock that can be looked at for the price of a load, and that wakes a
//! thread which sleeps in a system call: a timer of the kernel (timer_create(2))
//! sends the thread a signal every period, whose handler counts.
//!
//! This is how an end notices that a message is lost. A receive time-out of the
//! socket (SO_RCVTIMEO) would do so too, but costs each receive 1.5 % of a round
//! trip, since the kernel then sets up a timer every time.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::sys::{self, Doing};

/// A timer of the thread that started it, off again when dropped.
pub struct Ticker {
    timer: libc::timer_t,
    /// Never freed, because a signal may still be on its way after the timer is gone.
    ticks: &'static AtomicU32,
}

// SAFETY: a timer belongs to the process; deleting it from another thread is allowed.
unsafe impl Send for Ticker {}

fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 3
}

extern "C" fn count(_: libc::c_int, information: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes valid information; a signal of a timer carries the pointer that
    // `Ticker::start` gave it, to memory that is never freed.
    unsafe {
        if (*information).si_code == libc::SI_TIMER {
            let ticks = (*information).si_value().sival_ptr as *const AtomicU32;
            (*ticks).fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Ticker {
    /// Interrupts the calling thread every `period`, from now on.
    pub fn start(period: Duration) -> io::Result<Self> {
        let ticks: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
        // SAFETY: all-zero is valid for each of these plain structures, and each is filled in
        // before the kernel reads it. The handler only touches an atomic.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = count as *const () as usize;
            // Without SA_RESTART, so that a receive that sleeps returns EINTR.
            action.sa_flags = libc::SA_SIGINFO;
            sys::check(libc::sigaction(signal(), &action, std::ptr::null_mut()))?;
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal();
            event.sigev_notify_thread_id = sys::thread_id() as i32;
            event.sigev_value = libc::sigval { sival_ptr: (&raw const *ticks) as *mut _ };
            let mut timer: libc::timer_t = std::mem::zeroed();
            sys::check(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer))
                .doing("creating a timer")?;
            let ticker = Ticker { timer, ticks };
            let every = sys::timespec(period.as_nanos() as u64);
            let times = libc::itimerspec { it_interval: every, it_value: every };
            sys::check(libc::timer_settime(timer, 0, &times, std::ptr::null_mut()))
                .doing("starting a timer")?;
            Ok(ticker)
        }
    }

    /// Periods that are over, more or less one.
    #[inline(always)]
    pub fn ticks(&self) -> u32 {
        self.ticks.load(Ordering::Relaxed)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // SAFETY: created in `start` and deleted once.
        unsafe { libc::timer_delete(self.timer) };
    }
}
