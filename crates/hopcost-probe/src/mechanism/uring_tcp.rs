//! `uring-tcp`: the TCP connection of `tcp`, written and read by io_uring. (`tcp-uring` is a
//! stream of messages of several fields.)
//!
//! System calls of a round trip: 2, one io_uring_enter of each end that submits its send
//! and its next receive and sleeps until that is completed.

use hopcost_model::case::Boundary;
use hopcost_model::mechanism::Facts;

use super::tcp::Tcp;
use crate::registry::Row;
use crate::transport::submitted::{SUBMITTED, Submitting};
use crate::transport::tcp;

pub static ROW: Row = Row::channel::<Submitting<Tcp>>(Facts {
    name: "uring-tcp",
    about: "a TCP connection by io_uring",
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host],
    crosses: "the message's bytes, as segments through the loopback device",
    copies: "the kernel, twice a message: from the sender into a socket buffer, from there to the receiver; no checksum is computed on loopback",
    wakes: "the kernel: the softirq that the send raises delivers the segment and wakes the receiver, which takes its request up again in the call that waits for it",
    limits: "1 byte to 1 MiB; TCP_NODELAY at both ends; a message longer than the send buffer is sent as the receiver makes room; firewall rules are part of the number; boundary=namespace puts the ends into two network namespaces joined by a veth pair, which needs CAP_SYS_ADMIN; io_uring may be forbidden (kernel.io_uring_disabled, seccomp filters of containers); no wake-ups, because a message leaves with the wait for the next",
    sources: &["tcp(7)", "io_uring(7)", "io_uring_enter(2)", "veth(4)", "network_namespaces(7)"],
    available: || {
        tcp::loopback_available()?;
        (SUBMITTED.available)()
    },
    ..SUBMITTED
});
