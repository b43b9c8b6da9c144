//! Attached ends, each behind one indirect call a phase: generic inside, erased outside. Each
//! transport × wait gets loops of its own.

pub mod window;

use std::io;
use std::marker::PhantomData;

use crate::clock::{Clock, Hardware};
use crate::party::{OverChannel, OverNotifier};
use crate::shape::{Attaching, Channel, End, Half, Notifier};
use crate::sys;
use crate::wait::{Wait, Waits, WithWait};
use crate::workload::{Endpoint, end_of};

/// An end's party once its wait is known as a type.
struct ChannelEnd<'a, E> {
    channel: E,
    attaching: &'a Attaching<'a>,
}

impl<E: Channel + 'static> WithWait for ChannelEnd<'_, E> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let party = OverChannel::<E, W>::new(self.channel, self.attaching);
        end_of::<_, Hardware>(party, self.attaching)
    }
}

/// The same of a notifier, stamped by a clock.
struct NotifierEnd<'a, E, C> {
    half: Half,
    attaching: &'a Attaching<'a>,
    kind: PhantomData<(E, C)>,
}

impl<E: Notifier + End, C: Clock> WithWait for NotifierEnd<'_, E, C> {
    type Output = io::Result<Box<dyn Endpoint>>;
    fn with<W: Wait>(self) -> Self::Output {
        let party = OverNotifier::<E, W>::attach(self.half, self.attaching)?;
        end_of::<_, C>(party, self.attaching)
    }
}

/// Attaches one end of a channel.
pub fn channel<E: Channel + End>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let channel = E::attach(half, attaching)?;
    waiting::<E::Waits, _>(attaching, ChannelEnd { channel, attaching })
}

/// Attaches one end of a notifier.
pub fn notifier<E: Notifier + End, C: Clock>(
    half: Half,
    attaching: &Attaching<'_>,
) -> io::Result<Box<dyn Endpoint>> {
    let end = NotifierEnd::<E, C> { half, attaching, kind: PhantomData };
    waiting::<E::Waits, _>(attaching, end)
}

/// Makes an end with the wait that its case names, if there are loops for it.
fn waiting<S: Waits, T: WithWait<Output = io::Result<Box<dyn Endpoint>>>>(
    attaching: &Attaching<'_>,
    end: T,
) -> T::Output {
    let (kind, name) = (attaching.wait(), &attaching.case.mechanism);
    S::choose(kind, end)
        .unwrap_or_else(|| Err(sys::failure(format!("{name} has no wait `{kind}`"))))
}
