//! The fingerprint: what could be read of the host. Most of it is a table
//! (`table`) of files and of what is looked for in them.

mod cgroup;
mod cpu;
mod kernel;
mod seen;
mod table;
mod virt;

pub(crate) use cgroup::throttled_groups;
use hopcost_model::host::{Host, Reading};

use crate::cpuinfo::CpuInfo;
use crate::root::{Root, Unreadable};
use crate::topology::topology;
use seen::{Found, Seen, because};
use table::{Parse, Row, SECTIONS};

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
        for run in rows.chunk_by(|a, b| a.is_of_cpu() == b.is_of_cpu()) {
            let cpus = if run[0].is_of_cpu() { seen.cpus.as_slice() } else { &[0] };
            for &cpu in cpus {
                let found = run.iter().flat_map(|row| seen.read(row, cpu));
                readings.extend(found.map(|(key, found)| reading(section, key, found)));
            }
        }
    }
    Host { readings }
}

fn reading(section: &str, key: String, found: Found) -> Reading {
    // A reading is one line, whatever the file held.
    let line = |text: String| text.replace(|c: char| c.is_control(), " ");
    let (value, reason) = match found {
        Ok(value) => (Some(line(value)), None),
        Err(reason) => (None, Some(line(reason))),
    };
    Reading { section: section.to_owned(), key, value, reason }
}

impl Seen<'_> {
    /// The readings of a row: one, but for those of a directory.
    fn read(&self, row: &Row, cpu: u32) -> Vec<(String, Found)> {
        let number = cpu.to_string();
        let (key, path) = (row.key.replace("{}", &number), row.path.replace("{}", &number));
        let found = match &row.parse {
            Parse::Each => return self.each(row),
            Parse::Text => self.text(&path, row.missing),
            Parse::List => {
                self.root.text_or_empty(&path).map_err(because(row.missing)).map(|text| {
                    let is_empty = text.is_empty() || text == "(null)";
                    if is_empty { "none".to_owned() } else { text }
                })
            }
            Parse::Of(find) => self.text(&path, row.missing).and_then(|text| {
                find(&text).ok_or_else(|| Unreadable::strange(&path, &text).into())
            }),
            Parse::Info(find) => self.first(row.missing, find),
            Parse::Code(find) => find(self, cpu),
        };
        vec![(key, found)]
    }

    /// A reading for each file in a directory, which differ from kernel to kernel.
    fn each(&self, row: &Row) -> Vec<(String, Found)> {
        let names = self.root.names(row.path).unwrap_or_default();
        if names.is_empty() {
            let reason = format!("{} does not exist or is empty", row.path);
            return vec![(format!("{}.all", row.key), Err(reason))];
        }
        let text = |name: &String| self.text(&format!("{}/{name}", row.path), row.missing);
        names.iter().map(|name| (format!("{}.{name}", row.key), text(name))).collect()
    }
}
