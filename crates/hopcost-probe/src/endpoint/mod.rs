//! An attached end behind one indirect call a phase: generic inside, erased outside. Each
//! transport × wait gets loops of its own.

pub mod attach;
pub mod roundtrip;
pub mod stream;
pub mod wake;

use std::io;

use hopcost_model::protocol::GateReading;

use crate::sys;
use crate::workload::{PhaseSpec, Stamped};

/// An end that is attached and can run phases.
pub trait Endpoint {
    /// Runs one phase; samples go into `out` as far as it reaches.
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped>;
    /// Compares clocks with the other end, which does so at the same time; the
    /// caller's end knows the outcome.
    fn gate(&mut self, _exchanges: u64, _steps: u64) -> io::Result<Option<GateReading>> {
        Err(sys::failure("the ends of this workload do not compare clocks"))
    }
}
