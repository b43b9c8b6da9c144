//! The integration tests: everything here runs the built binary, or its worker,
//! from outside, as a user or a hostile neighbour would.

#[path = "support/mod.rs"]
mod support;

/// Each mechanism is what its row says: messages, system calls, context switches, sizes.
mod conformance;
/// Peers that die, hang or lie; interrupts; nothing left behind.
mod faults;
