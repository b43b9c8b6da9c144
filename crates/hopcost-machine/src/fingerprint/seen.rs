//! What the readings are read from.

use crate::cpuinfo::CpuInfo;
use crate::root::{Root, Unreadable, Why};
use crate::topology::{Topology, topology};

/// A value, or the reason why there is none.
pub(super) type Found = Result<String, String>;

/// The host, with what several readings share.
pub(super) struct Seen<'a> {
    pub root: &'a Root,
    pub info: Result<CpuInfo, Unreadable>,
    pub topology: Topology,
    /// Ascending, each once.
    pub cpus: Vec<u32>,
}

impl<'a> Seen<'a> {
    pub fn new(root: &'a Root, cpus: &[u32]) -> Self {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        Seen { root, info: CpuInfo::read(root), topology: topology(root, &cpus), cpus }
    }

    /// The text of a file as a value. `missing` is said where there is no such
    /// file, if it is not empty; any other trouble explains itself.
    pub fn text(&self, path: &str, missing: &str) -> Found {
        self.root.text(path).map_err(|e| because(&e, missing))
    }

    /// As [`Seen::text`], but an empty file is fine.
    pub fn text_or_empty(&self, path: &str, missing: &str) -> Found {
        self.root.text_or_empty(path).map_err(|e| because(&e, missing))
    }

    /// The reason where a file holds something else than is documented.
    pub fn strange(path: &str, text: &str) -> String {
        Unreadable::strange(path, text).to_string()
    }

    /// What `read` finds in /proc/cpuinfo for each CPU asked for, told once if
    /// it is the same for all; `missing` where no CPU has it.
    pub fn across(&self, missing: &str, read: impl Fn(&CpuInfo, u32) -> Option<String>) -> Found {
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

/// The reason in words.
pub(super) fn because(error: &Unreadable, missing: &str) -> String {
    match error.why {
        Why::Missing if !missing.is_empty() => missing.to_owned(),
        _ => error.to_string(),
    }
}
