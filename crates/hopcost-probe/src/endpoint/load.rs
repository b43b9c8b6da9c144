//! The ends of a `load`.

use std::io;
use std::marker::PhantomData;

use hopcost_model::axis::SENDERS_MAX;
use hopcost_model::case::{Case, Role};
use hopcost_model::protocol::{GateReading, Phase, ScheduleSeed, Stamp};

use crate::clock::Clock;
use crate::meeting::Meeting;
use crate::party::{Losses, Party};
use crate::shape::Attaching;
use crate::sys;
use crate::workload::{Endpoint, PhaseSpec, Stamped, load, schedule};

/// The shortest message that tells its number where others may be lost.
const NUMBER_BYTES: usize = 8;

/// The sender or the receiver of a `load`.
pub struct LoadEnd<P, C> {
    party: P,
    /// With the receiver, or with each sender.
    meetings: Vec<Meeting>,
    role: Role,
    sender: u32,
    case: Case,
    schedule: ScheduleSeed,
    sequence: u64,
    clock: PhantomData<C>,
}

impl<P: Party + 'static, C: Clock> LoadEnd<P, C> {
    /// Wraps an attached party, on the thread that will run it.
    pub fn boxed(party: P, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
        let Attaching { case, role, meeting, schedule, flow: sender, .. } = *attaching;
        let senders = case.senders;
        if !(1..=SENDERS_MAX).contains(&senders) || sender >= senders {
            return Err(sys::failure(format!("there is no sender {sender} of {senders}")));
        }
        if party.losses() != Losses::Never && attaching.payload() < NUMBER_BYTES {
            return Err(sys::failure(format!(
                "messages that may be lost have to tell their number: payload={NUMBER_BYTES} or more"
            )));
        }
        let mine = match role {
            Role::Caller => sender..sender + 1,
            Role::Callee => 0..senders,
        };
        let attach = |one| Meeting::attach(meeting, role, case.placement, one, senders);
        let meetings = mine.map(attach).collect::<io::Result<_>>()?;
        let schedule = schedule.ok_or_else(|| sys::failure("a load needs a schedule"))?;
        let clock = PhantomData::<C>;
        let case = case.clone();
        Ok(Box::new(Self { party, meetings, role, sender, case, schedule, sequence: 1, clock }))
    }
}

impl<P: Party, C: Clock> Endpoint for LoadEnd<P, C> {
    fn run(&mut self, spec: &PhaseSpec, out: &mut [u64]) -> io::Result<Stamped> {
        let PhaseSpec { phase, count, stamp, .. } = *spec;
        if stamp != Stamp::Each {
            return Err(sys::failure("every message of a load is stamped"));
        }
        let offsets = match self.role {
            Role::Caller => schedule::offsets(&self.case, self.schedule, self.sender, count),
            Role::Callee => Vec::new(),
        };
        if phase == Phase::Pilot {
            return Ok(load::generator::<C>(&offsets, out));
        }
        let first = self.sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        self.sequence = first.saturating_add(load::numbers(count));
        let Self { party, meetings, .. } = self;
        match (self.role, meetings.as_slice()) {
            (Role::Caller, [meeting, ..]) => {
                let first = load::numbered(self.sender, first);
                load::sender::<P, C>(party, meeting, first, &offsets, out)
            }
            (Role::Callee, [meeting]) => load::receiver::<P, C>(party, meeting, first, count, out),
            (_, meetings) => load::receiver_of_many::<P, C>(party, meetings, first, count, out),
        }
    }

    fn gate(&mut self, exchanges: u64, steps: u64) -> io::Result<Option<GateReading>> {
        let mut found: Option<GateReading> = None;
        for meeting in &mut self.meetings {
            let reading = meeting.compare::<C>(exchanges, steps)?;
            found = found.map_or(reading, |one| reading.map(|other| one.joined(other)));
        }
        Ok(found)
    }
}
