//! Test engines: mechanisms with known answers, and with known faults. They show
//! that the way from a timed loop to a printed number is right, and that the
//! supervisor notices what it must. They are not listed, and answer to their names.

use std::io;

use hopcost_model::case::Role;
use hopcost_model::units::parse_duration_ns;

use crate::party::Party;
use crate::shape::{Attaching, Call};
use crate::sys;

pub mod misbehaving;
pub mod server;
pub mod simulated;
pub mod skew;

/// An engine as the only party of a round trip: one exchange is one operation.
struct Alone<M>(M);

impl<M: Call> Party for Alone<M> {
    #[inline(always)]
    fn send_after<T>(&mut self, sequence: u64, before: impl FnOnce() -> T) -> io::Result<T> {
        // Or the compiler would see that nothing happens and drop the whole loop.
        std::hint::black_box(sequence);
        Ok(before())
    }
    #[inline(always)]
    fn receive_then<T>(&mut self, sequence: u64, then: impl FnOnce() -> T) -> io::Result<T> {
        std::hint::black_box(self.0.call(sequence));
        Ok(then())
    }
}

fn only_caller(attaching: &Attaching<'_>) -> io::Result<()> {
    match attaching.role {
        Role::Caller => Ok(()),
        Role::Callee => Err(sys::failure(format!(
            "{} has no callee; use boundary=inline",
            attaching.case.mechanism
        ))),
    }
}

/// The error of an argument that an engine cannot use.
fn bad_argument(attaching: &Attaching<'_>, want: &str) -> io::Error {
    sys::failure(format!("`{}` is not a test engine: want {want}", attaching.case.mechanism))
}

/// Whether an engine's name carries a duration.
pub fn is_duration(argument: Option<&str>) -> bool {
    argument.is_some_and(|time| parse_duration_ns(time).is_ok())
}

/// Whether it carries anything.
pub fn is_something(argument: Option<&str>) -> bool {
    argument.is_some_and(|text| !text.is_empty())
}
