//! The crate as others use it. One binary, because linking takes longer than most of
//! the tests.

mod common;

/// Claims files: checks, their mistakes and their plan.
mod claims;
/// What holds whatever is asked.
mod properties;
/// Who plays what in a case of one runtime and of two.
mod roles;
/// The runtime as an axis, and the suite `runtimes`.
mod runtimes;
/// Selectors, options, defaults and reasons.
mod selectors;
/// Suite files: the shipped ones, the documented one, and broken ones.
mod suites;
