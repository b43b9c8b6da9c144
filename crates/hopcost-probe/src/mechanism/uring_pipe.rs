//! `uring-pipe`: the two pipes of `pipe`, written and read by io_uring.
//!
//! System calls of a round trip: 2, one io_uring_enter of each end that submits its write
//! and its next read and sleeps until that is completed.

use hopcost_model::mechanism::Facts;

use super::pipe::Pipe;
use crate::registry::Row;
use crate::transport::submitted::{SUBMITTED, Submitting};

pub static ROW: Row = Row::channel::<Submitting<Pipe>>(Facts { name: "uring-pipe", ..SUBMITTED });
