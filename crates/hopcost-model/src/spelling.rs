//! The one canonical spelling of a case.
//!
//! ```text
//! roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block
//! roundtrip/futex?payload=0&boundary=thread&place=same-llc&wait=spin-then-block:block&spin=20000
//! call/ring-inline?payload=44
//! wake/semaphore?payload=0&gap=10000&boundary=process&place=same-llc&wait=block
//! stream/tcp-sendmsg?payload=2048&fields=8&flows=1&ack=per-message&boundary=process&place=free&wait=block
//! ```
//!
//! Keys stand in a fixed order. `payload` is in bytes (of a whole message, all
//! its fields together), `gap` (how long the sender of a `wake` sleeps before it
//! notifies) and `spin` (the budget of `spin-then-block`) in nanoseconds. What
//! does not apply to a workload is left out: a `call` has no second party, so no
//! boundary, placement or wait. Mechanism parameters (`nodelay=on`) follow in
//! alphabetical order, then `idle-knob`, `arrivals`, `senders`, `ack-size`, `touch`,
//! `sched` and `runtime` (`python`, or `python:rust` for caller and callee) where they are not the
//! default.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::axis::{AXES, Spelled};
use crate::case::{Case, CaseError, Workload};

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workload, self.mechanism)?;
        let spelled = |which: Spelled| {
            let axes = AXES.iter().filter(move |axis| axis.spelled == which);
            axes.filter_map(|axis| Some((axis.key.to_owned(), axis.spelled(self)?.to_string())))
        };
        let pairs = spelled(Spelled::Always).chain(self.parameters.clone());
        for (at, (key, value)) in pairs.chain(spelled(Spelled::UnlessDefault)).enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl FromStr for Case {
    type Err = CaseError;

    /// Parses a complete canonical case: nothing is defaulted here (the planner
    /// does that), and unknown keys are taken as mechanism parameters.
    fn from_str(s: &str) -> Result<Self, CaseError> {
        let form = "is not a case: write workload/mechanism?key=value&key=value";
        let form = || CaseError::Other(format!("`{s}` {form}"));
        let (path, query) = match s.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (s, None),
        };
        let (workload, mechanism) = path.split_once('/').ok_or_else(form)?;
        if mechanism.is_empty() {
            return Err(form());
        }
        let workload: Workload = workload.parse()?;
        let mut keys = BTreeMap::new();
        for pair in query.into_iter().flat_map(|q| q.split('&')) {
            let (key, value) = pair.split_once('=').ok_or_else(form)?;
            if keys.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(CaseError::Other(format!("`{key}` is given twice")));
            }
        }
        let mut case = Case::new(workload, mechanism);
        for axis in AXES.iter().filter(|axis| axis.is_part()) {
            match keys.remove(axis.key) {
                Some(text) => axis.set(&mut case, &axis.kind.read(axis.key, &text)?),
                None if axis.is_required(workload) => {
                    return Err(CaseError::Other(format!("`{}` is missing", axis.key)));
                }
                None => {}
            }
        }
        case.parameters = keys;
        Ok(case)
    }
}

impl Serialize for Case {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Case {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_a_case_survives_parsing() {
        for id in [
            "call/syscall",
            "call/ring-inline?payload=44",
            "roundtrip/pipe?payload=64&boundary=process&place=same-cpu&wait=block",
            "roundtrip/futex?payload=0&boundary=thread&place=same-llc&wait=spin-then-block:block&spin=20000&sched=fifo:10",
            "wake/pipe?payload=1&gap=1000&boundary=process&place=same-llc&wait=block&idle-knob=spinner&sched=fifo:1",
            "stream/tcp-send?payload=2048&fields=8&flows=2&ack=window:16&boundary=namespace&place=free&wait=block&more=off",
            // A stored plan may say what this version would refuse; it is shown as it is.
            "call/syscall?boundary=process",
            "roundtrip/tcp?payload=64&boundary=process&place=free&wait=block&nodelay=on&sched=fifo:1&runtime=python:rust",
            "roundtrip/sleep:1.5ms?payload=0&boundary=process&place=same-cpu&wait=block",
        ] {
            let case: Case = id.parse().unwrap();
            assert_eq!(case.to_string(), id);
        }
    }

    #[test]
    fn broken_spellings_say_what_is_wrong() {
        for (id, part) in [
            ("pipe", "is not a case"),
            ("rountrip/pipe", "unknown workload"),
            ("roundtrip/pipe?payload=64", "boundary"),
            ("roundtrip/pipe?payload=-1&boundary=process&place=free&wait=block", "payload"),
            ("roundtrip/pipe?payload=1&payload=2", "twice"),
            ("roundtrip/pipe?boundary=process&place=nearby&wait=block", "unknown place"),
            ("roundtrip/pipe?boundary=process&place=free&wait=block&sched=fifo:200", "sched"),
            ("wake/pipe?payload=1&boundary=process&place=free&wait=block", "gap"),
            (
                "stream/tcp-send?payload=8&fields=8&flows=1&ack=window:0&boundary=process&place=free&wait=block",
                "window:N",
            ),
            ("roundtrip/pipe?boundary=process&place=free&wait=block&touch=read", "unknown touch"),
            ("call/mutex-uncontended?runtime=Python", "runtime"),
        ] {
            let error = id.parse::<Case>().unwrap_err().to_string();
            assert!(error.contains(part), "{id}: {error}");
        }
    }
}
