//! What an end's thread counts over a phase: taken right before and right after it,
//! never during.

use hopcost_model::{EndCounters, Seat};

use crate::clock::Virtual;
use crate::sys;
use crate::workload::Stamped;

/// Whose time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    Real,
    /// The test engines'.
    Virtual,
}

impl Time {
    /// A clock's time in nanoseconds; in virtual time the process is always busy.
    pub fn ns(self, clock: libc::clockid_t) -> u64 {
        match self {
            Time::Real => sys::clock_ns(clock),
            Time::Virtual => Virtual::now_ns(),
        }
    }
}

/// Counters of the calling thread at one moment.
pub struct Snapshot {
    time: Time,
    whose: libc::c_int,
    thread_cpu_ns: u64,
    usage: libc::rusage,
    run_delay_ns: Option<u64>,
    cpu: u32,
}

impl Snapshot {
    /// `whose` selects the context switches and page faults, as the first argument of getrusage(2).
    pub fn take(time: Time, whose: libc::c_int) -> Self {
        // SAFETY: all-zero is a valid rusage, and it is valid for writing.
        let usage = unsafe {
            let mut usage = std::mem::zeroed();
            if time == Time::Real {
                libc::getrusage(whose, &mut usage);
            }
            usage
        };
        Self {
            time,
            whose,
            thread_cpu_ns: time.ns(libc::CLOCK_THREAD_CPUTIME_ID),
            usage,
            run_delay_ns: if time == Time::Real { run_delay_ns() } else { Some(0) },
            cpu: sys::current_cpu(),
        }
    }

    /// What happened since, for the end that ran `stamped`.
    pub fn since(&self, end: &Seat, stamped: Stamped, samples: u64) -> EndCounters {
        let now = Snapshot::take(self.time, self.whose);
        let since = |after: i64, before: i64| after.saturating_sub(before).max(0) as u64;
        let (after, before) = (&now.usage, &self.usage);
        let delays = now.run_delay_ns.zip(self.run_delay_ns);
        EndCounters {
            role: end.role,
            flow: end.flow,
            count: stamped.count,
            samples,
            max_ticks: stamped.max_ticks,
            elapsed_ticks: stamped.elapsed_ticks,
            thread_cpu_ns: now.thread_cpu_ns.saturating_sub(self.thread_cpu_ns),
            voluntary: since(after.ru_nvcsw, before.ru_nvcsw),
            involuntary: since(after.ru_nivcsw, before.ru_nivcsw),
            minor_faults: since(after.ru_minflt, before.ru_minflt),
            major_faults: since(after.ru_majflt, before.ru_majflt),
            run_delay_ns: delays.map(|(after, before)| after.saturating_sub(before)),
            cpu_before: self.cpu,
            cpu_after: now.cpu,
            cpu_changes: stamped.cpu_changes,
            pinned: end
                .cpu
                .is_none_or(|cpu| sys::allowed_cpus().is_ok_and(|allowed| allowed == [cpu])),
            first_tick: stamped.first_tick,
            bytes: stamped.bytes,
            lost: stamped.lost,
            overruns: stamped.overruns,
            zero_copy: stamped.zero_copy,
            ..EndCounters::default()
        }
    }
}

/// Time this thread was runnable without running: the second number of
/// /proc/thread-self/schedstat (needs CONFIG_SCHED_INFO).
fn run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}
