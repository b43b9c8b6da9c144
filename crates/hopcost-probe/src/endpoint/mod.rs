//! Attached ends, each behind one indirect call a phase: generic inside, erased outside. Each
//! transport × wait gets loops of its own.

pub mod window;

use std::io;
use std::marker::PhantomData;

use crate::clock::Clock;
use crate::party::OverChannel;
use crate::shape::{Attaching, Channel, End, Half};
use crate::wait::{Wait, Waits, WithWait};
use crate::workload::{Endpoint, end_of};

/// An end's party once its wait is known as a type, stamped by a clock.
struct ChannelEnd<'a, E, C> {
    channel: E,
    attaching: &'a Attaching<'a>,
    clock: PhantomData<C>,
}

impl<E: Channel + 'static, C: Clock> WithWait for ChannelEnd<'_, E, C> {
    type Output = Box<dyn Endpoint>;
    fn with<W: Wait>(self) -> io::Result<Self::Output> {
        let party = OverChannel::<E, W>::new(self.channel, self.attaching);
        end_of::<_, C>(party, self.attaching)
    }
}

/// Attaches one end of a channel.
pub fn channel<E: Channel + End, C: Clock>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let channel = E::attach(half, attaching)?;
    let end = ChannelEnd { channel, attaching, clock: PhantomData::<C> };
    E::Waits::choose(attaching.wait(), end)
}
