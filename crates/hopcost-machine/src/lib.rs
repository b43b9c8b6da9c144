#![forbid(unsafe_code)]
//! Everything hopcost knows of the host, read from text files below /proc and
//! /sys through a [`Root`], so that tests read recorded trees instead.
//!
//! - [`fingerprint`] gives a flat list of readings: each has a value, or the
//!   reason why there is none. Keys that start with `load.` or `stat.` change by
//!   themselves; all others should be the same before and after a run.
//! - [`topology`] says how two CPUs relate, as far as /sys claims to know. In a
//!   virtual machine that is what the hypervisor tells, which may be wrong.
//! - [`steal_ns`] is the time that the hypervisor took from a CPU.
//! - [`Counted`] is what the kernel has counted of CPUs and control groups so far, to be looked
//!   at before and after something.
//!
//! Nothing here judges: findings are computed elsewhere from the readings.
//!
//! ```
//! use hopcost_machine::{Root, fingerprint, topology};
//!
//! let root = Root::default();
//! for reading in fingerprint(&root, &[0]).readings {
//!     match (reading.value, reading.reason) {
//!         (Some(value), _) => println!("{:<24} {value}", reading.key),
//!         (None, reason) => println!("{:<24} - {}", reading.key, reason.unwrap_or_default()),
//!     }
//! }
//! if let Some((a, b, relation)) = topology(&root, &[0, 1]).choose_pair(&[0, 1]) {
//!     println!("cpus {a} and {b}: {relation}");
//! }
//! ```

mod counted;
mod cpuinfo;
mod cpulist;
mod fingerprint;
mod one_way;
mod root;
mod shared_pages;
mod topology;

pub use counted::{Counted, steal_ns};
pub use fingerprint::fingerprint;
pub use one_way::clocks_comparable;
pub use root::Root;
pub use shared_pages::shared_pages;
pub use topology::{CpuPlace, LineTimes, Topology, topology};
