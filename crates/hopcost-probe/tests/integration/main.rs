//! The crate as its worker uses it: both ends of a case on two threads of this process.
//! Two processes, system calls, context switches, sizes and leaks are the conformance
//! suite's (`tests/conformance.rs`, `tests/streams.rs`, `tests/wake.rs` at the top).
//! One binary, because linking takes longer than most of the tests.

mod support;

/// What an end allocates in a phase: nothing.
mod allocations;
/// What an end notices when its partner lets go.
mod exits;
/// Lost messages are counted and are no samples.
mod losses;
/// Round trips where the ends wait differently.
mod roundtrips;
/// Messages of several fields: acknowledgements, sizes, refusals, caps.
mod streams;
/// Wake-ups: gaps, clocks that are compared, what is refused.
mod wakes;
