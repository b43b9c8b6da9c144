//! What a worker says of itself in answer to `describe` (workers/PROTOCOL.md).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::case::{Boundary, Runtime, WaitKind, Workload};
use crate::document::Document;
use crate::mechanism::{LinkSource, Mechanism, Peers, TABLE, Words};
use crate::workload::EndsOf;

document! {
    /// A worker.
    #[derive(Default)]
    #[serde(default)]
    pub struct Description {
        /// Protocol version.
        pub protocol: u32,
        /// Name of the runtime, as cases spell it (`rust`, `python`).
        pub runtime: String,
        /// Version of the worker itself.
        pub version: String,
        /// What it is made of, with versions: the language first of all
        /// (`python`: `3.11.7`), its libraries.
        pub libraries: BTreeMap<String, String>,
        /// What of the runtime itself shapes its numbers, a line each (`the GIL is on`).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub remarks: Vec<String>,
        /// The clock of its stamps.
        pub clock: WorkerClock,
        /// How long it has to be warmed up.
        pub warm_up: WarmUp,
        /// Whether it obeys `spoil`, by which hopcost checks a link that is the worker's own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub spoils: bool,
        /// Mechanisms it has, the unavailable ones with their reason.
        pub mechanisms: Vec<Mechanism>,
    }

    /// The clock of a worker's stamps.
    pub struct WorkerClock {
        /// What the ticks are.
        pub source: String,
        /// Ticks in a second; 0 where only calibration can tell (`tsc`).
        pub ticks_per_second: f64,
    }

    /// How long a runtime has to be warmed up.
    #[derive(Copy, Eq, Default)]
    pub enum WarmUp {
        /// As long as the plan says.
        #[default]
        Planned,
        /// Until what it measures no longer changes: it compiles while it runs.
        UntilSteady,
    }
}

impl Default for WorkerClock {
    /// Nanoseconds of CLOCK_MONOTONIC (clock_gettime(2)).
    fn default() -> Self {
        Self { source: "CLOCK_MONOTONIC".into(), ticks_per_second: 1e9 }
    }
}

/// A runtime whose worker was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeFacts {
    /// Its name.
    pub runtime: Runtime,
    /// What a process of it takes from its start until it is attached, where its folder says so.
    pub start_ns: Option<u64>,
    /// What its worker says of itself, or why it is absent (`not built: run
    /// scripts/setup workers go`).
    pub state: Result<Description, String>,
}

/// What a worker's folder says of its mechanisms: fields of [`Mechanism`] by the mechanism's name.
pub type Facts = BTreeMap<String, Map<String, Value>>;

/// The field of [`Facts`] that names the mechanism whose facts hold where there are none of its own.
const LIKE: &str = "like";
/// What a worker alone says.
const SAID: [&str; 6] = ["name", "unavailable", "revision", "own", "here", "words"];

impl Description {
    /// What a worker said of itself, with the facts of its folder and those of hopcost's mechanisms.
    pub fn completed(mut said: Value, facts: &Facts) -> Result<Self, String> {
        let rows = said.as_object_mut().and_then(|said| said.remove("mechanisms"));
        let mut described: Self =
            serde_json::from_value(said).map_err(|e| format!("its description: {e}"))?;
        for row in serde_json::from_value::<Option<Vec<Map<_, _>>>>(rows.unwrap_or_default())
            .map_err(|error| format!("its mechanisms: {error}"))?
            .into_iter()
            .flatten()
        {
            described.mechanisms.push(completed(row, facts)?);
        }
        match facts.keys().find(|name| described.mechanism(name).is_none()) {
            Some(name) => {
                Err(format!("it does not describe [mechanism.{name}] of its worker.toml"))
            }
            None => Ok(described),
        }
    }
    /// What it says of a mechanism.
    pub fn mechanism(&self, name: &str) -> Option<&Mechanism> {
        self.mechanisms.iter().find(|mechanism| mechanism.name == name)
    }
    /// Whether it is the worker inside the hopcost binary.
    pub fn is_rust(&self) -> bool {
        self.runtime == Runtime::RUST.word()
    }
}

impl RuntimeFacts {
    /// What its worker says of a mechanism.
    pub fn mechanism(&self, name: &str) -> Option<&Mechanism> {
        self.state.as_ref().ok()?.mechanism(name)
    }
}

/// A mechanism as its worker described it, with the facts that it left to others: those of the folder,
/// then those of hopcost's mechanism of its name, or of the one that it is like.
fn completed(mut row: Map<String, Value>, facts: &Facts) -> Result<Mechanism, String> {
    let text = |of: &Map<_, _>, key| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text(&row, "name").unwrap_or_default();
    let mut like = name.clone();
    // As often as there are entries, because these may go in a circle.
    for _ in facts {
        let Some(entry) = facts.get(&like) else { break };
        for (key, value) in entry {
            let mut fields = Mechanism::FIELDS.iter().chain(Words::FIELDS);
            if SAID.contains(&&**key) || key != LIKE && !fields.any(|field| field.key == key) {
                return Err(format!("worker.toml: [mechanism.{like}]: there is no fact `{key}`"));
            }
            row.entry(key).or_insert_with(|| value.clone());
        }
        like = text(entry, LIKE).unwrap_or(like);
    }
    let hopcosts = TABLE.get(&like).map(of_other_runtime).transpose();
    let hopcosts = hopcosts.map_err(|error| error.to_string())?;
    // Limits are those of the payload.
    let keeps_limits = !row.contains_key("payload");
    for (key, value) in hopcosts.iter().flatten() {
        if keeps_limits || key != "limits" {
            row.entry(key).or_insert_with(|| value.clone());
        }
    }
    let says = |key| row.contains_key(key);
    let (says_link, says_peers) = (says("link"), says("peers"));
    let mut mechanism: Mechanism = serde_json::from_value(Value::Object(row))
        .map_err(|error| format!("its mechanism `{name}`: {error}"))?;
    if mechanism.workloads.is_empty() {
        mechanism.workloads.push(Workload::Roundtrip);
    }
    let has_two_ends = mechanism.workloads.iter().any(|of| of.spec().ends != EndsOf::One);
    if has_two_ends && mechanism.waits.is_empty() {
        mechanism.waits.push(WaitKind::Block);
    }
    if !says_link && hopcosts.is_some() && mechanism.boundaries.contains(&Boundary::Process) {
        mechanism.link = LinkSource::Descriptors;
    }
    if !says_peers && mechanism.link != LinkSource::Own {
        mechanism.peers = Peers::Any;
    }
    Ok(mechanism)
}

