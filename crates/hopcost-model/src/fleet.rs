//! The index of a fleet (`fleet.sqlite`): what it holds of a run file, and what a comparison reads of
//! it, which is the run of each host that counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::Validity;

/// Statistics by which hosts are compared, the first that a case has; and whether more is better.
pub const HEADLINE: [(&str, bool); 3] =
    [("aggregate_gbps", true), ("cost_ns", false), ("p50_ns", false)];

/// A fleet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawFleet {
    pub id: String,
    pub created: String,
    /// The hosts that have a run that can be read, by name.
    pub hosts: BTreeMap<String, IndexedRun>,
}

/// What a run file holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexedRun {
    /// The run's id.
    pub id: String,
    /// When it began.
    pub started: String,
    /// Why the file cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The fingerprint.
    pub facts: BTreeMap<String, String>,
    pub estimates: Vec<IndexedEstimate>,
}

/// What a run says of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IndexedEstimate {
    /// Canonical spelling of the case.
    pub case: String,
    /// Name of the statistic.
    pub statistic: String,
    /// Unit of the numbers.
    pub unit: String,
    /// Value and interval.
    pub point: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Validity of the case's result.
    pub validity: Option<Validity>,
}

impl IndexedEstimate {
    /// By which of [`HEADLINE`] hosts are compared, and the value, which its run does not call invalid.
    pub fn headline(&self) -> Option<(usize, f64)> {
        let statistic = HEADLINE.iter().position(|(known, _)| *known == self.statistic)?;
        let point = self.point.filter(|_| self.validity != Some(Validity::Invalid))?;
        (point > 0.0).then_some((statistic, point))
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
