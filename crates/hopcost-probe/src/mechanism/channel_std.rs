//! `channel-std`: two channels of the Rust standard library, one per direction.
//!
//! `std::sync::mpsc::channel`, the unbounded one: a linked list of blocks of 31
//! places. What crosses is a `Vec<u8>`, three words that own the message; the
//! bytes stay where they are. The same vector goes there and back, so the loop
//! allocates no message; the list itself allocates a block every 31 messages and
//! frees one as often. A receiver that finds nothing parks on a futex.

use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use hopcost_model::case::{Boundary, WaitKind, Workload};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, Shape, WaitFacts};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Channel, Half, Link, Opening};
use crate::sys;
use crate::transport::peer_closed;
use crate::wait::Wait;

/// The row.
pub static ROW: Row = Row::channel::<ChannelStd>(Facts {
    name: "channel-std",
    family: "channel",
    about: "two channels of the Rust standard library (std::sync::mpsc::channel)",
    shape: Shape::Channel,
    workloads: &[Workload::Roundtrip, Workload::Wake],
    boundaries: &[Boundary::Thread],
    waits: &[
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                0.0,
                4.5,
                "a futex sleep for each end that finds nothing and a futex wake by its partner; \
                 neither where the message is there already",
            ),
            switches_one_cpu: PerOperation::Between(
                1.0,
                2.5,
                "the woken end may run before or after the waker sleeps",
            ),
            switches_two_cpus: PerOperation::Between(
                0.0,
                2.5,
                "an end that finds its message does not sleep",
            ),
        },
        SPIN,
        YIELD,
    ],
    call_system_calls: None,
    payload: Payload::Bytes { min: 0, max: 1 << 20, default: 64 },
    parameters: &[],
    crosses: "ownership of a vector (pointer, capacity, length) through a linked list of blocks; the bytes themselves stay in place",
    copies: "nobody copies the message; the reply is written over the request in the same vector",
    wakes: "the sender, by a futex wake if the receiver is registered as parked; a receiver looks once before it registers and once after, and does not spin in between",
    between_stamps: "push the vector, look at the own channel, park, be unparked, pop; the same on the other side",
    limits: "two threads of one process; 0 bytes to 1 MiB; a block of 31 places is allocated every 31 messages; the receiver is woken with the channel's lock held, so one that runs at once, as a long sleeper on the same CPU may, sleeps once more on that lock; without replies (wake) the sender allocates each message and the receiver frees it",
    sources: &["https://doc.rust-lang.org/std/sync/mpsc/", "futex(2)"],
    hidden: false,
    available: always_available,
});

/// A channel in memory that is spun on.
pub(super) const SPIN: WaitFacts = WaitFacts {
    wait: WaitKind::Spin,
    system_calls: PerOperation::Exactly(0.0),
    switches_one_cpu: PerOperation::Between(
        0.0,
        4.2,
        "only the scheduler's time slices, those of other programs included",
    ),
    switches_two_cpus: PerOperation::Between(0.0, 0.1, "nobody sleeps"),
};

/// The same with sched_yield between looks.
pub(super) const YIELD: WaitFacts = WaitFacts {
    wait: WaitKind::Yield,
    system_calls: PerOperation::Between(
        0.0,
        f64::INFINITY,
        "one sched_yield for every look in vain",
    ),
    switches_one_cpu: PerOperation::Between(1.0, 4.2, "each yield hands the CPU to the other end"),
    switches_two_cpus: PerOperation::Between(0.0, 0.5, "there is nobody else to yield to"),
};

/// One end.
pub struct ChannelStd {
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    /// The vector this end owns at the moment: received and not yet sent back.
    held: Vec<u8>,
}

impl Channel for ChannelStd {
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let (request_out, request_in) = channel();
        let (reply_out, reply_in) = channel();
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
