//! /proc/cpuinfo: blocks of `key : value` lines, whose keys differ by architecture.

use std::collections::BTreeMap;

use crate::root::{Root, Unreadable};

/// Where it is read from.
pub(crate) const PATH: &str = "/proc/cpuinfo";

/// All blocks, one per CPU that is online.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CpuInfo {
    cpus: BTreeMap<u32, BTreeMap<String, String>>,
}

impl CpuInfo {
    pub(crate) fn read(root: &Root) -> Result<Self, Unreadable> {
        let text = root.text(PATH)?;
        let info = Self::parse(&text);
        if info.cpus.is_empty() { Err(Unreadable::strange(PATH, &text)) } else { Ok(info) }
    }

    /// Lines that are not understood are left out: vendors add their own.
    pub(crate) fn parse(text: &str) -> Self {
        let mut cpus: BTreeMap<u32, BTreeMap<String, String>> = BTreeMap::new();
        let mut current = None;
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                if line.trim().is_empty() {
                    current = None;
                }
                continue;
            };
            let (key, value) = (key.trim(), value.trim());
            if key == "processor" {
                current = value.parse::<u32>().ok();
            }
            if let Some(cpu) = current {
                cpus.entry(cpu).or_default().insert(key.to_owned(), value.to_owned());
            }
        }
        CpuInfo { cpus }
    }

    /// A field of one CPU, unless it is empty.
    pub(crate) fn field(&self, cpu: u32, key: &str) -> Option<&str> {
        self.cpus.get(&cpu)?.get(key).map(String::as_str).filter(|value| !value.is_empty())
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
        self.cpus.keys().next().copied()
    }
}
