//! Steal: time in which the hypervisor ran something else although a CPU had work.

use crate::root::Root;

/// Length of the tick in which /proc/stat counts. USER_HZ is 100 on every
/// architecture hopcost runs on; it is part of the kernel's ABI.
const NS_PER_TICK: u64 = 10_000_000;

const PATH: &str = "/proc/stat";

/// Steal of one CPU since boot, nanoseconds, in steps of 10 ms; `None` where the
/// kernel does not tell. Zero on bare metal and where the hypervisor does not tell;
/// some let it go backwards.
pub fn steal_ns(root: &Root, cpu: u32) -> Option<u64> {
    let text = root.text(PATH).ok()?;
    text.lines().filter_map(line).find(|(of, _)| *of == cpu).map(|(_, ns)| ns)
}

/// CPU and steal of a line; none if it has fewer than eight counters, or something that
/// is not a number.
fn line(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_ascii_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let ns = |word: &str| word.parse::<u64>().ok()?.checked_mul(NS_PER_TICK);
    // user, nice, system, idle, iowait, irq, softirq, steal (proc(5))
    let counters: Vec<u64> = words.take(8).map(ns).collect::<Option<_>>()?;
    Some((cpu, *counters.get(7)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_line_and_garbage_are_no_cpu() {
        assert_eq!(line("cpu3 1 2 3 4 5 6 7 8 0 0"), Some((3, 80_000_000)));
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
            assert_eq!(line(text), None, "{text}");
        }
    }
}
