//! An attached end behind one indirect call a phase: generic inside, erased
//! outside. Each mechanism × wait gets loops of its own.

pub mod stream;
pub mod wake;

use std::io;
use std::marker::PhantomData;

use hopcost_model::case::{Role, Workload};
use hopcost_model::protocol::GateReading;

use crate::clock::{Clock, Hardware};
use crate::party::{OverChannel, OverNotifier, Party};
use crate::shape::{Attaching, Call, Channel, Half, Notifier, TwoEnds};
use crate::sys;
use crate::wait::{Wait, Waits, WithWait};
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

/// An end's party once its wait is known as a type.
struct ChannelEnd<'a, E> {
    channel: E,
    attaching: &'a Attaching<'a>,
}

impl<E: Channel + 'static> WithWait for ChannelEnd<'_, E> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let party = OverChannel::<E, W>::new(self.channel, self.attaching);
        end_of::<_, Hardware>(party, self.attaching)
    }
}

/// The same of a notifier.
struct NotifierEnd<'a, M> {
    half: Half,
    attaching: &'a Attaching<'a>,
    mechanism: PhantomData<M>,
}

impl<M: TwoEnds<End: Notifier>> WithWait for NotifierEnd<'_, M> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let party = OverNotifier::<M::End, W>::attach::<M>(self.half, self.attaching)?;
        end_of::<_, Hardware>(party, self.attaching)
    }
}

/// Attaches one end of a channel.
pub fn attach_channel<M: TwoEnds<End: Channel>>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let channel = M::attach(half, attaching)?;
    waiting::<M::Waits, _>(attaching, ChannelEnd { channel, attaching })
}

/// Attaches one end of a notifier.
pub fn attach_notifier<M: TwoEnds<End: Notifier>>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let end = NotifierEnd::<M> { half, attaching, mechanism: PhantomData };
    waiting::<M::Waits, _>(attaching, end)
}

/// Makes an end with the wait that its case names, if there are loops for it.
pub fn waiting<S: Waits, T: WithWait<Output = io::Result<Box<dyn Endpoint>>>>(
    attaching: &Attaching<'_>,
    end: T,
) -> T::Output {
    let (kind, name) = (attaching.wait(), &attaching.case.mechanism);
    S::choose(kind, end)
        .unwrap_or_else(|| Err(sys::failure(format!("{name} has no wait `{kind}`"))))
}
