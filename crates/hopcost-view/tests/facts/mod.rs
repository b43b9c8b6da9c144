//! Mechanisms of the binary, of which one is not available here.

use hopcost_model::{Description, Mechanism, RuntimeFacts, TABLE};

pub fn of(name: &str) -> Mechanism {
    let mut mechanism = TABLE[name].clone();
    if name == "posix-mq" {
        mechanism.here.available = || Err("mq_open: Function not implemented".to_owned());
    }
    mechanism
}

pub fn all() -> Vec<Mechanism> {
    ["syscall", "pipe", "posix-mq", "sleep"].map(of).into()
}

/// Runtimes of made-up workers: one that says much, one that says the least, one that is absent.
pub fn runtimes() -> Vec<RuntimeFacts> {
    let here = |text: &str| {
        let described: Description = serde_json::from_str(text).unwrap();
        let runtime = described.runtime.parse().unwrap();
        RuntimeFacts { runtime, start_ns: None, state: Ok(described) }
    };
    let why = "not built; it needs Go 1.23 or later (Debian: golang-go); to install it: \
               scripts/setup workers go";
    let runtime = "go".parse().unwrap();
    let go = RuntimeFacts { runtime, start_ns: None, state: Err(why.to_owned()) };
    vec![here(include_str!("python.json")), here(include_str!("cpp.json")), go]
}
