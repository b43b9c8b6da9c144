//! Memory, swap, huge pages and NUMA nodes.

use super::{Found, Readings, Seen, because, bracketed, human_bytes};
use crate::root::Unreadable;
use crate::topology::{NODE_DIR, nodes_by_cpu};

const NO_NUMA: &str = "kernel without NUMA support, or not told to this guest";

pub(super) fn read(seen: &Seen, out: &mut Readings) {
    let section = "memory";
    out.put(section, "memory.total", kib_field(seen, "/proc/meminfo", "MemTotal:"));
    out.put(section, "memory.page_size", kib_field(seen, "/proc/self/smaps", "KernelPageSize:"));
    out.put(section, "memory.swap", swap(seen));
    out.put(section, "thp.enabled", huge_pages(seen));
    out.put(section, "numa.nodes", nodes(seen));
    let no_balancing = "kernel without automatic NUMA balancing";
    let balancing = seen.switch("/proc/sys/kernel/numa_balancing", no_balancing);
    out.put(section, "numa.balancing", balancing);
    let nodes = nodes_by_cpu(seen.root);
    for cpu in &seen.cpus {
        let node = nodes.get(cpu).map(u32::to_string).ok_or_else(|| NO_NUMA.to_owned());
        out.put(section, format!("cpu{cpu}.node"), node);
    }
}

/// The first line `<field>  N kB` of a file.
fn kib_field(seen: &Seen, path: &str, field: &str) -> Found {
    let text = seen.text(path, &format!("{path} does not exist"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    let bytes = line.and_then(kib);
    bytes.map(human_bytes).ok_or_else(|| format!("{path} has no line `{field} … kB`"))
}

fn kib(text: &str) -> Option<u64> {
    text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn swap(seen: &Seen) -> Found {
    const PATH: &str = "/proc/swaps";
    let text = seen.text(PATH, "kernel without swap")?;
    parse_swap(&text).ok_or_else(|| Unreadable::strange(PATH, &text).to_string())
}

fn parse_swap(text: &str) -> Option<String> {
    let mut lines = text.lines();
    if !lines.next()?.starts_with("Filename") {
        return None;
    }
    let mut bytes = 0u64;
    let mut areas = 0u32;
    let mut compressed = 0u32;
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Filename Type Size Used Priority; the size in KiB.
        let [.., size, _used, _priority] = words.as_slice() else { return None };
        bytes = bytes.checked_add(size.parse::<u64>().ok()?.checked_mul(1024)?)?;
        areas += 1;
        compressed += u32::from(line.starts_with("/dev/zram"));
    }
    Some(match (areas, compressed) {
        (0, _) => "none".to_owned(),
        (n, z) if n == z => format!("{} in compressed memory (zram)", human_bytes(bytes)),
        (1, _) => format!("{} in 1 area", human_bytes(bytes)),
        (n, _) => format!("{} in {n} areas", human_bytes(bytes)),
    })
}

fn huge_pages(seen: &Seen) -> Found {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let text = seen.text(path, "kernel without transparent huge pages")?;
    bracketed(&text).map(str::to_owned).ok_or_else(|| Unreadable::strange(path, &text).to_string())
}

fn nodes(seen: &Seen) -> Found {
    let path = format!("{NODE_DIR}/online");
    let text = seen.root.text(&path).map_err(|e| because(&e, NO_NUMA))?;
    let nodes = crate::cpulist::parse_cpu_list(&text)
        .map_err(|_| Unreadable::strange(&path, &text).to_string())?;
    let plural = if nodes.len() == 1 { "node" } else { "nodes" };
    Ok(format!("{} {plural} ({text})", nodes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_summed_over_its_areas() {
        let head = "Filename\tType\tSize\tUsed\tPriority";
        let with = |rows: &str| parse_swap(&format!("{head}{rows}"));
        assert_eq!(with("").as_deref(), Some("none"));
        let one = "\n/swap file\\040x file 2097148 0 -2";
        assert_eq!(with(one).as_deref(), Some("2.00 GiB in 1 area"));
        let two = "\n/dev/sda2 partition 1024 0 -2\n/dev/zram0 partition 1024 5 100";
        assert_eq!(with(two).as_deref(), Some("2 MiB in 2 areas"));
        let zram = "\n/dev/zram0 partition 1048576 5 100";
        assert_eq!(with(zram).as_deref(), Some("1 GiB in compressed memory (zram)"));
        for garbage in ["\nx", "\na b c d e", "\n/a file 18446744073709551615 0 0"] {
            assert_eq!(with(garbage), None, "{garbage}");
        }
        assert_eq!(parse_swap("nonsense"), None);
    }

    #[test]
    fn sizes_need_their_unit() {
        assert_eq!(kib("  4 kB"), Some(4096));
        assert_eq!(kib("4"), None);
        assert_eq!(kib("x kB"), None);
        assert_eq!(kib("18446744073709551615 kB"), None);
    }
}