/// What of a mechanism of hopcost holds for another runtime that has it too.
fn of_other_runtime(hopcosts: &Mechanism) -> serde_json::Result<Map<String, Value>> {
    let Mechanism { family, words, payload, parameters, .. } = hopcosts.clone();
    let mut workloads = hopcosts.workloads.clone();
    // Only a worker that says so plays loads.
    workloads.retain(|workload| matches!(workload, Workload::Call | Workload::Roundtrip));
    let mut boundaries = hopcosts.boundaries.clone();
    boundaries.retain(|boundary| matches!(boundary, Boundary::Process | Boundary::Thread));
    let waits = hopcosts.waits.iter().take(1).copied().collect();
    let facts = Mechanism {
        family,
        words,
        workloads,
        boundaries,
        loses: hopcosts.loses,
        waits,
        payload,
        parameters,
        ..Mechanism::default()
    };
    let mut facts = serde_json::from_value::<Map<_, _>>(serde_json::to_value(facts)?)?;
    facts.retain(|key, _| !["name", "link", "peers", "revision"].contains(&key.as_str()));
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        toml::from_str(text).unwrap()
    }

    /// The mechanism of a worker that describes these names alone.
    fn first(names: &[&str], text: &str) -> Result<Mechanism, String> {
        let facts = facts(text);
        let rows: Vec<Value> =
            names.iter().map(|name| serde_json::json!({ "name": name })).collect();
        let said = serde_json::json!({ "runtime": "x", "mechanisms": rows });
        Description::completed(said, &facts).map(|mut described| described.mechanisms.remove(0))
    }

    #[test]
    fn a_fact_comes_from_the_nearest_that_says_it() {
        let text = "[a]\nlike = \"b\"\nabout = \"a's\"\nboundaries = [\"process\"]\n\
                    [b]\nlike = \"pipe\"\nabout = \"b's\"\ncopies = \"b's\"\n";
        let a = first(&["a", "b"], text).unwrap();
        assert_eq!((&*a.words.about, &*a.words.copies), ("a's", "b's"));
        let pipe = &TABLE["pipe"];
        assert_eq!(
            (&a.words.wakes, &a.family, a.payload),
            (&pipe.words.wakes, &pipe.family, pipe.payload)
        );
        assert_eq!((a.workloads, a.waits), (vec![Workload::Roundtrip], vec![WaitKind::Block]));
        assert_eq!((a.link, a.peers, a.revision), (LinkSource::Descriptors, Peers::Any, 1));
        // What a worker says itself comes first, and its payload's limits are not hopcost's.
        let said = r#"{"runtime":"x","mechanisms":[
            {"name":"pipe","about":"its own","payload":{"min":1,"max":9,"default":9}},
            {"name":"thread-start"},{"name":"shm-ring","link":"own"}]}"#;
        let said =
            Description::completed(serde_json::from_str(said).unwrap(), &Facts::new()).unwrap();
        let [pipe, call, ring] = &said.mechanisms[..] else { panic!("three were described") };
        assert_eq!((&*pipe.words.about, &*pipe.words.limits), ("its own", ""));
        assert_eq!((&call.workloads[..], &call.waits[..]), (&[Workload::Call][..], &[][..]));
        assert_eq!(
            (ring.link, ring.peers, &ring.waits[..]),
            (LinkSource::Own, Peers::Own, &[WaitKind::Spin][..])
        );
    }

    #[test]
    fn wrong_facts_are_refused_in_a_line() {
        for (text, why) in [
            ("[a]\nabuot = \"x\"", "worker.toml: [mechanism.a]: there is no fact `abuot`"),
            ("[a]\nrevision = 3", "worker.toml: [mechanism.a]: there is no fact `revision`"),
            ("[a]\nsources = \"man\"", "its mechanism `a`: invalid type: string \"man\""),
            ("[a]\nwaits = [\"never\"]", "its mechanism `a`: unknown variant `never`"),
            ("[a]\npayload = { min = -1 }", "its mechanism `a`: invalid value: integer `-1`"),
            ("[a]\n[b]\n", "it does not describe [mechanism.b] of its worker.toml"),
        ] {
            let said = first(&["a"], text).unwrap_err();
            assert!(said.starts_with(why) && !said.contains('\n'), "{text}: {said}");
        }
        let circle = "[a]\nlike = \"b\"\n[b]\nlike = \"a\"\n";
        assert_eq!(first(&["a", "b"], circle).unwrap().boundaries, []);
    }
}
