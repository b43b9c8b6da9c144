use hopcost_model::case::{Case, Role};
use hopcost_probe::shape::{Attaching, Half};
use hopcost_probe::workload::Endpoint;

use crate::support;

/// A round trip of an engine.
fn case(engine: &str, clock: &str) -> Case {
    let id = format!("roundtrip/{engine}?boundary=inline&place=same-cpu&wait=block&clock={clock}");
    id.parse().unwrap()
}

fn attach(case: &Case) -> Result<Box<dyn Endpoint>, String> {
    support::attach(Half::default(), &Attaching::new(case, Role::Caller))
}

#[test]
fn bad_arguments_say_what_is_wrong_and_what_to_do() {
    for (engine, clock, parts) in [
        ("null:1", "real", ["null:1", "want null"]),
        ("spin:-1", "virtual", ["spin:-1", "want spin:1000"]),
        ("sleep:10", "real", ["sleep:10", "want sleep:1ms"]),
        ("known:nothing", "virtual", ["known:nothing", "want known:level"]),
        ("spin:1", "wrong", ["spin:1", "has no clock=wrong"]),
    ] {
        let error = attach(&case(engine, clock)).err().unwrap();
        for part in parts {
            assert!(error.contains(part), "{engine}: {error}");
        }
    }
}
