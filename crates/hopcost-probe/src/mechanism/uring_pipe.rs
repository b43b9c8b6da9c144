//! `uring-pipe`: the two pipes of `pipe`, written and read by io_uring.
//!
//! System calls of a round trip: 2, one io_uring_enter of each end that submits its write
//! and its next read and sleeps until that is completed.

use hopcost_model::mechanism::Facts;

use super::pipe::Pipe;
use crate::registry::Row;
use crate::transport::submitted::{SUBMITTED, Submitting};

pub static ROW: Row = Row::channel::<Submitting<Pipe>>(Facts {
    name: "uring-pipe",
    about: "two pipes by io_uring",
    crosses: "the message's bytes, through a kernel buffer of 64 KiB per direction",
    copies: "the kernel, twice a message: from the sender into the pipe's pages, from there to the receiver",
    wakes: "the kernel, from within the sender's io_uring_enter(2): the receiver's request is taken up again by the receiver itself, in the call that waits for it",
    limits: "1 byte to 1 MiB; a message over 64 KiB is written and read in parts; before Linux 6.4 the kernel reads pipes in threads of its own; io_uring may be forbidden (kernel.io_uring_disabled, seccomp filters of containers); no wake-ups, because a message leaves with the wait for the next",
    sources: &["pipe(7)", "io_uring(7)", "io_uring_enter(2)"],
    ..SUBMITTED
});
