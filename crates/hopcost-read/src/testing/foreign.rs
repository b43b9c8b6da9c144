//! What runs with other runtimes have besides.

use hopcost_model::case::Role;
use hopcost_model::describe::{Description, WarmUp, WorkerClock};
use hopcost_model::raw::ThreadUse;

/// A thread of an end, or else one of the caller's process; half of its switches are
/// voluntary.
pub fn thread(name: &str, seat: Option<Role>, cpu_ns: u64, switches: u64) -> ThreadUse {
    ThreadUse {
        process: seat.unwrap_or(Role::Caller),
        seat,
        name: name.into(),
        cpu_ns,
        voluntary: switches / 2,
        involuntary: switches - switches / 2,
    }
}

/// A worker that describes itself and these mechanisms, all of round trips.
pub fn worker(runtime: &str, warm_up: WarmUp, mechanisms: &[&str]) -> Description {
    let mechanism = |name: &&str| {
        let text = format!(r#"{{"name":"{name}","workloads":["roundtrip"]}}"#);
        serde_json::from_str(&text).unwrap()
    };
    Description {
        protocol: 3,
        runtime: runtime.into(),
        version: "0.1.0".into(),
        libraries: [(runtime.to_owned(), "1.2.3".to_owned())].into(),
        remarks: vec!["the lock is on".into()],
        clock: WorkerClock::default(),
        warm_up,
        mechanisms: mechanisms.iter().map(mechanism).collect(),
    }
}
