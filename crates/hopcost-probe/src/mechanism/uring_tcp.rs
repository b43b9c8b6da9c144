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
    boundaries: &[Boundary::Process, Boundary::Thread, Boundary::Namespace, Boundary::Host],
    available: || {
        tcp::loopback_available()?;
        (SUBMITTED.available)()
    },
    ..SUBMITTED
});
