//! `skew:TIME`: the `flag` notifier, but the callee's clock is ahead of the
//! caller's by TIME (behind, with a minus sign). The clocks' comparison has to find
//! it, and one-way times have to come out as those of `flag` do.

use std::io;

use hopcost_model::case::{Boundary, Role, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};
use hopcost_model::units::parse_duration_ns;

use super::{FACTS, bad_argument};
use crate::clock::{Shifted, rough_ticks};
use crate::endpoint::waiting;
use crate::endpoint::wake::WakeEnd;
use crate::mechanism::flag::{self, Flag};
use crate::party::OverNotifier;
use crate::registry::Row;
use crate::shape::{Attaching, Half, LinkBytes, PeerExit, TwoEnds};
use crate::wait::{Wait, WithWait};
use crate::workload::Endpoint;

pub static ROW: Row = Row {
    facts: Facts {
        name: "skew",
        shape: Shape::Notifier,
        workloads: &[Workload::Wake],
        boundaries: &[Boundary::Process, Boundary::Thread],
        waits: flag::ROW.facts.waits,
        call_system_calls: None,
        payload: Payload::Bytes { min: 0, max: 1 << 20, default: 0 },
        parameters: &[],
        ..FACTS
    },
    open: flag::ROW.open,
    attach,
    peer_exit: PeerExit::Unnoticed,
    bytes: LinkBytes::Private,
};

fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let ahead = attaching.case.argument().and_then(ticks_ahead);
    let ahead = ahead.ok_or_else(|| {
        bad_argument(attaching, "skew:TIME with a duration such as 500ns or -1us")
    })?;
    Shifted::set_ticks(match attaching.role {
        Role::Caller => 0,
        Role::Callee => ahead,
    });
    waiting::<<Flag as TwoEnds>::Waits, _>(attaching, Skewed { half, attaching })
}

/// An end whose stamps are of the shifted clock.
struct Skewed<'a> {
    half: Half,
    attaching: &'a Attaching<'a>,
}

impl WithWait for Skewed<'_> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let party = OverNotifier::<Flag, W>::attach::<Flag>(self.half, self.attaching)?;
        WakeEnd::<_, Shifted>::boxed(party, self.attaching)
    }
}

/// A time with or without a sign, in ticks that wrap around.
fn ticks_ahead(text: &str) -> Option<u64> {
    let (text, behind) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let ticks = rough_ticks(parse_duration_ns(text).ok()?);
    Some(if behind { ticks.wrapping_neg() } else { ticks })
}
