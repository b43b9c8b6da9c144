//! The ends of a `wake`.

use std::io;
use std::marker::PhantomData;

use hopcost_model::case::Role;
use hopcost_model::protocol::{GateReading, Stamp};

use crate::clock::Clock;
use crate::meeting::Meeting;
use crate::party::Party;
use crate::shape::Attaching;
use crate::sys;
use crate::workload::{Endpoint, PhaseSpec, Stamped, wake};

/// The sender or the receiver of a `wake`.
pub struct WakeEnd<P, C> {
    party: P,
    meeting: Meeting,
    role: Role,
    gap_ns: u64,
    sequence: u64,
    clock: PhantomData<C>,
}

impl<P: Party + 'static, C: Clock> WakeEnd<P, C> {
    /// Wraps an attached party, on the thread that will run it.
    pub fn boxed(party: P, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
        let Attaching { case, role, meeting, .. } = *attaching;
        let meeting = Meeting::attach(meeting, role, case.placement, 0, 1)?;
        let gap_ns = case.gap_ns.ok_or_else(|| sys::failure("a wake needs a gap"))?;
        if role == Role::Caller {
            sys::exact_timers()?;
        }
        Ok(Box::new(Self { party, meeting, role, gap_ns, sequence: 1, clock: PhantomData::<C> }))
    }
}

impl<P: Party, C: Clock> Endpoint for WakeEnd<P, C> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        let PhaseSpec { count, stamp, .. } = *spec;
        if stamp != Stamp::Each {
            return Err(sys::failure("every wake-up is stamped: batches of them mean nothing"));
        }
        let first = self.sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        self.sequence = first.saturating_add(wake::numbers(count));
        let Self { party, meeting, .. } = self;
        match self.role {
            Role::Caller => wake::sender::<P, C>(party, meeting, self.gap_ns, first, count, out),
            Role::Callee => wake::receiver::<P, C>(party, meeting, first, count, out),
        }
    }

    fn gate(&mut self, exchanges: u64, steps: u64) -> io::Result<Option<GateReading>> {
        self.meeting.compare::<C>(exchanges, steps)
    }
}
