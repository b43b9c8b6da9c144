//! The fingerprint: what could be read of the host. Most of it is a table
//! (`table`) of files and of what is looked for in them.

mod cgroup;
mod cpu;
mod kernel;
mod parse;
mod seen;
mod several;
mod table;
mod virt;

pub(crate) use cgroup::throttled_groups as throttled;
use hopcost_model::host::{Host, Reading};

use crate::root::Root;
use seen::{Found, Seen};
use table::{Parse, Row, SECTIONS};

/// Reads the host. `cpus` are the CPUs whose own readings (`cpuN.…`) are wanted,
/// usually the used ones; order and repetition do not matter.
///
/// Keys are stable and every key is always there, except those that exist only
/// where the thing exists: one `mitigations.…` per file of the kernel.
pub fn fingerprint(root: &Root, cpus: &[u32]) -> Host {
    let seen = Seen::new(root, cpus);
    let mut readings = Vec::new();
    for (section, rows) in SECTIONS {
        // Rows of a CPU that follow each other are read CPU by CPU.
        for run in rows.chunk_by(|a, b| a.is_of_cpu() == b.is_of_cpu()) {
            let cpus = if run[0].is_of_cpu() { seen.cpus.as_slice() } else { &[0] };
            for &cpu in cpus {
                let found = run.iter().flat_map(|row| read(&seen, row, cpu));
                readings.extend(found.map(|(key, found)| reading(section, key, found)));
            }
        }
    }
    Host { readings }
}

/// The readings of a row: one, but for those of a directory.
fn read(seen: &Seen, row: &Row, cpu: u32) -> Vec<(String, Found)> {
    let number = cpu.to_string();
    let (key, path) = (row.key.replace("{}", &number), row.path.replace("{}", &number));
    let text = || seen.text(&path, row.missing);
    let found = match &row.parse {
        Parse::Each => return each(seen, row),
        Parse::Text(words) => text().map(|text| parse::word(words, text)),
        Parse::OrNone(words) => seen.text_or_empty(&path, row.missing).map(|text| {
            let text = parse::word(words, text);
            if text.is_empty() { "none".to_owned() } else { text }
        }),
        Parse::Of(find) => {
            text().and_then(|text| find(&text).ok_or_else(|| Seen::strange(&path, &text)))
        }
        Parse::Line(start, find, missing) => text().and_then(|text| {
            let rest = text.lines().find_map(|line| line.strip_prefix(start));
            rest.and_then(find).ok_or_else(|| (*missing).to_owned())
        }),
        Parse::Info(find) => seen.across(row.missing, find),
        Parse::Code(find) => find(seen),
        Parse::OfCpu(find) => find(seen, cpu),
    };
    vec![(key, found)]
}

/// A reading for each file in a directory, which differ from kernel to kernel.
fn each(seen: &Seen, row: &Row) -> Vec<(String, Found)> {
    let names = seen.root.names(row.path).unwrap_or_default();
    if names.is_empty() {
        let reason = format!("{} does not exist or is empty", row.path);
        return vec![(format!("{}.all", row.key), Err(reason))];
    }
    let text = |name: &String| seen.text(&format!("{}/{name}", row.path), row.missing);
    names.iter().map(|name| (format!("{}.{name}", row.key), text(name))).collect()
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
