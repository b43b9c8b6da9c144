//! An attached end behind one indirect call a phase: generic inside, erased
//! outside. Each mechanism × wait gets loops of its own.

pub mod stream;
pub mod wake;

use std::io;
use std::marker::PhantomData;

use hopcost_model::case::{Role, WaitKind, Workload};
use hopcost_model::protocol::GateReading;

use crate::clock::{Clock, Hardware};
use crate::party::{OverChannel, OverNotifier, Party};
use crate::shape::{Attaching, Call, Channel, Half, Notifier};
use crate::sys;
use crate::wait;
use crate::workload::{self, Order, Stamped, roundtrip};
use wake::WakeEnd;

/// An end that is attached and can run phases.
pub trait Endpoint {
    /// Runs one phase; samples go into `out` as far as it reaches.
    fn run(&mut self, order: &Order, out: &mut [u64]) -> io::Result<Stamped>;
    /// Compares clocks with the other end, which does so at the same time; the
    /// caller's end knows the outcome.
    fn gate(&mut self, _exchanges: u64, _steps: u64) -> io::Result<Option<GateReading>> {
        Err(sys::failure("the ends of this workload do not compare clocks"))
    }
}

/// An end of a round trip.
pub struct RoundtripEnd<P, C> {
    party: P,
    role: Role,
    sequence: u64,
    clock: PhantomData<C>,
}

impl<P: Party + 'static, C: Clock> RoundtripEnd<P, C> {
    /// Wraps an attached party.
    pub fn boxed(party: P, role: Role) -> Box<dyn Endpoint> {
        Box::new(Self { party, role, sequence: 1, clock: PhantomData::<C> })
    }
}

impl<P: Party, C: Clock> Endpoint for RoundtripEnd<P, C> {
    fn run(&mut self, order: &Order, out: &mut [u64]) -> io::Result<Stamped> {
        let Order { count, stamp, .. } = *order;
        let first = self.sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        self.sequence += 2 * roundtrip::answers(count, stamp);
        match self.role {
            Role::Caller => roundtrip::caller::<P, C>(&mut self.party, first, count, stamp, out),
            Role::Callee => roundtrip::callee::<P, C>(&mut self.party, first, count, stamp),
        }
    }
}

/// A call's only end.
pub struct CallEnd<M, C> {
    call: M,
    clock: PhantomData<C>,
}

impl<M: Call + 'static, C: Clock> CallEnd<M, C> {
    /// Wraps a call.
    pub fn boxed(call: M) -> Box<dyn Endpoint> {
        Box::new(Self { call, clock: PhantomData })
    }
}

impl<M: Call, C: Clock> Endpoint for CallEnd<M, C> {
    fn run(&mut self, order: &Order, out: &mut [u64]) -> io::Result<Stamped> {
        Ok(workload::call::run::<M, C>(&mut self.call, order.count, order.stamp, out))
    }
}

/// Attaches a call.
pub fn attach_call<M: Call + 'static>(
    _: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    Ok(CallEnd::<M, Hardware>::boxed(M::new(attaching)?))
}

/// Calls a generic function with the wait that a case names.
macro_rules! with_wait {
    ($kind:expr, $wait:ident => $body:expr) => {
        match $kind {
            WaitKind::Block => {
                type $wait = wait::Block;
                $body
            }
            WaitKind::Spin => {
                type $wait = wait::Spin;
                $body
            }
            WaitKind::Yield => {
                type $wait = wait::Yield;
                $body
            }
            WaitKind::SpinThenBlock => {
                type $wait = wait::SpinThenBlock;
                $body
            }
            WaitKind::Epoll => {
                type $wait = wait::Epoll;
                $body
            }
        }
    };
}

/// An attached party as an end of the workload that its case names.
fn end_of<P: Party + 'static, C: Clock>(
    party: P,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    match attaching.case.workload {
        Workload::Roundtrip => Ok(RoundtripEnd::<P, C>::boxed(party, attaching.role)),
        Workload::Wake => WakeEnd::<P, C>::boxed(party, attaching),
        workload @ (Workload::Call | Workload::Stream) => Err(sys::failure(format!(
            "{} takes no part in the workload `{workload}`",
            attaching.case.mechanism
        ))),
    }
}

/// Attaches one end of a notifier.
pub fn attach_notifier<M: Notifier + 'static>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    attach_notifier_on::<M, Hardware>(half, attaching)
}

/// The same, with stamps of another clock.
pub fn attach_notifier_on<M: Notifier + 'static, C: Clock>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    with_wait!(attaching.wait(), W => {
        let party = OverNotifier::<M, W>::attach(half, attaching)?;
        end_of::<_, C>(party, attaching)
    })
}

/// Attaches one end of a channel.
pub fn attach_channel<M: Channel + 'static>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    with_wait!(attaching.wait(), W => {
        let party = OverChannel::<M, W>::attach(half, attaching)?;
        end_of::<_, Hardware>(party, attaching)
    })
}
