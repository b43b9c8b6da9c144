//! The registry's row: a mechanism's facts and how to open and attach it.

use std::io;

use hopcost_model::mechanism::Facts;

use crate::endpoint::{self, Endpoint};
use crate::party::OverNotifier;
use crate::shape::{Attaching, Call, Channel, Half, Link, Notifier, Opening, Stream};
use crate::wait::Block;

/// A mechanism.
pub struct Row {
    /// What is said of it.
    pub facts: Facts,
    /// Makes a link.
    pub open: fn(&Opening<'_>) -> io::Result<Link>,
    /// Attaches an end.
    pub attach: fn(Half, &Attaching<'_>) -> io::Result<Box<dyn Endpoint>>,
}

impl Row {
    /// The row of a call.
    pub const fn call<M: Call + 'static>(facts: Facts) -> Self {
        Row { facts, open: no_link, attach: endpoint::attach_call::<M> }
    }
    /// The row of a notifier.
    pub const fn notifier<M: Notifier + 'static>(facts: Facts) -> Self {
        // The adapter's opening does not depend on the wait; any will do.
        Row { facts, open: OverNotifier::<M, Block>::open, attach: endpoint::attach_notifier::<M> }
    }
    /// The row of a channel.
    pub const fn channel<M: Channel + 'static>(facts: Facts) -> Self {
        Row { facts, open: M::open, attach: endpoint::attach_channel::<M> }
    }
    /// The row of a stream.
    pub const fn stream<M: Stream + 'static>(facts: Facts) -> Self {
        Row { facts, open: M::open, attach: endpoint::stream::attach::<M> }
    }
}

/// The link of what has only one end.
pub fn no_link(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link { caller: Half::default(), callee: Half::default() })
}

/// For mechanisms that every supported kernel has.
pub fn always_available() -> Result<(), String> {
    match crate::clock::unusable() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(()),
    }
}
