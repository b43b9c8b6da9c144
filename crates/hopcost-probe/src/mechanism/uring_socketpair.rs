//! `uring-socketpair`: the Unix stream sockets of `socketpair`, written and read by io_uring.
//!
//! System calls of a round trip: 2, one io_uring_enter of each end that submits its send
//! and its next receive and sleeps until that is completed.

use hopcost_model::mechanism::Facts;

use super::socketpair::SocketPair;
use crate::registry::Row;
use crate::transport::submitted::{SUBMITTED, Submitting};

pub static ROW: Row =
    Row::channel::<Submitting<SocketPair>>(Facts { name: "uring-socketpair", ..SUBMITTED });
