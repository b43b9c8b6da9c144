//! The data plane of hopcost: mechanisms, timed loops, clocks, placement, and
//! the worker that runs them. The only crate with unsafe code.
//!
//! The control plane asks it for the registry ([`mechanism::ALL`]), for links
//! to hand to workers, and otherwise talks to it as to any other worker: by
//! the protocol.

pub mod clock;
pub mod endpoint;
pub mod folder;
pub mod mechanism;
pub mod meeting;
pub mod memory;
pub mod namespace;
pub mod orphans;
pub mod party;
pub mod registry;
pub mod shape;
pub mod stream;
pub mod sys;
pub mod ticker;
pub mod transport;
pub mod wait;
pub mod worker;
pub mod workload;
