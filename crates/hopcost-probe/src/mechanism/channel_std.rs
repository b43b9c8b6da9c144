//! `channel-std`: two channels of the Rust standard library, one per direction.
//!
//! `std::sync::mpsc::channel`, the unbounded one: a linked list of blocks of 31
//! places. What crosses is a `Vec<u8>`, three words that own the message; the
//! bytes stay where they are. The same vector goes there and back, so the loop
//! allocates no message; the list itself allocates a block every 31 messages and
//! frees one as often. A receiver that finds nothing parks on a futex.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use hopcost_model::case::{Boundary, WaitKind};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, Senders, WaitFacts};

use crate::registry::{CHANNEL, Row};
use crate::transport::queue::{OverQueues, Queue};
use crate::transport::waits::{SPIN_LONG, YIELD};

pub static ROW: Row = Row::channel::<OverQueues<ChannelStd>>(Facts {
    name: "channel-std",
    family: "channel",
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
        SPIN_LONG,
        YIELD,
    ],
    payload: Payload::Bytes { min: 0, max: 1 << 20, default: 64 },
    senders: Senders::Several {
        share: "the channel, by a clone of its sending end each",
        whole_bytes: 1 << 20,
    },
    ..CHANNEL
});

/// The library's queue.
struct ChannelStd;

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
