//! The ends of a round trip, and the only end of a call.

use std::io;
use std::marker::PhantomData;

use hopcost_model::case::Role;

use crate::clock::Clock;
use crate::party::Party;
use crate::shape::Call;
use crate::workload::{self, Endpoint, PhaseSpec, Stamped, roundtrip};

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
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        let PhaseSpec { count, stamp, .. } = *spec;
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
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        Ok(workload::call::run::<M, C>(&mut self.call, spec.count, spec.stamp, out))
    }
}
