//! The ends of a round trip, and the only end of a call.

use hopcost_model::case::Role;

use crate::clock::Clock;
use crate::party::Party;
use crate::workload::{Endpoint, PhaseSpec, call, roundtrip};

/// An attached party as an end of a round trip.
pub fn end<P: Party + 'static, C: Clock>(mut party: P, role: Role) -> Box<dyn Endpoint> {
    let mut sequence = 1;
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        let PhaseSpec { count, stamp, .. } = *spec;
        let first = sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        sequence += 2 * roundtrip::answers(count, stamp);
        match role {
            Role::Caller => roundtrip::caller::<P, C>(&mut party, first, count, stamp, out),
            Role::Callee => roundtrip::callee::<P, C>(&mut party, first, count, stamp),
        }
    })
}

/// A call's only end.
pub fn only_end<M: FnMut(u64) -> u64 + 'static, C: Clock>(mut call: M) -> Box<dyn Endpoint> {
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        Ok(call::run::<M, C>(&mut call, spec.count, spec.stamp, out))
    })
}
