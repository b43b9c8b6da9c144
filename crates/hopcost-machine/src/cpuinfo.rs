//! /proc/cpuinfo: blocks of `key : value` lines, whose keys differ by architecture.

use crate::root::{Root, Unreadable};

/// Where it is read from.
const PATH: &str = "/proc/cpuinfo";

/// Its text, of which one CPU at least is understood.
pub(crate) struct CpuInfo(String);

impl CpuInfo {
    pub(crate) fn read(root: &Root) -> Result<Self, Unreadable> {
        let info = Self(root.text(PATH)?);
        if info.first().is_none() { Err(Unreadable::strange(PATH, &info.0)) } else { Ok(info) }
    }

    /// The CPUs that are online, each with its block.
    fn blocks(&self) -> impl Iterator<Item = (u32, &str)> {
        let blocks = self.0.split("\n\n");
        blocks.filter_map(|block| Some((value(block, "processor")?.parse().ok()?, block)))
    }

    /// A field of one CPU, unless it is empty.
    pub(crate) fn field(&self, cpu: u32, key: &str) -> Option<&str> {
        let (_, block) = self.blocks().find(|(of, _)| *of == cpu)?;
        value(block, key).filter(|value| !value.is_empty())
    }

    /// The feature flags of one CPU: `flags` on x86, `Features` on Arm.
    pub(crate) fn flags(&self, cpu: u32) -> Option<Vec<&str>> {
        let text = self.field(cpu, "flags").or_else(|| self.field(cpu, "Features"))?;
        Some(text.split_whitespace().collect())
    }

    /// Whether this is an x86: only there do `flags` include a hypervisor bit.
    pub(crate) fn is_x86(&self) -> bool {
        self.first().is_some_and(|cpu| self.field(cpu, "flags").is_some())
            && self.first().is_some_and(|cpu| self.field(cpu, "vendor_id").is_some())
    }

    /// The lowest CPU that is described.
    pub(crate) fn first(&self) -> Option<u32> {
        self.blocks().map(|(cpu, _)| cpu).min()
    }
}

/// What stands behind a key. Lines that are not understood are left out: vendors add their own.
fn value<'t>(block: &'t str, key: &str) -> Option<&'t str> {
    let mut fields = block.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(of, _)| of.trim() == key).map(|(_, value)| value.trim())
}
