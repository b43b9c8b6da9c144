//! The ends of round trips of which several are in flight, or over several connections.

use std::io;

use hopcost_model::case::{Case, Role, WaitKind, Waits};

use super::{channel, waiting};
use crate::clock::{Clock, Hardware};
use crate::party::{OverChannel, Party};
use crate::shape::{Attaching, End, Half};
use crate::sys;
use crate::transport::stream::Stream;
use crate::wait::{Every, Ready, Wait, WithWait};
use crate::workload::{Endpoint, PhaseSpec, roundtrip, window};

/// Attaches one end of a byte stream, or of as many as the case has connections.
pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let case = attaching.case;
    if case.is_one_by_one() {
        return channel::<Stream>(half, attaching);
    }
    let connections = case.connections as usize;
    if !half.fds.len().is_multiple_of(connections) {
        let found = half.fds.len();
        return Err(sys::failure(format!("{found} descriptors are not of {connections} links")));
    }
    let waits_for_all = attaching.role == Role::Callee && connections > 1;
    let each = half.fds.len() / connections;
    let ready = match waits_for_all {
        // Of each connection the first descriptor is that for what comes in.
        true => Some(Ready::of(&half.fds.iter().step_by(each.max(1)).collect::<Vec<_>>())?),
        false => None,
    };
    // What an end receives that waits for all is there already.
    let waits = case.waits.filter(|_| waits_for_all).map(|_| Waits::both(WaitKind::Block));
    let case = Case { waits: waits.or(case.waits), ..case.clone() };
    let attaching = Attaching::new(&case, attaching.role);
    let (mut fds, mut channels) = (half.fds.into_iter(), Vec::new());
    for _ in 0..connections {
        channels.push(Stream::attach(Half::of_fds(fds.by_ref().take(each)), &attaching)?);
    }
    waiting::<Every, _>(&attaching, Channels { channels, ready, attaching: &attaching })
}

/// The channels of an end once its wait is known as a type.
struct Channels<'a> {
    channels: Vec<Stream>,
    ready: Option<Ready>,
    attaching: &'a Attaching<'a>,
}

impl WithWait for Channels<'_> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let over = |channel| OverChannel::<Stream, W>::new(channel, self.attaching);
        let parties = self.channels.into_iter().map(over).collect();
        Ok(end::<_, Hardware>(parties, self.ready, self.attaching))
    }
}

fn end<P: Party + 'static, C: Clock>(
    mut parties: Vec<P>,
    mut ready: Option<Ready>,
    attaching: &Attaching<'_>,
) -> Box<dyn Endpoint> {
    let role = attaching.role;
    let mut starts = vec![0; attaching.case.window as usize];
    let mut expected: Vec<u64> = (0..parties.len() as u64).map(|at| 1 + 2 * at).collect();
    let mut sequence = 1;
    Box::new(move |spec: &PhaseSpec, out: &mut [u64]| {
        let PhaseSpec { count, stamp, .. } = *spec;
        let first = sequence;
        // Both ends advance by the same amount, so the numbering runs through the whole trial.
        sequence += 2 * roundtrip::answers(count, stamp);
        let asked = (count, stamp);
        match (role, &mut ready) {
            (Role::Caller, _) => {
                window::caller::<P, C>(&mut parties, &mut starts, first, asked, out)
            }
            (Role::Callee, Some(ready)) => {
                window::callee::<P, C>(&mut parties, ready, &mut expected, asked)
            }
            (Role::Callee, None) => roundtrip::callee::<P, C>(&mut parties[0], first, count, stamp),
        }
    })
}
