//! Every mechanism, one file each: what is said of it, how it is opened and
//! attached, and its tests. Adding one means a file and two lines here.

use crate::registry::Row;

mod futex;
mod pipe;
mod syscall;

/// The registry, in the order of the documentation.
pub static ALL: &[&Row] = &[
    // call
    &syscall::ROW,
    // notifiers
    &futex::ROW,
    // channels
    &pipe::ROW,
];

/// The row of this name.
pub fn find(name: &str) -> Option<&'static Row> {
    ALL.iter().copied().find(|row| row.facts.name == name)
}
