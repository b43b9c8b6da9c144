//! Test engines: mechanisms with known answers, and with known faults. They show
//! that the way from a timed loop to a printed number is right, and that the
//! supervisor notices what it must. Not listed; whoever names one gets it.
//!
//! An engine with a known answer is a `Call`, in real time and, if so asked
//! (`clock=virtual`), in a time that only the engine itself moves: then every
//! sample is exact. As a round trip it is a caller without a callee, and one
//! exchange is one operation.

use std::io;

use hopcost_model::case::{Boundary, Role, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Parameter, Payload, PerOperation, Shape, WaitFacts};

use crate::clock::{Clock, Hardware, Virtual};
use crate::endpoint::roundtrip::{CallEnd, RoundtripEnd};
use crate::party::Party;
use crate::registry::always_available;
use crate::shape::{Attaching, Call, Half};
use crate::sys;
use crate::workload::Endpoint;

pub mod null;
pub mod spin;
pub mod sleep;
pub mod replay;
pub mod known;
pub mod gaps;
pub mod skew;
pub mod server;
pub mod fault;
pub mod lossy;
pub mod delay;

const ANY_NUMBER: PerOperation =
    PerOperation::Between(0.0, f64::INFINITY, "a test engine: nothing is promised");

/// What the engines with a known answer have in common.
const FACTS: Facts = Facts {
    name: "",
    family: "test engine",
    shape: Shape::Call,
    workloads: &[Workload::Roundtrip, Workload::Call],
    boundaries: &[Boundary::Inline],
    waits: &[WaitFacts {
        wait: WaitKind::Block,
        system_calls: ANY_NUMBER,
        switches_one_cpu: ANY_NUMBER,
        switches_two_cpus: ANY_NUMBER,
    }],
    call_system_calls: Some(ANY_NUMBER),
    payload: Payload::None,
    parameters: &[Parameter {
        name: "clock",
        values: &["real", "virtual"],
        default: "real",
        about: "whose time passes: the machine's, or one that only the engine moves",
    }],
    hidden: true,
    available: always_available,
    ..Facts::BASE
};

/// An engine as the only party of a round trip.
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

/// Attaches an engine that has a form for either clock.
fn attach<Real: Call + 'static, Simulated: Call + 'static>(
    _: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    only_caller(attaching)?;
    match attaching.parameter("clock") {
        "virtual" => boxed::<Simulated, Virtual>(attaching),
        _ => boxed::<Real, Hardware>(attaching),
    }
}

fn boxed<M: Call + 'static, C: Clock>(attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let engine = M::new(attaching)?;
    Ok(match attaching.case.workload {
        Workload::Call => CallEnd::<M, C>::boxed(engine),
        Workload::Roundtrip => RoundtripEnd::<_, C>::boxed(Alone(engine), attaching.role),
        _ => return Err(sys::failure("this engine has no such workload")),
    })
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
