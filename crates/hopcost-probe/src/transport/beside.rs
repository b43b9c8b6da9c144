//! A message beside a mechanism that only wakes: the one adapter that puts a buffer in memory
//! which both ends have, where one writes before it notifies and the other reads after that. With
//! no payload it is the bare notification.

use std::io;

use super::by_role;
use crate::memory::Place;
use crate::shape::{Attaching, Channel, Delivery, End, Half, Link, Notifier, Opening};
use crate::wait::Wait;

/// An end of a notifier with its buffers.
pub struct Beside<N> {
    notifier: N,
    buffers: Option<Buffers>,
}

/// One for each direction.
struct Buffers {
    outgoing: Place<[u8]>,
    incoming: Place<[u8]>,
}

/// Distance of the two directions' buffers: whole pages.
fn stride(payload: usize) -> usize {
    payload.next_multiple_of(4096)
}

/// Puts the shared buffers, where there is a payload, last in both halves of a notifier's link.
pub fn add_buffers(link: &mut Link, opening: &Opening<'_>) -> io::Result<()> {
    match opening.payload() {
        0 => Ok(()),
        payload => link.add_memory(opening.memory(2 * stride(payload))?),
    }
}

impl<N: Notifier + End> End for Beside<N> {
    type Waits = N::Waits;
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let payload = attaching.payload();
        let buffers = if payload > 0 {
            let stride = stride(payload);
            let memory = half.take_memory(2 * stride)?;
            let (outgoing, incoming) = by_role(attaching.role, (0, stride), (stride, 0));
            Some(Buffers {
                outgoing: Place::bytes(&memory, outgoing, payload),
                incoming: Place::bytes(&memory, incoming, payload),
            })
        } else {
            None
        };
        Ok(Self { notifier: N::attach(half, attaching)?, buffers })
    }
}

impl<N: Notifier> Channel for Beside<N> {
    #[inline(always)]
    fn delivery(&self) -> Delivery {
        Delivery::OneByOne
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(match &self.buffers {
            // SAFETY: the other end does not touch the buffer between being answered and
            // being notified.
            Some(buffers) => unsafe { &mut *buffers.outgoing.as_ptr() },
            None => &mut [],
        })
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        self.notifier.notify::<W>()
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.notifier.wait::<W>()?;
        Ok(match &self.buffers {
            // SAFETY: as above, with the roles exchanged.
            Some(buffers) => unsafe { &*buffers.incoming.as_ptr() },
            None => &[],
        })
    }
}
