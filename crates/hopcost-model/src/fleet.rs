//! A fleet as its index holds it (`fleet.sqlite`): what `hopcost-file` reads and `hopcost-read` makes a report of.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::Validity;

/// All that is known of a fleet. Texts that many rows share are held once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawFleet {
    /// The table `fleet`.
    pub about: BTreeMap<String, String>,
    /// The hosts, by name.
    pub hosts: Vec<RawHost>,
    /// What was to be measured, in the order of the plan.
    pub tasks: Vec<RawTask>,
    /// The run files that were indexed.
    pub files: Vec<IndexedFile>,
    /// Canonical spellings of the cases that estimates are of.
    pub cases: Vec<String>,
    /// What of the index was left out, a sentence each.
    pub left_out: Vec<String>,
}

/// A row of the table `host`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawHost {
    /// Its name, by which its files are called.
    pub name: String,
    /// How it was reached.
    pub address: Option<String>,
    /// Words that its owner has for it (`rack` → `r7`).
    pub labels: BTreeMap<String, String>,
    /// `ready`, `unreachable`, `refused` or `lost`.
    pub state: String,
    /// Why it is not ready.
    pub reason: Option<String>,
    /// The version of hopcost there.
    pub hopcost: Option<String>,
    /// How far its clock is behind the driver's, in seconds.
    pub clock_off_s: Option<f64>,
    /// What the agent took: CPU in per cent and wake-ups a second, at work and frozen.
    pub agent: [Option<f64>; 4],
}

/// A row of the table `task`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawTask {
    /// The host, or the near end of a pair.
    pub a: String,
    /// The far end of a pair.
    pub b: Option<String>,
    /// Which of several tries.
    pub attempt: u32,
    /// `planned`, `running`, `done`, `failed` or `skipped`.
    pub state: String,
    /// Why it failed.
    pub reason: Option<String>,
    /// Index of its run file, where that was indexed.
    pub file: Option<usize>,
}

/// A row of the table `run_file`, with what was found in the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexedFile {
    /// Its path in the fleet's directory.
    pub file: String,
    /// The run's id.
    pub run_id: Option<String>,
    /// When it began.
    pub started: Option<String>,
    /// Why it could not be read.
    pub error: Option<String>,
    /// The fingerprint: key and value.
    pub facts: Vec<(Arc<str>, Arc<str>)>,
    /// What was estimated.
    pub estimates: Vec<IndexedEstimate>,
}

/// A row of the table `estimate`.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedEstimate {
    /// Index of the case.
    pub case: usize,
    /// Its name (`p50_ns`); empty where the case has none.
    pub statistic: Arc<str>,
    /// Unit of the numbers.
    pub unit: Arc<str>,
    /// The value; positive and finite.
    pub point: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Trials behind it.
    pub trials: u32,
    /// Validity of the case's result.
    pub validity: Option<Validity>,
    /// Why there is no value.
    pub skip: Option<Arc<str>>,
}

impl IndexedEstimate {
    /// The value, where its run does not call it invalid.
    pub fn value(&self) -> Option<f64> {
        self.point.filter(|_| self.validity != Some(Validity::Invalid))
    }
}

/// Whether a name is one that a host may have: it becomes a part of file names.
pub fn is_host_name(name: &str) -> bool {
    const LENGTH_MAX: usize = 64;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=LENGTH_MAX).contains(&name.len())
        && name.bytes().all(is_letter)
        && !name.starts_with(['.', '-'])
        && !name.contains("--")
}

#[cfg(test)]
mod tests {
    use super::is_host_name;

    #[test]
    fn names_of_hosts_lead_nowhere_else() {
        for name in ["h1", "node-7.rack_2", "A", &"x".repeat(64)] {
            assert!(is_host_name(name), "{name}");
        }
        for name in ["", ".", "..", "../x", "-h", ".h", "a/b", "a--b", "a b", "é", &"x".repeat(65)]
        {
            assert!(!is_host_name(name), "{name}");
        }
    }
}
