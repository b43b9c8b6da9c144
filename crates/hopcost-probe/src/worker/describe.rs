//! What the Rust worker says of itself.

use hopcost_model::case::WaitKind;
use hopcost_model::describe::{
    Description, LinkSource, MechanismDescription, ParameterDescription, PayloadRange, Peers,
    WarmUp, WorkerClock,
};
use hopcost_model::mechanism::{Facts, Payload};
use hopcost_model::protocol::{self, Reply};

use crate::clock::{Clock, Hardware};
use crate::mechanism;

/// The reply to `describe`.
pub fn describe() -> Reply {
    let listed = mechanism::ALL.iter().filter(|row| !row.facts.hidden);
    Reply::Described(Box::new(Description {
        protocol: protocol::VERSION,
        runtime: "rust".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        libraries: Default::default(),
        remarks: Vec::new(),
        clock: WorkerClock { source: <Hardware as Clock>::SOURCE.into(), ticks_per_second: 0.0 },
        warm_up: WarmUp::Planned,
        mechanisms: listed.map(|row| mechanism(&row.facts)).collect(),
    }))
}

fn mechanism(facts: &Facts) -> MechanismDescription {
    let payload = match facts.payload {
        Payload::None => None,
        Payload::Bytes { min, max, default } => Some(PayloadRange { min, max, default }),
    };
    MechanismDescription {
        name: facts.name.into(),
        family: facts.family.into(),
        about: facts.about.into(),
        unavailable: (facts.available)().err(),
        workloads: facts.workloads.to_vec(),
        boundaries: facts.boundaries.to_vec(),
        placements: Vec::new(),
        waits: facts.waits.iter().map(|facts| facts.wait).collect::<Vec<WaitKind>>(),
        payload,
        parameters: facts.parameters.iter().map(parameter).collect(),
        link: LinkSource::Descriptors,
        carrier: None,
        peers: Peers::Any,
        crosses: facts.crosses.into(),
        copies: facts.copies.into(),
        wakes: facts.wakes.into(),
        between_stamps: facts.between_stamps.into(),
        limits: facts.limits.into(),
        sources: facts.sources.iter().map(|source| source.to_string()).collect(),
        system_calls: None,
    }
}

fn parameter(parameter: &hopcost_model::mechanism::Parameter) -> ParameterDescription {
    ParameterDescription {
        name: parameter.name.into(),
        values: parameter.values.iter().map(|value| value.to_string()).collect(),
        default: parameter.default.into(),
        about: parameter.about.into(),
    }
}
