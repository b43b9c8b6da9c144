//! `channel-crossbeam`: two bounded channels of the crate crossbeam-channel, one
//! per direction.
//!
//! `crossbeam_channel::bounded(4)`: an array of places, each with a stamp that
//! says whose turn it is; nothing is allocated in the loop. What crosses is a
//! `Vec<u8>`, three words that own the message; the bytes stay where they are and
//! the same vector goes there and back.
//!
//! A blocking receiver that finds nothing does not park at once: it first looks
//! eleven times, with 1, 2, 4, … 64 pause instructions and then sched_yield(2)
//! between looks. On one CPU the first of those yields lets the sender run, so
//! that hardly any round trip ever parks: `block` is here what the library's
//! `recv` does, and not a sleep.

use std::io;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use hopcost_model::case::{Boundary, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, Shape, WaitFacts};

use super::channel_std::{SPIN, YIELD};
use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::peer_closed;
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<ChannelCrossbeam>(Facts {
    name: "channel-crossbeam",
    family: "channel",
    about: "two bounded channels of the crate crossbeam-channel",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Thread],
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                0.0,
                12.5,
                "each end: up to four sched_yields before it parks, a futex sleep if it does, and \
                 a futex wake by its partner; none where the message is there after a short spin",
            ),
            switches_one_cpu: PerOperation::Between(
                1.0,
                4.5,
                "a yield hands the CPU to the other end, as a sleep does",
            ),
            switches_two_cpus: PerOperation::Between(
                0.0,
                2.5,
                "an end that finds its message while it spins does not sleep",
            ),
        },
        SPIN,
        YIELD,
    ],
    call_system_calls: None,
    payload: Payload::Bytes { min: 0, max: 1 << 20, default: 64 },
    parameters: &[],
    crosses: "ownership of a vector (pointer, capacity, length) through an array of four places; the bytes themselves stay in place",
    copies: "nobody copies the message; the reply is written over the request in the same vector",
    wakes: "the sender, by a futex wake if the receiver is registered as parked; a blocking receiver first spins and yields, eleven looks in all, before it registers",
    between_stamps: "put the vector into the array, look at the own channel, spin, yield, perhaps park and be unparked, take; the same on the other side",
    limits: "two threads of one process; 0 bytes to 1 MiB",
    sources: &["https://docs.rs/crossbeam-channel", "futex(2)", "sched_yield(2)"],
    hidden: false,
    available: always_available,
});

/// Places in each channel. A strict round trip uses one.
const PLACES: usize = 4;

/// One end.
pub struct ChannelCrossbeam {
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    /// The vector this end owns at the moment: received and not yet sent back.
    held: Vec<u8>,
}

impl Channel for ChannelCrossbeam {
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let (request_out, request_in) = bounded(PLACES);
        let (reply_out, reply_in) = bounded(PLACES);
        // Filled with ones, because pages of zeros are not touched until written.
        let held = vec![1; opening.payload()];
        Ok(Link {
            caller: Half::of_local(Self { outgoing: request_out, incoming: reply_in, held }),
            callee: Half::of_local(Self {
                outgoing: reply_out,
                incoming: request_in,
                held: Vec::new(),
            }),
        })
    }
    fn attach(half: Half, _: &Attaching<'_>) -> io::Result<Self> {
        half.take_local()
    }
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        if self.held.len() != len {
            self.held.resize(len, 1);
        }
        Ok(&mut self.held)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        self.outgoing.send(std::mem::take(&mut self.held)).map_err(|_| peer_closed())
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.held = if W::KIND == WaitKind::Block {
            self.incoming.recv().map_err(|_| peer_closed())?
        } else {
            loop {
                match self.incoming.try_recv() {
                    Ok(message) => break message,
                    Err(TryRecvError::Disconnected) => return Err(peer_closed()),
                    Err(TryRecvError::Empty) if W::KIND == WaitKind::Yield => sys::sched_yield(),
                    Err(TryRecvError::Empty) => std::hint::spin_loop(),
                }
            }
        };
        Ok(&self.held)
    }
}
