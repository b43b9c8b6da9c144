//! The ends of round trips of which several are in flight, or over several connections.

use std::io;

use hopcost_model::{PhaseSpec, Role, WaitKind};

use super::channel;
use crate::clock::Hardware;
use crate::party::OverChannel;
use crate::shape::{Attaching, Half};
use crate::sys::ensure;
use crate::transport::stream::Stream;
use crate::wait::{Every, Ready, Wait, Waits, WithWait};
use crate::workload::{Endpoint, roundtrip, window};

/// Attaches one end of a byte stream, or of as many as the case has connections.
pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let Attaching { case, role, .. } = *attaching;
    let connections = case.connections as usize;
    // A callee of one connection answers one message after the other, however many are in flight.
    if case.is_one_by_one() || (role == Role::Callee && connections == 1) {
        return channel::<Stream, Hardware>(half, attaching);
    }
    let (found, each) = (half.fds.len(), half.fds.len() / connections);
    ensure!(found == each * connections, "{found} descriptors are not of {connections} links");
    let (ready, kind) = match role {
        Role::Caller => (None, attaching.wait()),
        // Of each connection the first descriptor is that for what comes in. What an end receives
        // that waits for all is there already.
        Role::Callee => {
            let incoming: Vec<_> = half.fds.iter().step_by(each.max(1)).collect();
            (Some(Ready::of(&incoming)?), WaitKind::Block)
        }
    };
    let mut fds = half.fds.into_iter();
    let halves = (0..connections).map(|_| Half::of_fds(fds.by_ref().take(each)));
    let streams = Stream::of(halves, attaching, kind)?;
    Every::choose(kind, Streams { streams, ready, attaching })
}

/// The streams of an end once its wait is known as a type.
struct Streams<'a> {
    streams: Stream,
    ready: Option<Ready>,
    attaching: &'a Attaching<'a>,
}

impl WithWait for Streams<'_> {
    type Output = Box<dyn Endpoint>;
    fn with<W: Wait>(self) -> io::Result<Self::Output> {
        let Self { streams, mut ready, attaching } = self;
        let connections = streams.connections() as u64;
        let mut party = OverChannel::<_, W>::new(streams, attaching);
        let mut stamps = vec![0; attaching.case.window as usize];
        let mut expected: Vec<u64> = (0..connections).map(|at| 1 + 2 * at).collect();
        let mut sequence = 1;
        Ok(Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
            let PhaseSpec { count, stamp, .. } = *spec;
            let first = sequence;
            // Both ends advance by the same amount, so the numbering runs through the whole trial.
            sequence += 2 * roundtrip::answers(count, stamp);
            let asked = (count, stamp);
            match &mut ready {
                None => window::caller(&mut party, &mut stamps, first, asked, out),
                Some(ready) => window::callee(&mut party, ready, &mut expected, asked),
            }
        }))
    }
}
