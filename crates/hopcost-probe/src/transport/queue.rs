//! A message as a vector whose ownership goes through a queue of a library, from one
//! thread to another; the same vector goes there and back.

use std::any::Any;
use std::io;
use std::sync::mpsc::TryRecvError;

use hopcost_model::case::WaitKind;

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
        let held = fresh(opening.payload());
        // Several senders get no replies.
        let more = (1..opening.case.senders).map(|_| {
            let (outgoing, held) = (request_out.clone(), fresh(opening.payload()));
            Box::new(Self { outgoing, incoming: Q::new().1, held }) as Box<dyn Any + Send>
        });
        let more = more.collect();
        let caller: Self = Self { outgoing: request_out, incoming: reply_in, held };
        let callee: Self = Self { outgoing: reply_out, incoming: request_in, held: Vec::new() };
        let caller = Half { more, ..Half::of_local(caller) };
        Ok(Link { caller, callee: Half::of_local(callee) })
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
