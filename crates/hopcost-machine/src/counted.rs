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
        let (stat, interrupts, softirqs) =
            (text("/proc/stat"), text("/proc/interrupts"), text("/proc/softirqs"));
        let of = |&cpu: &u32| CpuUse {
            cpu,
            idle_ns: time_ns(&stat, cpu, IDLE),
            steal_ns: time_ns(&stat, cpu, STEAL),
            interrupt_ns: time_ns(&stat, cpu, INTERRUPT),
            interrupts: sum(&interrupts, cpu, |_| true),
            softirqs: sum(&softirqs, cpu, |_| true),
            network_softirqs: sum(&softirqs, cpu, |name| name == "NET_RX"),
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
            interrupts: less(now.interrupts, then.interrupts),
            softirqs: less(now.softirqs, then.softirqs),
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

/// A CPU's column of /proc/interrupts or /proc/softirqs, summed over the rows of some names.
fn sum(table: &str, cpu: u32, wanted: impl Fn(&str) -> bool) -> Option<u64> {
    let mut lines = table.lines();
    let name = format!("CPU{cpu}");
    let heads: Vec<&str> = lines.next()?.split_ascii_whitespace().collect();
    let column = heads.iter().position(|head| *head == name)?;
    let mut found = None;
    for line in lines {
        let mut words = line.split_ascii_whitespace();
        let Some(row) = words.next().and_then(|word| word.strip_suffix(':')) else { continue };
        // Some rows are one count for all CPUs; those are of errors.
        let counts: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        if wanted(row) && counts.len() >= heads.len() {
            found = Some(counts[column].checked_add(found.unwrap_or(0))?);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPTS: &str = "           CPU0       CPU2
  24:          1          2  IO-APIC   5-edge      ACPI:Ged
 LOC:        100       2000  Local timer interrupts
 ERR:          7
 garbage";

    #[test]
    fn columns_are_found_by_their_head_and_rows_for_all_cpus_left_out() {
        assert_eq!(sum(INTERRUPTS, 0, |_| true), Some(101));
        assert_eq!(sum(INTERRUPTS, 2, |_| true), Some(2_002));
        assert_eq!(sum(INTERRUPTS, 2, |name| name == "LOC"), Some(2_000));
        assert_eq!(sum(INTERRUPTS, 1, |_| true), None, "an offline CPU has no column");
        assert_eq!(sum("CPU0\n", 0, |_| true), None);
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
