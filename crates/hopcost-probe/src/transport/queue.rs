//! A message as a vector whose ownership goes through a queue of a library, from one
//! thread to another; the same vector goes there and back.

use std::io;
use std::iter::{once, repeat_with};
use std::sync::mpsc::{self, TryRecvError};

use hopcost_model::WaitKind;

use super::peer_closed;
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::sys;
use crate::wait::{Block, Spin, Wait, Yield};

/// A queue's two ends.
pub trait Queue: 'static {
    /// Where vectors are put in.
    type Sender: Clone + Send;
    /// Where they are taken out.
    type Receiver: Send;
    /// A new queue.
    fn new() -> (Self::Sender, Self::Receiver);
    /// Puts one in; `None` where nobody will take it.
    fn send(sender: &Self::Sender, message: Vec<u8>) -> Option<()>;
    /// Takes one out, waiting as the library does; `None` where none will come.
    fn recv(receiver: &Self::Receiver) -> Option<Vec<u8>>;
    /// Takes one out if there is any.
    fn try_recv(receiver: &Self::Receiver) -> Result<Vec<u8>, TryRecvError>;
}

/// One end: the sender of one queue, the receiver of the other.
pub struct OverQueues<Q: Queue> {
    outgoing: Q::Sender,
    incoming: Q::Receiver,
    /// The vector this end owns at the moment: received and not yet sent back.
    held: Vec<u8>,
}

/// A message where none came back: without replies (`wake`) each is a new one. Filled with ones,
/// because pages of zeros are not touched until written.
#[cold]
#[inline(never)]
fn fresh(len: usize) -> Vec<u8> {
    vec![1; len]
}

impl<Q: Queue> OverQueues<Q> {
    /// Makes the link.
    pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let (request_out, request_in) = Q::new();
        let (reply_out, reply_in) = Q::new();
        // Only the first of several senders would get replies.
        let incoming = once(reply_in).chain(repeat_with(|| Q::new().1));
        let callers = incoming.take(opening.case.senders as usize).map(|incoming| Self {
            outgoing: request_out.clone(),
            incoming,
            held: fresh(opening.payload()),
        });
        let callee: Self = Self { outgoing: reply_out, incoming: request_in, held: Vec::new() };
        Ok(Link { caller: Half::of_locals(callers), callee: Half::of_locals([callee]) })
    }
}

impl<Q: Queue> End for OverQueues<Q> {
    type Waits = (Block, Spin, Yield);
    fn attach(half: Half, _: &Attaching<'_>) -> io::Result<Self> {
        half.take_local()
    }
}

impl<Q: Queue> Channel for OverQueues<Q> {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        if self.held.len() != len {
            self.held = fresh(len);
        }
        Ok(&mut self.held)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        Q::send(&self.outgoing, std::mem::take(&mut self.held)).ok_or_else(peer_closed)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.held = if W::KIND == WaitKind::Block {
            Q::recv(&self.incoming).ok_or_else(peer_closed)?
        } else {
            loop {
                match Q::try_recv(&self.incoming) {
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

/// `channel-std`: two channels of the Rust standard library, one per direction.
///
/// `std::sync::mpsc::channel`, the unbounded one: a linked list of blocks of 31
/// places. What crosses is a `Vec<u8>`, three words that own the message; the
/// bytes stay where they are. The same vector goes there and back, so the loop
/// allocates no message; the list itself allocates a block every 31 messages and
/// frees one as often. A receiver that finds nothing parks on a futex.
pub struct ChannelStd;

impl Queue for ChannelStd {
    type Sender = mpsc::Sender<Vec<u8>>;
    type Receiver = mpsc::Receiver<Vec<u8>>;
    fn new() -> (Self::Sender, Self::Receiver) {
        mpsc::channel()
    }
    #[inline(always)]
    fn send(sender: &Self::Sender, message: Vec<u8>) -> Option<()> {
        sender.send(message).ok()
    }
    #[inline(always)]
    fn recv(receiver: &Self::Receiver) -> Option<Vec<u8>> {
        receiver.recv().ok()
    }
    #[inline(always)]
    fn try_recv(receiver: &Self::Receiver) -> Result<Vec<u8>, TryRecvError> {
        receiver.try_recv()
    }
}

/// Places in each channel. A strict round trip uses one.
const PLACES: usize = 4;

/// `channel-crossbeam`: two bounded channels of the crate crossbeam-channel, one
/// per direction.
///
/// `crossbeam_channel::bounded(4)`: an array of places, each with a stamp that
/// says whose turn it is; nothing is allocated in the loop. What crosses is a
/// `Vec<u8>`, three words that own the message; the bytes stay where they are and
/// the same vector goes there and back.
///
/// A blocking receiver that finds nothing does not park at once: it first looks
/// eleven times, with 1, 2, 4, … 64 pause instructions and then sched_yield(2)
/// between looks. On one CPU the first of those yields lets the sender run, so
/// that hardly any round trip ever parks: `block` is here what the library's
/// `recv` does, and not a sleep.
pub struct ChannelCrossbeam;

impl Queue for ChannelCrossbeam {
    type Sender = crossbeam_channel::Sender<Vec<u8>>;
    type Receiver = crossbeam_channel::Receiver<Vec<u8>>;
    fn new() -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::bounded(PLACES)
    }
    #[inline(always)]
    fn send(sender: &Self::Sender, message: Vec<u8>) -> Option<()> {
        sender.send(message).ok()
    }
    #[inline(always)]
    fn recv(receiver: &Self::Receiver) -> Option<Vec<u8>> {
        receiver.recv().ok()
    }
    #[inline(always)]
    fn try_recv(receiver: &Self::Receiver) -> Result<Vec<u8>, TryRecvError> {
        receiver.try_recv().map_err(|error| match error {
            crossbeam_channel::TryRecvError::Empty => TryRecvError::Empty,
            crossbeam_channel::TryRecvError::Disconnected => TryRecvError::Disconnected,
        })
    }
}
