//! What cases are called where several stand together.

use hopcost_model::axis::Axis;
use hopcost_model::case::{Boundary, Case, Placement};

use crate::ladder::{Meaning, bytes};
use crate::trial::Family;

/// What cases must share to stand in one table: everything but the mechanism with its
/// parameters and waits, and the runtimes. Calls of all sizes stand together.
pub fn setting(case: &Case) -> Case {
    let payload_bytes = case.payload_bytes.filter(|_| case.workload.has_two_ends());
    Case {
        mechanism: String::new(),
        payload_bytes: payload_bytes.filter(|bytes| *bytes > 0),
        parameters: Default::default(),
        waits: None,
        spin_budget_ns: None,
        runtimes: Default::default(),
        ..case.clone()
    }
}

/// A setting in words: `round trip, 64 bytes each way, two processes, one CPU`.
pub fn title(setting: &Case, family: Family) -> String {
    let mut title = Meaning::of(setting, family, None).title();
    if let Some(place) = place(setting) {
        title.push_str(&format!(", {place}"));
    }
    title
}

/// Where the ends are: `two processes, one CPU`; nothing for a call.
fn place(case: &Case) -> Option<String> {
    let boundary = match case.boundary {
        Boundary::Inline => "one thread",
        Boundary::Thread => "two threads",
        Boundary::Process => "two processes",
        Boundary::Namespace => "two network namespaces",
        Boundary::Host => "two hosts",
    };
    let cpus = match case.placement? {
        Placement::SameCpu => "one CPU".to_owned(),
        Placement::Free => "not pinned".to_owned(),
        Placement::Pinned => "pinned".to_owned(),
        place => format!("two CPUs ({place})"),
    };
    let mut words = format!("{boundary}, {cpus}");
    for (axis, value) in Axis::unusual(case) {
        words.push_str(&format!(", {}={value}", axis.key));
    }
    Some(words)
}

/// The mechanism of a case, with its wait and parameters where those of the same
/// mechanism differ among `all`, and the size of a call's payload.
pub fn mechanism<'a>(case: &Case, all: impl Iterator<Item = &'a Case>) -> String {
    let same: Vec<&Case> = all.filter(|other| other.mechanism == case.mechanism).collect();
    let mut name = case.mechanism.clone();
    if let Some(payload) = case.payload_bytes.filter(|_| !case.workload.has_two_ends()) {
        name.push_str(&format!(" {}", bytes(payload)));
    }
    let differ = same
        .iter()
        .any(|other| (other.waits, other.spin_budget_ns) != (case.waits, case.spin_budget_ns));
    if let Some(waits) = case.waits.filter(|_| differ) {
        name.push_str(&format!(" wait={waits}"));
    }
    for (key, value) in &case.parameters {
        if same.iter().any(|other| other.parameters.get(key) != Some(value)) {
            name.push_str(&format!(" {key}={value}"));
        }
    }
    name
}
