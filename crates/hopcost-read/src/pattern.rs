//! Which cases are meant where a suite or a published table speaks of some.

use std::collections::BTreeMap;

use hopcost_model::case::{Case, Placement, encode};

/// Workload, mechanism, and some keys of a case's spelling.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    path: String,
    keys: BTreeMap<String, String>,
}

/// Keys that are left out of the spelling where they have these values.
const LEFT_OUT: [(&str, &str); 3] =
    [("idle-knob", "none"), ("sched", "other"), ("runtime", "rust")];

impl Pattern {
    /// Reads `workload/mechanism?key=value&key=value`.
    ///
    /// # Errors
    /// In one line, why it is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let wrong = || format!("`{text}` is not a pattern");
        let workload = path.split_once('/').ok_or_else(wrong)?.0;
        workload.parse::<hopcost_model::case::Workload>().map_err(|_| wrong())?;
        let keys: Option<BTreeMap<String, String>> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
            .collect();
        Ok(Pattern { path: path.to_owned(), keys: keys.ok_or_else(wrong)? })
    }

    /// Whether a case has every key with its value; `*` stands for any mechanism.
    pub fn fits(&self, case: &Case) -> bool {
        // Before the spelling, which takes time: most cases are of another mechanism.
        let (workload, mechanism) = self.path.split_once('/').unwrap_or_default();
        let is_of_it = |name: &str| match mechanism.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == mechanism,
        };
        if workload != case.workload.word() || !is_of_it(&encode(&case.mechanism)) {
            return false;
        }
        let id = case.id();
        let query = id.split_once('?').map_or("", |(_, query)| query);
        let pairs: BTreeMap<&str, &str> =
            query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let value = |key: &str| {
            let left_out = LEFT_OUT.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
            pairs.get(key).copied().or(left_out)
        };
        self.keys.iter().all(|(key, wanted)| value(key) == Some(wanted))
    }

    /// Whether it also has this placement where one is asked for (`cross`: any two CPUs). A
    /// call has no placement and fits any. Without a runtime, both ends must be in Rust.
    pub fn fits_at(&self, case: &Case, place: Option<&str>) -> bool {
        (self.keys.contains_key("runtime") || case.runtimes.are_rust())
            && place.is_none_or(|place| case.placement.is_none_or(|of| is(of, place)))
            && self.fits(case)
    }
}

fn is(placement: Placement, place: &str) -> bool {
    match place {
        "cross" => !matches!(placement, Placement::SameCpu | Placement::Free),
        place => placement.word() == place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CALL, PIPE, WAKE};

    #[test]
    fn some_keys_decide() {
        let fits = |pattern: &str, id: &str, place: Option<&str>| {
            Pattern::parse(pattern).unwrap().fits_at(&id.parse().unwrap(), place)
        };
        assert!(fits("roundtrip/pipe", PIPE, None));
        assert!(fits("roundtrip/pipe?payload=64&wait=block", PIPE, Some("same-cpu")));
        assert!(!fits("roundtrip/pipe?payload=6", PIPE, None), "a value, not its beginning");
        assert!(!fits("roundtrip/pipe", PIPE, Some("cross")));
        assert!(!fits("roundtrip/pip", PIPE, None));
        assert!(fits("wake/pipe?gap=1000000&idle-knob=none", WAKE, Some("cross")));
        let knob = format!("{WAKE}&idle-knob=spinner");
        assert!(!fits("wake/pipe?gap=1000000&idle-knob=none", &knob, None));
        assert!(fits("call/syscall", CALL, Some("free")));
        let python = format!("{PIPE}&runtime=python");
        assert!(!fits("roundtrip/pipe", &python, None), "Rust, unless said otherwise");
        assert!(fits("roundtrip/pipe?runtime=python", &python, None));
        assert!(!fits("roundtrip/pipe?runtime=python", PIPE, None));
        assert!(!fits("roundtrip/pipe?runtime=python", &format!("{python}:rust"), None));
        assert!(fits("roundtrip/pipe?runtime=rust", PIPE, None));
    }
}
