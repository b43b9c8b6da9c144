//! What an end's thread counts over a phase: taken right before and right after it,
//! never during.

use hopcost_model::case::Role;
use hopcost_model::protocol::EndCounters;

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
            libc::getrusage(whose, &mut usage);
            usage
        };
        Self {
            time,
            whose,
            thread_cpu_ns: time.ns(libc::CLOCK_THREAD_CPUTIME_ID),
            usage,
            run_delay_ns: run_delay_ns(),
            cpu: sys::current_cpu(),
        }
    }

    /// What happened since, for the end that ran `stamped`.
    pub fn since(
        &self,
        role: Role,
        stamped: Stamped,
        samples: u64,
        pinned_to: Option<u32>,
    ) -> EndCounters {
        let now = Snapshot::take(self.time, self.whose);
        let real = |value: i64| if self.time == Time::Real { value.max(0) as u64 } else { 0 };
        EndCounters {
            role,
            flow: 0,
            count: stamped.count,
            samples,
            max_ticks: stamped.max_ticks,
            elapsed_ticks: stamped.elapsed_ticks,
            thread_cpu_ns: now.thread_cpu_ns.saturating_sub(self.thread_cpu_ns),
            voluntary: real(now.usage.ru_nvcsw - self.usage.ru_nvcsw),
            involuntary: real(now.usage.ru_nivcsw - self.usage.ru_nivcsw),
            minor_faults: real(now.usage.ru_minflt - self.usage.ru_minflt),
            major_faults: real(now.usage.ru_majflt - self.usage.ru_majflt),
            run_delay_ns: match self.time {
                Time::Virtual => Some(0),
                Time::Real => now
                    .run_delay_ns
                    .zip(self.run_delay_ns)
                    .map(|(after, before)| after.saturating_sub(before)),
            },
            cpu_before: self.cpu,
            cpu_after: now.cpu,
            cpu_changes: stamped.cpu_changes,
            pinned: pinned_to
                .is_none_or(|cpu| sys::allowed_cpus().is_ok_and(|allowed| allowed == [cpu])),
            first_tick: stamped.first_tick,
            bytes: stamped.bytes,
            lost: stamped.lost,
            overruns: stamped.overruns,
            zero_copy: stamped.zero_copy,
            tcp: None,
            events: Vec::new(),
        }
    }
}

/// Time this thread was runnable without running: the second number of
/// /proc/thread-self/schedstat (needs CONFIG_SCHED_INFO).
fn run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}
