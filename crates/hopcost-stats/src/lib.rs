#![forbid(unsafe_code)]
//! Pure numerics: the statistics that hopcost publishes, and the simulations
//! that say how far they can be believed.
//!
//! Nothing here reads a clock, the environment or the platform's mathematics
//! library (`libm` is compiled in), and randomness comes from a seed the caller
//! stores: the same input gives the same bits on every machine.
//!
//! What is where:
//!
//! | topic | module |
//! |---|---|
//! | quantiles of one sample | [`sample`] |
//! | intervals from a handful of trials | [`interval`] |
//! | intervals from trials that depend on each other, for the next run | [`next_run`] |
//! | the host's level beside each trial, and whether dividing by it is right | [`yardstick`] |
//! | how many independent samples a series is worth | [`effective`] |
//! | two series side by side, and where their ratio lies | [`contrast`] |
//! | how far the units of a contrast depend on those before them | [`dependence`] |
//! | where one case overtakes another along an axis, and where to compare next | [`along`] |
//! | trends over time | [`trend`] |
//! | several typical values | [`modes`] |
//! | the quiet level of a yardstick | [`quiet`] |
//! | quantiles that need the samples of all trials | [`pooled`] |
//! | what differences and digits a spread supports | [`precision`] |
//! | quantiles of the normal and of Student's distribution | [`tail`] |
//! | which samples of many are kept | [`thinning`] |
//!
//! Tests alone compile the simulations (`simulated`), which say whether a nominal 95 % holds.

pub mod along;
pub mod contrast;
pub mod dependence;
pub mod effective;
pub mod interval;
pub mod modes;
pub mod next_run;
pub mod pooled;
pub mod precision;
pub mod quiet;
pub mod rng;
pub mod sample;
#[cfg(test)]
mod simulated;
pub mod tail;
pub mod thinning;
pub mod trend;
pub mod yardstick;

/// The nominal coverage of every interval that hopcost prints.
pub const LEVEL: f64 = 0.95;
