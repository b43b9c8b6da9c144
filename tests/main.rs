//! The integration tests: everything here runs the built binary, or its worker,
//! from outside, as a user or a hostile neighbour would.

#[path = "support/mod.rs"]
mod support;

/// Which mechanism to use, measured and from a stored run.
#[path = "advise.rs"]
mod advise;
/// The release binary and the HTML report as others see them.
#[path = "artefacts.rs"]
mod artefacts;
/// Bad input: one clear line, the documented exit code, nothing lost.
#[path = "bad_input/mod.rs"]
mod bad_input;
/// Modules build on each other and not in circles.
#[path = "circles.rs"]
mod circles;
/// Cases compared in blocks of adjacent trials.
#[path = "compare.rs"]
mod compare;
/// Each mechanism is what its row says: messages, system calls, context switches, sizes.
#[path = "conformance.rs"]
mod conformance;
/// The published claims, and the page that says how to write some.
#[path = "claims.rs"]
mod claims;
/// Where one case overtakes another along an axis.
#[path = "along.rs"]
mod along;
/// What of a machine will disturb a measurement.
#[path = "doctor.rs"]
mod doctor;
/// Where the time of a round trip goes.
#[path = "explain.rs"]
mod explain;
/// What goes wrong while hopcost measures, a row a fault, and what is so after it.
#[path = "faults/mod.rs"]
mod faults;
/// Fleets: the index, fleets before and after, and the driver beside the binary.
#[path = "fleet.rs"]
mod fleet;
/// What fuzzing has found stays found.
#[path = "fuzzed.rs"]
mod fuzzed;
/// Checks fail what is slower in both measurements.
#[path = "compare_anew.rs"]
mod compare_anew;
/// Documents made from the code are fresh.
#[path = "generated.rs"]
mod generated;
/// Cases between two hosts.
#[path = "hosts.rs"]
mod hosts;
/// Engines with known answers come back right through the whole pipeline.
#[path = "known_answers.rs"]
mod known_answers;
/// Claims are judged by what is measured, and again by what is stored.
#[path = "judge.rs"]
mod judge;
/// Workers installed from the binary.
#[path = "install.rs"]
mod install;
/// Loads: every mechanism takes them, in order, with the system calls of its row.
#[path = "load.rs"]
mod load;
/// The list of mechanisms, and when workers are asked for it.
#[path = "list.rs"]
mod list;
/// What other users plant, and other runs that go on.
#[path = "neighbours.rs"]
mod neighbours;
/// Plots as files.
#[path = "plots.rs"]
mod plots;
/// A reader of run files that shares no code with hopcost.
#[path = "reader.rs"]
mod reader;
/// Workers of other runtimes: each keeps to the protocol, any pair meets, none is believed.
#[path = "runtimes.rs"]
mod runtimes;
/// When a run has enough trials: its rounds, its budget, the width of its intervals.
#[path = "rounds.rs"]
mod rounds;
/// The kernel's events of a trial.
#[path = "traced.rs"]
mod traced;
/// JSON documents follow the published schema.
#[path = "schema.rs"]
mod schema;
/// Stream mechanisms are what their rows say, and end when an end dies.
#[path = "streams.rs"]
mod streams;
/// The suites that hopcost brings.
#[path = "suites.rs"]
mod suites;
/// What is counted is of every thread of a trial.
#[path = "threads.rs"]
mod threads;
/// Wake-ups: every mechanism that has them, clocks compared, the idle spinner.
#[path = "wake.rs"]
mod wake;
/// Foreign workers that misbehave.
#[path = "workers.rs"]
mod workers;
/// Yardsticks: read beside every trial, asleep in between, gone with the run.
#[path = "yardsticks.rs"]
mod yardsticks;
