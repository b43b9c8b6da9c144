//! The fingerprint: what could be read of the host. What each reading is stands in `table`.

mod cgroup;
mod cpu;
mod kernel;
mod seen;
mod table;
mod virt;

pub(crate) use cgroup::throttled_groups;
use hopcost_model::host::{Host, Reading};

use crate::cpuinfo::CpuInfo;
use crate::root::Root;
use crate::topology::topology;
use seen::{Found, Seen};
use table::{Row, SECTIONS};

/// Where the kernel has a file for each vulnerability that it knows.
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// Reads the host. `cpus` are the CPUs whose own readings (`cpuN.…`) are wanted,
/// usually the used ones; order and repetition do not matter.
///
/// Keys are stable and every key is always there, except those that exist only
/// where the thing exists: one `mitigations.…` per file of the kernel.
pub fn fingerprint(root: &Root, cpus: &[u32]) -> Host {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let seen = Seen { root, info: CpuInfo::read(root), topology: topology(root, &cpus), cpus };
    let mut readings = Vec::new();
    for (section, rows) in SECTIONS {
        // Rows of a CPU that follow each other are read CPU by CPU.
        let is_of_cpu = |row: &Row| row.0.contains("{}");
        for run in rows.chunk_by(|a, b| is_of_cpu(a) == is_of_cpu(b)) {
            let cpus = if is_of_cpu(&run[0]) { seen.cpus.as_slice() } else { &[0] };
            for &cpu in cpus {
                let read = |(key, read): &Row| {
                    let key = key.replace("{}", &cpu.to_string());
                    reading(section, &key, read(&seen, cpu))
                };
                readings.extend(run.iter().map(read));
            }
        }
        if *section == "mitigations" {
            let found = mitigations(&seen).into_iter();
            readings.extend(found.map(|(key, found)| reading(section, &key, found)));
        }
    }
    Host { readings }
}

fn reading(section: &str, key: &str, found: Found) -> Reading {
    // A reading is one line, whatever the file held.
    let line = |text: String| text.replace(|c: char| c.is_control(), " ");
    Reading::found(section, key, found.map(line).map_err(line))
}

/// A reading for each vulnerability, which differ from kernel to kernel.
fn mitigations(seen: &Seen) -> Vec<(String, Found)> {
    let names = seen.root.names(VULNERABILITIES).unwrap_or_default();
    if names.is_empty() {
        let reason = format!("{VULNERABILITIES} does not exist or is empty");
        return vec![("mitigations.all".to_owned(), Err(reason))];
    }
    let text = |name: &String| {
        let found = seen.text(&format!("{VULNERABILITIES}/{name}"), "gone while it was read");
        (format!("mitigations.{name}"), found)
    };
    names.iter().map(text).collect()
}
