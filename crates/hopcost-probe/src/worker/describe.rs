//! What the Rust worker says of itself.

use hopcost_model::describe::{Description, MechanismDescription, WarmUp, WorkerClock};
use hopcost_model::mechanism::Facts;
use hopcost_model::protocol;

use crate::clock::{Clock, Hardware};
use crate::mechanism;

/// The Rust worker's description.
pub fn description() -> Description {
    let listed = mechanism::ALL.iter().filter(|row| !row.facts.hidden);
    Description {
        protocol: protocol::VERSION,
        runtime: "rust".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        libraries: Default::default(),
        remarks: Vec::new(),
        clock: WorkerClock { source: <Hardware as Clock>::SOURCE.into(), ticks_per_second: 0.0 },
        warm_up: WarmUp::Planned,
        mechanisms: listed.map(|row| mechanism(&row.facts)).collect(),
    }
}

fn mechanism(facts: &Facts) -> MechanismDescription {
    MechanismDescription {
        unavailable: (facts.available)().err(),
        ..MechanismDescription::of(facts)
    }
}
