//! The fingerprint: what could be read of the host, one file per subject.

mod cgroup;
mod cpu;
mod frequency;
pub(crate) mod idle;
mod kernel;
mod load;
mod memory;
mod process;
mod virt;

use hopcost_model::host::{Host, Reading};

use crate::cpuinfo::CpuInfo;
use crate::root::{Root, Unreadable, Why};

/// A value, or the reason why there is none.
pub(crate) type Found = Result<String, String>;

/// Reads the host. `cpus` are the CPUs whose own readings (`cpuN.…`) are wanted,
/// usually the used ones; order and repetition do not matter.
///
/// Keys are stable and every key is always there, except those that exist only
/// where the thing exists: one `mitigations.…` per file of the kernel.
pub fn fingerprint(root: &Root, cpus: &[u32]) -> Host {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus.dedup();
    let seen = Seen { root, info: CpuInfo::read(root), cpus };
    let mut out = Readings::default();
    cpu::read(&seen, &mut out);
    frequency::read(&seen, &mut out);
    memory::read(&seen, &mut out);
    kernel::read(&seen, &mut out);
    virt::read(&seen, &mut out);
    idle::read(&seen, &mut out);
    cgroup::read(&seen, &mut out);
    process::read(&seen, &mut out);
    load::read(&seen, &mut out);
    Host { readings: out.0 }
}

/// Whether a reading changes by itself, so that a change between two
/// fingerprints means nothing.
pub fn is_volatile(key: &str) -> bool {
    key.starts_with("load.") || key.starts_with("stat.")
}

/// What the parts read from.
struct Seen<'a> {
    root: &'a Root,
    info: Result<CpuInfo, Unreadable>,
    /// Ascending, each once.
    cpus: Vec<u32>,
}

impl Seen<'_> {
    /// The text of a file as a value. `missing` is said where there is no such
    /// file; where it is empty, the path is.
    fn text(&self, path: &str, missing: &str) -> Found {
        self.root.text(path).map_err(|e| because(&e, missing))
    }

    /// As [`Seen::text`], but an empty file is the value `none`.
    fn text_or_none(&self, path: &str, missing: &str) -> Found {
        let text = self.root.text_or_empty(path).map_err(|e| because(&e, missing))?;
        Ok(if text.is_empty() { "none".into() } else { text })
    }

    /// A file that holds a switch; other texts stay as they are.
    fn switch(&self, path: &str, missing: &str) -> Found {
        Ok(match self.text(path, missing)?.as_str() {
            "1" | "Y" => "on".into(),
            "0" | "N" => "off".into(),
            other => other.to_owned(),
        })
    }

    /// What `read` finds in /proc/cpuinfo for each CPU asked for, told once if
    /// it is the same for all; `missing` where no CPU has it.
    fn across(&self, missing: &str, read: impl Fn(&CpuInfo, u32) -> Option<String>) -> Found {
        let info = self.info.as_ref().map_err(ToString::to_string)?;
        let first: Vec<u32> = info.first().into_iter().collect();
        let cpus = if self.cpus.is_empty() { &first } else { &self.cpus };
        let found: Vec<(u32, String)> =
            cpus.iter().filter_map(|&cpu| Some((cpu, read(info, cpu)?))).collect();
        let Some((_, value)) = found.first() else { return Err(missing.to_owned()) };
        if found.iter().all(|(_, other)| other == value) {
            return Ok(value.clone());
        }
        let each: Vec<String> = found.iter().map(|(cpu, v)| format!("cpu{cpu}: {v}")).collect();
        Ok(each.join("; "))
    }
}

/// The reason in words: `missing` explains a file that does not exist, any
/// other trouble explains itself.
fn because(error: &Unreadable, missing: &str) -> String {
    match error.why {
        Why::Missing => missing.to_owned(),
        _ => error.to_string(),
    }
}

/// The list being built.
#[derive(Default)]
struct Readings(Vec<Reading>);

impl Readings {
    fn put(&mut self, section: &str, key: impl Into<String>, found: Found) {
        // A reading is one line, whatever the file held.
        let line = |text: String| text.replace(|c: char| c.is_control(), " ");
        let (value, reason) = match found {
            Ok(value) => (Some(line(value)), None),
            Err(reason) => (None, Some(line(reason))),
        };
        self.0.push(Reading { section: section.to_owned(), key: key.into(), value, reason });
    }
}

/// A number of bytes in the largest binary unit that it fills, with at most two
/// decimals.
fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    // From here on two decimals would say 1024.00.
    const FULL: f64 = 1023.995;
    let mut unit = 0;
    let mut value = bytes as f64;
    while unit + 1 < UNITS.len() && value >= FULL {
        value /= 1024.0;
        unit += 1;
    }
    if bytes.is_multiple_of(1 << (10 * unit)) {
        return format!("{value:.0} {}", UNITS[unit]);
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// The word in brackets: `always [madvise] never` gives `madvise`.
fn bracketed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_said_in_the_unit_they_fill() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (8 << 20, "8 MiB"),
            (819_200, "800 KiB"),
            (1536, "1.50 KiB"),
            (24_684_084 << 10, "23.54 GiB"),
            (1_048_572 << 10, "1.00 GiB"),
            ((1 << 60) + 1, "1048576.00 TiB"),
        ] {
            assert_eq!(human_bytes(bytes), text);
        }
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(bracketed("always [madvise] never"), Some("madvise"));
        assert_eq!(bracketed("always madvise"), None);
        assert_eq!(bracketed("[open"), None);
    }
}
