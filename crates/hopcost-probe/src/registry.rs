//! The registry's row: a mechanism's facts and how to open and attach it.

use std::io;

use hopcost_model::case::{Boundary, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Payload, Shape};

use crate::endpoint;
use crate::party;
use crate::shape::{
    Attaching, Call, Channel, Half, Link, LinkBytes, Notifier, Opening, PeerExit, Stream, TwoEnds,
};
use crate::sys;
use crate::wait::Waits;
use crate::workload::Endpoint;

pub struct Row {
    /// What is said of it.
    pub facts: Facts,
    /// Makes a link.
    pub open: fn(&Opening<'_>) -> io::Result<Link>,
    /// Attaches an end.
    pub attach: fn(Half, &Attaching<'_>) -> io::Result<Box<dyn Endpoint>>,
    /// What an end notices of its partner's exit.
    pub peer_exit: PeerExit,
    /// What its link carries.
    pub bytes: LinkBytes,
}

impl Row {
    /// Makes a link with a half for each caller of the case, and the callee's.
    pub fn open_for_all(&self, opening: &Opening<'_>) -> io::Result<(Vec<Half>, Half)> {
        if let Some(reason) = self.facts.senders.lack(opening.case) {
            return Err(sys::failure(format!("{} {reason}", self.facts.name)));
        }
        let Link { caller, callee } = (self.open)(opening)?;
        Ok((caller.shared_by(opening.case.senders)?, callee))
    }
    /// The row of a call.
    pub const fn call<M: Call + 'static>(facts: Facts) -> Self {
        Row::without_link(facts, endpoint::call::<M>)
    }
    /// The row of what has no link: one end, or an engine that plays both.
    pub const fn without_link(
        facts: Facts,
        attach: fn(Half, &Attaching<'_>) -> io::Result<Box<dyn Endpoint>>,
    ) -> Self {
        let (peer_exit, bytes) = (PeerExit::Unnoticed, LinkBytes::Private);
        Row { facts, open: no_link, attach, peer_exit, bytes }
    }
    /// The row of a notifier.
    pub const fn notifier<M: TwoEnds<End: Notifier>>(facts: Facts) -> Self {
        agree(&facts, M::Waits::KINDS);
        Row {
            facts,
            open: party::open_notifier::<M>,
            attach: endpoint::notifier::<M>,
            peer_exit: M::PEER_EXIT,
            bytes: LinkBytes::Private,
        }
    }
    /// The row of a channel.
    pub const fn channel<M: TwoEnds<End: Channel>>(facts: Facts) -> Self {
        agree(&facts, M::Waits::KINDS);
        Row {
            facts,
            open: M::open,
            attach: endpoint::channel::<M>,
            peer_exit: M::PEER_EXIT,
            bytes: M::End::BYTES,
        }
    }
    /// The row of a stream.
    pub const fn stream<M: TwoEnds<End: Stream>>(facts: Facts) -> Self {
        Row {
            facts,
            open: M::open,
            attach: endpoint::stream::<M>,
            peer_exit: M::PEER_EXIT,
            bytes: LinkBytes::Private,
        }
    }
}

/// Fails to compile where a mechanism declares other waits than it has loops for.
const fn agree(facts: &Facts, loops: Option<&[WaitKind]>) {
    let Some(loops) = loops else { return };
    assert!(
        facts.waits.len() == loops.len(),
        "a wait without loops, or loops that nobody declares"
    );
    let mut at = 0;
    while at < facts.waits.len() {
        let mut found = false;
        let mut other = 0;
        while other < loops.len() {
            found |= facts.waits[at].wait as u8 == loops[other] as u8;
            other += 1;
        }
        assert!(found, "a wait without loops");
        at += 1;
    }
}

/// What most calls have in common; a row states the rest, and what is otherwise.
pub const CALL: Facts = Facts {
    family: "call",
    shape: Shape::Call,
    workloads: &[Workload::Call],
    boundaries: &[Boundary::Inline],
    available: always_available,
    ..Facts::BASE
};

/// What most notifiers have in common.
pub const NOTIFIER: Facts = Facts {
    family: "notifier",
    shape: Shape::Notifier,
    payload: Payload::Bytes { min: 0, max: 1 << 20, default: 0 },
    revision: 2,
    ..CHANNEL
};

/// What most channels have in common.
pub const CHANNEL: Facts = Facts {
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake, Workload::Load],
    boundaries: &[Boundary::Process, Boundary::Thread],
    available: always_available,
    ..Facts::BASE
};

/// The link of what has none.
fn no_link(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link { caller: Half::default(), callee: Half::default() })
}

/// For mechanisms that every supported kernel has.
pub fn always_available() -> Result<(), String> {
    match crate::clock::unusable() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(()),
    }
}
