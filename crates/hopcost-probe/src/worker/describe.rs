//! What the Rust worker says of itself.

use hopcost_model::{Description, Mechanism, WorkerClock, protocol};

use crate::clock::{Clock, Hardware};
use crate::mechanism;
use crate::registry::Row;

/// The Rust worker's description.
pub fn description() -> Description {
    let listed = mechanism::ALL.iter().filter(|row| !row.facts().hidden());
    let said = |row: &Row| Mechanism {
        unavailable: (row.facts().here.available)().err(),
        own: None,
        ..row.facts().clone()
    };
    of(listed.map(said).collect())
}

/// The same of certain mechanisms, with what hopcost knows of its own besides: all that it
/// takes to read their numbers later.
pub fn description_of(wanted: &dyn Fn(&str) -> bool) -> Description {
    of(mechanisms().into_iter().filter(|mechanism| wanted(&mechanism.name)).collect())
}

/// Every mechanism of this binary, test engines too.
pub fn mechanisms() -> Vec<Mechanism> {
    mechanism::ALL.iter().map(|row| row.facts().clone()).collect()
}

fn of(mechanisms: Vec<Mechanism>) -> Description {
    Description {
        protocol: protocol::VERSION,
        runtime: "rust".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        clock: WorkerClock { source: <Hardware as Clock>::SOURCE.into(), ticks_per_second: 0.0 },
        mechanisms,
        ..Description::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored description says all that findings need; reasons stay in the binary.
    #[test]
    fn what_is_stored_of_a_mechanism_is_read_again() {
        let said = description_of(&|_| true);
        let text = serde_json::to_string(&said).unwrap();
        let back: Description = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        for (row, back) in mechanism::ALL.iter().zip(&back.mechanisms) {
            assert_eq!((&*back.name, back.hidden()), (row.name, row.facts().hidden()));
            for wait in &row.facts().own.as_ref().unwrap().waits {
                let found = back.wait(wait.wait).unwrap();
                let counts = |w: &hopcost_model::WaitFacts| {
                    [w.system_calls, w.switches_one_cpu, w.switches_two_cpus]
                        .map(|count| (count.least, count.most))
                };
                assert_eq!(counts(found), counts(wait), "{}", back.name);
            }
        }
        assert!(description().mechanisms.iter().all(|said| said.own.is_none()), "the protocol");
    }
}
