//! The integration tests: everything here runs the built binary, or its worker,
//! from outside, as a user or a hostile neighbour would.

#[path = "support/mod.rs"]
mod support;

/// Bad input: one clear line, the documented exit code, nothing lost.
#[path = "bad_input.rs"]
mod bad_input;
/// Each mechanism is what its row says: messages, system calls, context switches, sizes.
#[path = "conformance.rs"]
mod conformance;
/// Peers that die, hang or lie; interrupts; nothing left behind.
#[path = "faults.rs"]
mod faults;
/// Engines with known answers come back right through the whole pipeline.
#[path = "known_answers.rs"]
mod known_answers;
/// Foreign workers that misbehave.
#[path = "workers.rs"]
mod workers;
