//! The crate as others use it. One binary, because linking takes longer than most of
//! the tests.

mod common;

/// Round trips that are taken apart by other cases.
/// Claims files: checks, their mistakes and their plan.
mod claims;

/// Who plays what in a case of one runtime and of two.
mod roles;
/// What holds whatever is asked.
mod properties;
/// The runtime as an axis.
mod runtimes;
/// The suite `runtimes`.
mod runtimes_suite;
/// Selectors, options, defaults and reasons.
mod selectors;
/// Suite files: the shipped ones, the documented one, and broken ones.
mod suites;
