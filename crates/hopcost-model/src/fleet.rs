//! What a comparison needs of a fleet: the run of each host that counts, as the index
//! (`fleet.sqlite`) holds it.

use std::collections::BTreeMap;

/// Statistics by which hosts are compared, the first that a case has; and whether more is better.
pub const HEADLINE: [(&str, bool); 3] =
    [("aggregate_gbps", true), ("cost_ns", false), ("p50_ns", false)];

/// A fleet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawFleet {
    pub id: String,
    pub created: String,
    /// The hosts that have a run that can be read, by name.
    pub hosts: BTreeMap<String, HostRun>,
    /// What of the index was left out, a sentence each.
    pub left_out: Vec<String>,
}

/// The run of a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostRun {
    /// The fingerprint: key and value.
    pub facts: Vec<(String, String)>,
    pub values: Vec<HostValue>,
}

/// A value of a case, which its run does not call invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct HostValue {
    /// Canonical spelling of the case.
    pub case: String,
    /// Index in [`HEADLINE`].
    pub statistic: usize,
    /// Above 0 and finite.
    pub value: f64,
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
