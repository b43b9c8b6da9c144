//! Whether stamps of two CPUs' counters may be compared at all, as far as the
//! kernel tells. What it tells is a condition, not a proof: the ends of every
//! trial compare their clocks besides.

use crate::cpuinfo::CpuInfo;
use crate::root::Root;

/// Where the kernel lists the clock sources that it has not given up on.
const CLOCKSOURCES: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// Why one-way times between these CPUs would mean nothing, if so.
///
/// On x86 the counter has to be invariant on each of them (`constant_tsc` and
/// `nonstop_tsc` in /proc/cpuinfo, which the kernel sets from CPUID 0x80000007
/// EDX bit 8), and the kernel must not have taken `tsc` off its list, as it does
/// when its watchdog finds it unstable. Arm's generic timer is one for the whole
/// system (Arm ARM, D12).
pub fn clocks_comparable(root: &Root, cpus: &[u32]) -> Result<(), String> {
    let info = CpuInfo::read(root).map_err(|error| {
        format!("cannot check whether the CPUs' clocks agree: {}", error.reason)
    })?;
    if !info.is_x86() {
        return Ok(());
    }
    for &cpu in cpus {
        let flags = info.flags(cpu).unwrap_or_default();
        let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"]
            .into_iter()
            .filter(|flag| !flags.contains(flag))
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "the time-stamp counter of CPU {cpu} is not invariant (/proc/cpuinfo lacks {})",
                missing.join(" and ")
            ));
        }
    }
    match root.text(CLOCKSOURCES) {
        Ok(listed) if !listed.split_whitespace().any(|source| source == "tsc") => Err(format!(
            "the kernel does not trust the time-stamp counter (available clock sources: {})",
            listed.trim()
        )),
        // A list that cannot be read (a container) leaves it to the ends' own test.
        _ => Ok(()),
    }
}
