//! Clocks: the processor's counter, and for the test engines a virtual one and one
//! that is wrong.
//!
//! In round trips a stamp is `rdtscp` without a trailing `lfence`: with it, a
//! spinning round trip measures 4 % slower (rdtscp already waits for earlier
//! loads). Batches are fenced on both sides, so that nothing of the batch is
//! counted outside and nothing else inside.

use std::cell::Cell;

/// Source of stamps, in ticks.
pub trait Clock: 'static {
    /// What the ticks are.
    const SOURCE: &'static str;
    /// A stamp and the CPU (as an opaque number) it was taken on.
    fn stamp() -> (u64, u32);
    /// It is not earlier than this from now on, where only its owner moves it.
    fn reach(_ticks: u64) {}
    /// The first stamp that is not before this time, by looking again and again, and whether
    /// the time had passed at the first look.
    #[inline(always)]
    fn until(ticks: u64) -> (u64, u32, bool) {
        let (mut now, mut cpu) = Self::stamp();
        let was_late = now > ticks;
        while now < ticks {
            (now, cpu) = Self::stamp();
        }
        (now, cpu, was_late)
    }
    /// A fenced stamp before a batch.
    #[inline(always)]
    fn fenced_start() -> u64 {
        Self::stamp().0
    }
    /// A fenced stamp after a batch.
    #[inline(always)]
    fn fenced_end() -> u64 {
        Self::stamp().0
    }
}

/// The processor's own counter.
pub struct Hardware;

#[cfg(target_arch = "x86_64")]
impl Clock for Hardware {
    const SOURCE: &'static str = "tsc";
    #[inline(always)]
    fn stamp() -> (u64, u32) {
        let mut aux = 0;
        // SAFETY: `aux` is valid for writing; machines without rdtscp are refused at attach.
        let ticks = unsafe { std::arch::x86_64::__rdtscp(&mut aux) };
        (ticks, aux)
    }
    #[inline(always)]
    fn fenced_start() -> u64 {
        // SAFETY: fences and a counter read.
        unsafe {
            std::arch::x86_64::_mm_lfence();
            let ticks = std::arch::x86_64::_rdtsc();
            std::arch::x86_64::_mm_lfence();
            ticks
        }
    }
    #[inline(always)]
    fn fenced_end() -> u64 {
        let mut aux = 0;
        // SAFETY: as above.
        unsafe {
            let ticks = std::arch::x86_64::__rdtscp(&mut aux);
            std::arch::x86_64::_mm_lfence();
            ticks
        }
    }
}

#[cfg(target_arch = "aarch64")]
impl Clock for Hardware {
    const SOURCE: &'static str = "cntvct";
    #[inline(always)]
    fn stamp() -> (u64, u32) {
        let ticks: u64;
        // SAFETY: reads the virtual counter, which Linux lets user space do.
        unsafe { std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack)) };
        (ticks, 0)
    }
}

/// Whether trials can be made and timed here: by this machine's counter and what the kernel lends, or why
/// not.
pub fn available() -> Result<(), String> {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: CPUID leaf 0x8000_0001 exists on every x86-64 processor.
        let edx = std::arch::x86_64::__cpuid(0x8000_0001).edx;
        if edx & (1 << 27) == 0 {
            return Err("this processor has no RDTSCP".to_owned());
        }
    }
    crate::sys::usable()
}

thread_local! {
    static VIRTUAL_NS: Cell<u64> = const { Cell::new(1) };
    static OVERSLEEPS_NS: Cell<u64> = const { Cell::new(0) };
}

/// A clock of each thread's own for the test engines, which moves only by what an engine says or
/// waits for; one tick is one nanosecond.
pub struct Virtual;

impl Virtual {
    /// Lets virtual time pass.
    pub fn advance(ns: u64) {
        VIRTUAL_NS.set(VIRTUAL_NS.get() + ns);
    }
    pub fn now_ns() -> u64 {
        VIRTUAL_NS.get()
    }
    /// Has this thread leave the next wait that it is in time for so much late.
    pub fn oversleep(ns: u64) {
        OVERSLEEPS_NS.set(ns);
    }
}

impl Clock for Virtual {
    const SOURCE: &'static str = "virtual";
    fn reach(ticks: u64) {
        VIRTUAL_NS.set(VIRTUAL_NS.get().max(ticks));
    }
    fn stamp() -> (u64, u32) {
        (Self::now_ns(), 0)
    }
    fn until(ticks: u64) -> (u64, u32, bool) {
        let was_late = Self::now_ns() > ticks;
        Self::reach(ticks);
        if !was_late {
            Self::advance(OVERSLEEPS_NS.take());
        }
        (Self::now_ns(), 0, was_late)
    }
}

thread_local! {
    static SHIFT_TICKS: Cell<u64> = const { Cell::new(0) };
}

/// The processor's counter as one that is wrong would show it, for a test engine:
/// off by what the calling thread has set.
pub struct Shifted;

impl Shifted {
    /// Sets how far this thread's clock is ahead of the processor's; it is behind
    /// by a number that wraps around.
    pub fn set_ticks(ticks: u64) {
        SHIFT_TICKS.set(ticks);
    }
}

impl Clock for Shifted {
    const SOURCE: &'static str = Hardware::SOURCE;
    #[inline(always)]
    fn stamp() -> (u64, u32) {
        let (ticks, cpu) = Hardware::stamp();
        (ticks.wrapping_add(SHIFT_TICKS.get()), cpu)
    }
}

/// Both clocks at one moment: the tick lies in the middle of an interval that the reading of
/// CLOCK_MONOTONIC_RAW lies in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    pub ticks: u64,
    pub ns: u64,
    /// Half of the interval.
    pub half_ticks: u64,
}

impl Pair {
    /// Reads both clocks on the CPU that this runs on. The shortest of the tries counts: the
    /// others were interrupted.
    pub fn read(tries: u32) -> Self {
        let read = |_| {
            let before = Hardware::fenced_start();
            let ns = crate::sys::clock_ns(libc::CLOCK_MONOTONIC_RAW);
            let width = Hardware::fenced_end().wrapping_sub(before);
            Pair { ticks: before.wrapping_add(width / 2), ns, half_ticks: width / 2 + 1 }
        };
        (1..tries)
            .map(read)
            .fold(read(0), |best, one| if one.half_ticks < best.half_ticks { one } else { best })
    }
}

/// Ticks of the hardware counter in `ns` nanoseconds, good to a percent: for
/// spin budgets, not for measurement. Costs a millisecond the first time.
pub fn rough_ticks(ns: u64) -> u64 {
    static PER_MS: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let per_ms = *PER_MS.get_or_init(|| {
        // The narrowest of eight: a task that is preempted between the two clocks reads a wrong rate.
        let start = Pair::read(8);
        loop {
            let now = Pair::read(8);
            if now.ns - start.ns >= 1_000_000 {
                return (now.ticks - start.ticks) * 1_000_000 / (now.ns - start.ns);
            }
        }
    });
    (u128::from(ns) * u128::from(per_ms) / 1_000_000) as u64
}
