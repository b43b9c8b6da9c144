//! CPU time counters of /proc/stat, above all steal: time in which the
//! hypervisor ran something else although this CPU had work.

use std::collections::BTreeMap;
use std::fmt;

use crate::root::{Root, Unreadable};

/// Length of the tick in which /proc/stat counts. USER_HZ is 100 on every
/// architecture hopcost runs on; it is part of the kernel's ABI.
pub const NS_PER_TICK: u64 = 10_000_000;

const PATH: &str = "/proc/stat";

/// Time counters of one CPU since boot, nanoseconds, as coarse as the tick of
/// 10 ms. Time of guests is part of `user_ns` and `nice_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// User code.
    pub user_ns: u64,
    /// User code of niced tasks.
    pub nice_ns: u64,
    /// Kernel code.
    pub system_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle while a task of this CPU waited for I/O; not reliable, it can go backwards.
    pub iowait_ns: u64,
    /// Hard interrupts.
    pub irq_ns: u64,
    /// Soft interrupts.
    pub softirq_ns: u64,
    /// Taken by the hypervisor; zero on bare metal and where it does not tell.
    pub steal_ns: u64,
}

/// The counters of every CPU that is online, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accounting {
    /// By CPU number.
    pub cpus: BTreeMap<u32, CpuTimes>,
}

/// Why no steal can be told between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StealError {
    /// One of the readings does not have this CPU.
    Unknown {
        /// The CPU.
        cpu: u32,
    },
    /// The counter went backwards, which some hypervisors do.
    Backwards {
        /// The CPU.
        cpu: u32,
        /// The earlier reading, nanoseconds.
        from_ns: u64,
        /// The later reading, nanoseconds.
        to_ns: u64,
    },
    /// More was stolen than time passed.
    MoreThanElapsed {
        /// The CPU.
        cpu: u32,
        /// Claimed steal, nanoseconds.
        steal_ns: u64,
        /// Time that passed, nanoseconds.
        wall_ns: u64,
    },
}

impl fmt::Display for StealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns / 1_000_000;
        match *self {
            Self::Unknown { cpu } => write!(f, "{PATH} has no steal counter for cpu{cpu}"),
            Self::Backwards { cpu, from_ns, to_ns } => {
                let (from, to) = (ms(from_ns), ms(to_ns));
                write!(f, "steal of cpu{cpu} went backwards, {from} ms to {to} ms: bogus counter")
            }
            Self::MoreThanElapsed { cpu, steal_ns, wall_ns } => {
                let (steal, wall) = (ms(steal_ns), ms(wall_ns));
                write!(f, "steal of cpu{cpu} grew by {steal} ms in {wall} ms: bogus counter")
            }
        }
    }
}

impl std::error::Error for StealError {}

impl Accounting {
    /// Reads /proc/stat.
    ///
    /// # Errors
    /// [`Unreadable`] where it cannot be read or holds no CPU.
    pub fn read(root: &Root) -> Result<Self, Unreadable> {
        let text = root.text(PATH)?;
        let accounting = Self::parse(&text);
        if accounting.cpus.is_empty() {
            return Err(Unreadable::strange(PATH, &text));
        }
        Ok(accounting)
    }

    /// Reads the text of /proc/stat. A CPU whose line has fewer than eight
    /// counters, or something that is not a number, is left out.
    pub fn parse(text: &str) -> Self {
        Accounting { cpus: text.lines().filter_map(line).collect() }
    }

    /// Steal of one CPU since an earlier reading, nanoseconds.
    ///
    /// `wall_ns` is the time between the readings. Two ticks more than that are
    /// let pass, since each reading is rounded to a tick.
    ///
    /// # Errors
    /// [`StealError`] where a counter is missing or cannot be true.
    pub fn steal_since(
        &self,
        earlier: &Accounting,
        cpu: u32,
        wall_ns: u64,
    ) -> Result<u64, StealError> {
        let steal = |a: &Accounting| a.cpus.get(&cpu).map(|times| times.steal_ns);
        let (Some(from_ns), Some(to_ns)) = (steal(earlier), steal(self)) else {
            return Err(StealError::Unknown { cpu });
        };
        let Some(steal_ns) = to_ns.checked_sub(from_ns) else {
            return Err(StealError::Backwards { cpu, from_ns, to_ns });
        };
        if steal_ns > wall_ns.saturating_add(2 * NS_PER_TICK) {
            return Err(StealError::MoreThanElapsed { cpu, steal_ns, wall_ns });
        }
        Ok(steal_ns)
    }
}

fn line(line: &str) -> Option<(u32, CpuTimes)> {
    let mut words = line.split_ascii_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let mut next = || words.next()?.parse::<u64>().ok()?.checked_mul(NS_PER_TICK);
    Some((
        cpu,
        CpuTimes {
            user_ns: next()?,
            nice_ns: next()?,
            system_ns: next()?,
            idle_ns: next()?,
            iowait_ns: next()?,
            irq_ns: next()?,
            softirq_ns: next()?,
            steal_ns: next()?,
        },
    ))
}

/// Steal of one CPU since boot, nanoseconds, in steps of 10 ms; `None` where the
/// kernel does not tell. To compare two readings use [`Accounting::steal_since`],
/// which catches counters that cannot be true.
pub fn steal_ns(root: &Root, cpu: u32) -> Option<u64> {
    Accounting::read(root).ok()?.cpus.get(&cpu).map(|times| times.steal_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_steal(ticks: u64) -> Accounting {
        Accounting::parse(&format!("cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 {ticks} 0 0\n"))
    }

    #[test]
    fn the_columns_are_those_of_proc_5() {
        let times = with_steal(8).cpus[&0];
        let ticks = |n: u64| n * NS_PER_TICK;
        assert_eq!(
            times,
            CpuTimes {
                user_ns: ticks(1),
                nice_ns: ticks(2),
                system_ns: ticks(3),
                idle_ns: ticks(4),
                iowait_ns: ticks(5),
                irq_ns: ticks(6),
                softirq_ns: ticks(7),
                steal_ns: ticks(8),
            }
        );
    }

    #[test]
    fn the_sum_line_and_garbage_are_no_cpu() {
        for text in [
            "cpu  1 2 3 4 5 6 7 8 9 10",
            "cpu0 1 2 3 4 5 6 7",
            "cpu0 1 2 3 4 5 6 7 x",
            "cpu0 1 2 3 4 5 6 7 -8",
            "cpu0 1 2 3 4 5 6 7 18446744073709551615",
            "cpux 1 2 3 4 5 6 7 8",
            "intr 1 2 3",
            "",
        ] {
            assert_eq!(Accounting::parse(text), Accounting::default(), "{text}");
        }
    }

    #[test]
    fn steal_that_cannot_be_true_is_an_error() {
        let steal = |from, to, wall_ns| with_steal(to).steal_since(&with_steal(from), 0, wall_ns);
        assert_eq!(steal(100, 103, 1_000_000_000), Ok(30_000_000));
        assert_eq!(steal(100, 100, 0), Ok(0));
        // Rounding to ticks may show more than the wall clock.
        assert_eq!(steal(100, 102, 1_000_000), Ok(20_000_000));
        assert!(matches!(steal(100, 99, 1), Err(StealError::Backwards { .. })));
        let error = steal(100, 200, 100_000_000).unwrap_err().to_string();
        assert_eq!(error, "steal of cpu0 grew by 1000 ms in 100 ms: bogus counter");
        let none = Accounting::default();
        assert_eq!(none.steal_since(&none, 0, 1), Err(StealError::Unknown { cpu: 0 }));
    }
}
