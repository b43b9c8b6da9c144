//! `uring-socketpair`: the Unix stream sockets of `socketpair`, written and read by io_uring.
//!
//! System calls of a round trip: 2, one io_uring_enter of each end that submits its send
//! and its next receive and sleeps until that is completed.

use hopcost_model::mechanism::Facts;

use super::socketpair::SocketPair;
use crate::registry::Row;
use crate::transport::submitted::{SUBMITTED, Submitting};

pub static ROW: Row = Row::channel::<Submitting<SocketPair>>(Facts {
    name: "uring-socketpair",
    about: "Unix stream sockets by io_uring",
    crosses: "the message's bytes, in socket buffers queued at the receiving socket",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver",
    wakes: "the kernel, from within the sender's io_uring_enter(2): the receiver's request is taken up again by the receiver itself, in the call that waits for it",
    limits: "1 byte to 1 MiB; a message longer than the send buffer (net.core.wmem_default) is sent as the receiver makes room; io_uring may be forbidden (kernel.io_uring_disabled, seccomp filters of containers); no wake-ups, because a message leaves with the wait for the next",
    sources: &["socketpair(2)", "unix(7)", "io_uring(7)", "io_uring_enter(2)"],
    ..SUBMITTED
});
