//! The crate as others use it. One binary, because linking takes longer than most of
//! the tests.

mod common;

/// The format as FORMAT.md describes it.
mod document;
/// What a kill leaves behind.
mod kill;
/// What is written comes back, finished or not.
mod life;
/// What is no run of ours is refused in one line.
mod refuse;
