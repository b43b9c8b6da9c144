//! What the kernel counts of CPUs and of this process's control groups: looked at twice, it says
//! what happened in between beside the work that is measured.

use std::ops::Range;

use hopcost_model::raw::{CpuUse, Throttling};

use crate::fingerprint::throttled_groups;
use crate::root::Root;

/// Length of the tick in which /proc/stat counts. USER_HZ is 100 on every
/// architecture hopcost runs on; it is part of the kernel's ABI.
const NS_PER_TICK: u64 = 10_000_000;

/// The columns of /proc/stat behind the name of a CPU (proc_stat(5)).
const IDLE: Range<usize> = 3..5;
const INTERRUPT: Range<usize> = 5..7;
const STEAL: Range<usize> = 7..8;

/// Steal of one CPU since boot, nanoseconds, in steps of 10 ms; `None` where the
/// kernel does not tell. Zero on bare metal and where the hypervisor does not tell;
/// some let it go backwards.
pub fn steal_ns(root: &Root, cpu: u32) -> Option<u64> {
    time_ns(&root.text("/proc/stat").ok()?, cpu, STEAL)
}

/// Counts since boot. What cannot be read is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    cpus: Vec<CpuUse>,
    /// Of the own control group and its ancestors that have a CPU controller, the own first.
    groups: Vec<Option<Throttling>>,
}

impl Counted {
    /// The counts right now, of these CPUs.
    pub fn now(root: &Root, cpus: &[u32]) -> Self {
        let text = |path| root.text(path).unwrap_or_default();
        let (stat, softirqs) = (text("/proc/stat"), text("/proc/softirqs"));
        let of = |&cpu: &u32| CpuUse {
            cpu,
            idle_ns: time_ns(&stat, cpu, IDLE),
            steal_ns: time_ns(&stat, cpu, STEAL),
            interrupt_ns: time_ns(&stat, cpu, INTERRUPT),
            network_softirqs: count(&softirqs, cpu, "NET_RX"),
        };
        Self { cpus: cpus.iter().map(of).collect(), groups: throttled_groups(root) }
    }

    /// What each CPU did since then. A count that went backwards (steal does under some
    /// hypervisors) says nothing.
    pub fn cpus_since(&self, before: &Counted) -> Vec<CpuUse> {
        let pairs = self.cpus.iter().zip(&before.cpus).filter(|(now, then)| now.cpu == then.cpu);
        let did = |(now, then): (&CpuUse, &CpuUse)| CpuUse {
            cpu: now.cpu,
            idle_ns: less(now.idle_ns, then.idle_ns),
            steal_ns: less(now.steal_ns, then.steal_ns),
            interrupt_ns: less(now.interrupt_ns, then.interrupt_ns),
            network_softirqs: less(now.network_softirqs, then.network_softirqs),
        };
        pairs.map(did).collect()
    }

    /// How long and how often this process's groups were throttled since then: the one of them
    /// that was throttled longest, because a group and its parent may be so at the same time.
    pub fn throttled_since(&self, before: &Counted) -> Option<Throttling> {
        let pairs = self.groups.iter().zip(&before.groups);
        let did = pairs.filter_map(|(now, then)| {
            let (now, then) = (now.as_ref()?, then.as_ref()?);
            Some(Throttling {
                times: now.times.checked_sub(then.times)?,
                ns: now.ns.checked_sub(then.ns)?,
            })
        });
        did.max_by_key(|throttling| (throttling.ns, throttling.times))
    }
}

fn less(now: Option<u64>, then: Option<u64>) -> Option<u64> {
    now?.checked_sub(then?)
}

/// Time of a CPU's columns of /proc/stat.
fn time_ns(stat: &str, cpu: u32, columns: Range<usize>) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let mut lines = stat.lines().map(str::split_ascii_whitespace);
    let line = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    let counters: Vec<u64> = line.take(8).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let ticks = counters.get(columns)?.iter().try_fold(0u64, |sum, &n| sum.checked_add(n))?;
    ticks.checked_mul(NS_PER_TICK)
}

/// A CPU's column of a row of /proc/softirqs.
fn count(table: &str, cpu: u32, row: &str) -> Option<u64> {
    let mut lines = table.lines().map(str::split_ascii_whitespace);
    let name = format!("CPU{cpu}");
    let column = lines.next()?.position(|head| head == name)?;
    let mut row =
        lines.find_map(|mut words| (words.next()?.strip_suffix(':')? == row).then_some(words))?;
    row.nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_head() {
        let table = "           CPU0       CPU2\n   TIMER:  1  2\n garbage\n  NET_RX:  100  2000";
        assert_eq!(count(table, 0, "NET_RX"), Some(100));
        assert_eq!(count(table, 2, "NET_RX"), Some(2_000));
        assert_eq!(count(table, 1, "NET_RX"), None, "an offline CPU has no column");
        assert_eq!(count("CPU0\n", 0, "NET_RX"), None);
    }

    #[test]
    fn times_are_of_one_cpu() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2\n\
                    cpu2 1 2 3 4 5 6 7 -8\ncpu3 1 2 3 4 5 6 7 18446744073709551615\nintr 1";
        assert_eq!(time_ns(stat, 0, STEAL), Some(80_000_000));
        assert_eq!(time_ns(stat, 0, INTERRUPT), Some(130_000_000));
        for cpu in 1..5 {
            assert_eq!(time_ns(stat, cpu, STEAL), None, "{cpu}");
        }
    }
}
