//! What an end's thread counts over a phase: taken right before and right after it,
//! never during.

use hopcost_model::case::Role;
use hopcost_model::protocol::{EndCounters, EventReading};

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
    /// Wall time in nanoseconds.
    pub fn wall_ns(self) -> u64 {
        match self {
            Time::Real => sys::clock_ns(libc::CLOCK_MONOTONIC),
            Time::Virtual => Virtual::now_ns(),
        }
    }
    /// CPU time of the process; in virtual time it is always busy.
    pub fn process_cpu_ns(self) -> u64 {
        match self {
            Time::Real => sys::clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID),
            Time::Virtual => Virtual::now_ns(),
        }
    }
}

/// Whose context switches and page faults are counted (getrusage(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// The calling thread's.
    Thread,
    /// The whole process's, threads that have ended included.
    Process,
}

/// Counters of the calling thread at one moment.
pub struct Snapshot {
    time: Time,
    counted: Usage,
    thread_cpu_ns: u64,
    usage: libc::rusage,
    run_delay_ns: Option<u64>,
    cpu: u32,
}

impl Snapshot {
    pub fn take(time: Time, counted: Usage) -> Self {
        let whose = match counted {
            Usage::Thread => libc::RUSAGE_THREAD,
            Usage::Process => libc::RUSAGE_SELF,
        };
        // SAFETY: all-zero is a valid rusage, and it is valid for writing.
        let usage = unsafe {
            let mut usage = std::mem::zeroed();
            libc::getrusage(whose, &mut usage);
            usage
        };
        Self {
            time,
            counted,
            thread_cpu_ns: match time {
                Time::Real => sys::clock_ns(libc::CLOCK_THREAD_CPUTIME_ID),
                Time::Virtual => Virtual::now_ns(),
            },
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
        let now = Snapshot::take(self.time, self.counted);
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
            fill_ns: None,
            verify_ns: None,
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

/// How often the kernel has moved this thread to another CPU, by
/// /proc/thread-self/sched (needs CONFIG_SCHED_DEBUG); read rather than counted by
/// perf_event_open(2), whose counters make every context switch longer.
pub fn migrations() -> Result<u64, String> {
    let text = std::fs::read_to_string("/proc/thread-self/sched")
        .map_err(|error| format!("/proc/thread-self/sched: {error}"))?;
    moves(&text).ok_or_else(|| "/proc/thread-self/sched does not count migrations".to_owned())
}

/// The number in the line `se.nr_migrations : 4`.
fn moves(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// The reading of what happened since an earlier look.
pub fn migrations_since(before: Result<u64, String>) -> EventReading {
    let counted = before.and_then(|before| Ok(migrations()?.saturating_sub(before)));
    EventReading {
        event: "migrations".to_owned(),
        value: counted.as_ref().ok().copied(),
        enabled_ns: 0,
        running_ns: 0,
        unavailable: counted.err(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_to_another_cpu_is_counted() {
        assert_eq!(moves("se.load.weight : 5\nse.nr_migrations            :      12\n"), Some(12));
        assert_eq!(moves("policy : 0\n"), None);
        let allowed = sys::allowed_cpus().unwrap();
        let (first, last) = (allowed[0], allowed[allowed.len() - 1]);
        // A thread of its own, whose affinity is nobody else's.
        let reading = std::thread::spawn(move || {
            sys::pin(first).unwrap();
            let before = migrations();
            sys::pin(last).unwrap();
            sys::pin(first).unwrap();
            migrations_since(before)
        });
        let reading = reading.join().unwrap();
        match reading.value {
            Some(moves) => assert_eq!(moves, if first == last { 0 } else { 2 }, "{reading:?}"),
            None => eprintln!("skipped: {:?}", reading.unavailable),
        }
    }
}
