//! The integration tests: everything here runs the built binary, or its worker,
//! from outside, as a user or a hostile neighbour would.

mod advise;
mod along;
mod artefacts;
mod bad_input;
mod circles;
mod claims;
mod compare;
mod conformance;
mod doctor;
mod explain;
mod faults;
mod fleet;
mod fuzzed;
mod generated;
mod hosts;
mod install;
mod judge;
mod known_answers;
mod list;
mod load;
mod neighbours;
mod plots;
mod reader;
mod rounds;
mod runtimes;
mod streams;
mod support;
mod threads;
mod traced;
mod wake;
mod yardsticks;
