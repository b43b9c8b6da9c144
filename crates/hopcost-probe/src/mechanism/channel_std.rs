//! `channel-std`: two channels of the Rust standard library, one per direction.
//!
//! `std::sync::mpsc::channel`, the unbounded one: a linked list of blocks of 31
//! places. What crosses is a `Vec<u8>`, three words that own the message; the
//! bytes stay where they are. The same vector goes there and back, so the loop
//! allocates no message; the list itself allocates a block every 31 messages and
//! frees one as often. A receiver that finds nothing parks on a futex.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use crate::transport::queue::Queue;

/// The library's queue.
pub struct ChannelStd;

impl Queue for ChannelStd {
    type Sender = Sender<Vec<u8>>;
    type Receiver = Receiver<Vec<u8>>;
    fn new() -> (Self::Sender, Self::Receiver) {
        channel()
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
