//! The data plane of hopcost: mechanisms, timed loops, clocks, placement, and
//! the worker that runs them. The only crate with unsafe code.
//!
//! The control plane asks it for the registry ([`mechanism::ALL`]), for links
//! to hand to workers, and otherwise talks to it as to any other worker: by
//! the protocol.

pub mod clock;
pub mod endpoint;
pub mod folder;
pub mod interrupt;
pub mod mechanism;
pub mod meeting;
pub mod memory;
pub mod namespace;
pub mod nic;
pub mod orphans;
pub mod party;
mod perf;
pub mod registry;
pub mod shape;
pub mod stream;
pub mod sys;
pub mod ticker;
pub mod trace;
pub mod transport;
pub mod wait;
pub mod worker;
pub mod workload;

/// Why this build is slower than what it claims to measure; empty if it is not. Only
/// this crate runs between two stamps.
pub fn slow() -> Vec<String> {
    let opt_level = env!("HOPCOST_PROBE_OPT_LEVEL");
    let mut slow = Vec::new();
    if matches!(opt_level, "0" | "1") {
        slow.push(format!("built with opt-level {opt_level}"));
    }
    if cfg!(debug_assertions) {
        slow.push("debug assertions are on".into());
    }
    slow
}
