//! What runs with other runtimes have besides.

use hopcost_model::case::Role;
use hopcost_model::describe::{Description, WarmUp, WorkerClock};
use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::ThreadUse;

use super::clock;

/// A clock of another runtime: nanoseconds, 60 ns a stamp.
pub fn foreign_clock(runtime: &str, cpu: u32) -> ClockReading {
    ClockReading {
        runtime: runtime.into(),
        source: "CLOCK_MONOTONIC".into(),
        resolution_ticks: 1,
        stamp_min_ns: 55.0,
        stamp_p50_ns: 60.0,
        stamp_p99_ns: 70.0,
        ..clock(cpu, 1e9)
    }
}

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
        protocol: 2,
        runtime: runtime.into(),
        version: "0.1.0".into(),
        libraries: [(runtime.to_owned(), "1.2.3".to_owned())].into(),
        remarks: vec!["the lock is on".into()],
        clock: WorkerClock::default(),
        warm_up,
        mechanisms: mechanisms.iter().map(mechanism).collect(),
    }
}
