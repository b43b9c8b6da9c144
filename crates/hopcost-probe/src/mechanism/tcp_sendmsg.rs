//! `tcp-sendmsg`: a message over TCP with one `sendmsg` that names all its fields.
//!
//! The kernel walks the list of fields and copies each into the socket buffers, so
//! that neither the sender copies nor is there a system call for each field.

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::Row;
use crate::stream::facts::{RECEIVES, TCP, block};
use crate::stream::sockets::{OneSendmsg, OverSocket};

pub static ROW: Row = Row::stream::<OverSocket<OneSendmsg>>(Facts {
    name: "tcp-sendmsg",
    waits: &[block(PerOperation::Between(4.0, 5.0, RECEIVES), 4.2)],
    ..TCP
});
