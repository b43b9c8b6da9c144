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

use std::sync::mpsc::TryRecvError;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::transport::queue::Queue;

/// Places in each channel. A strict round trip uses one.
const PLACES: usize = 4;

/// The library's queue.
pub struct ChannelCrossbeam;

impl Queue for ChannelCrossbeam {
    type Sender = Sender<Vec<u8>>;
    type Receiver = Receiver<Vec<u8>>;
    fn new() -> (Self::Sender, Self::Receiver) {
        bounded(PLACES)
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
