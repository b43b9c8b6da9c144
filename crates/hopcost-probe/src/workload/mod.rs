//! The timed loops: the only ones. Stand-alone functions, generic inside, so
//! that nothing but the mechanism is in the loop; one indirect call a phase.

pub mod call;
pub mod lateness;
pub mod load;
mod phase;
pub mod roundtrip;
pub mod schedule;
pub mod stream;
pub mod wake;
pub mod window;

use std::io;

use hopcost_model::Workload;

pub use self::phase::{Endpoint, Stamped};
use crate::clock::Clock;
use crate::party::Party;
use crate::shape::Attaching;
use crate::sys;

/// An attached party as an end of the workload that its case names.
pub(crate) fn end_of<P: Party + 'static, C: Clock>(
    party: P,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    match attaching.case.workload {
        Workload::Roundtrip => Ok(roundtrip::end::<P, C>(party, attaching.role)),
        Workload::Wake => wake::end::<P, C>(party, attaching),
        Workload::Load => load::end::<P, C>(party, attaching),
        workload => Err(sys::failure(format!(
            "{} takes no part in the workload `{workload}`",
            attaching.case.mechanism
        ))),
    }
}
