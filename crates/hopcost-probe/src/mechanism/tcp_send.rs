//! `tcp-send`: a message over TCP with one `send` for each of its fields.
//!
//! This is what a program does that serialises nothing and buffers nothing. Every
//! field enters the network stack on its own. With Nagle's algorithm on (the
//! default of TCP, and of this mechanism) the first field leaves at once and those
//! after it wait until that one is acknowledged, which the receiver, having
//! nothing to answer yet, puts off for up to 40 ms (delayed acknowledgement). A
//! field that fills a segment leaves at once; loopback's segments are 65483 bytes.

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::mechanism::{Facts, Parameter, PerOperation};

use crate::registry::Row;
use crate::shape::Attaching;
use crate::stream::facts::{NODELAY, TCP, block};
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, OverSocket, send_all};
use crate::sys;

pub static ROW: Row = Row::stream::<TcpSend>(Facts {
    name: "tcp-send",
    waits: &[block(
        PerOperation::Between(
            11.0,
            18.0,
            "of a message of eight fields: eight sends, one to eight receives, and one call at \
             either end for the acknowledgement",
        ),
        18.0,
    )],
    parameters: &[
        NODELAY,
        Parameter {
            name: "more",
            values: &["off", "on"],
            default: "off",
            about: "MSG_MORE on every field but the last, so that nothing but whole segments \
                    leaves before the message is complete",
        },
    ],
    ..TCP
});

pub type TcpSend = OverSocket<FieldByField>;

/// One send a field.
pub struct FieldByField {
    fields: Fields,
    /// Flags of every send but the last.
    flags: i32,
}

impl Outlet for FieldByField {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        let flags = match attaching.parameter("more") {
            "on" => libc::MSG_MORE,
            "off" | "" => 0,
            other => return Err(sys::failure(format!("more is `on` or `off`, not `{other}`"))),
        };
        Ok(Self { fields: Fields::new(attaching), flags })
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.fields.each(write);
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let last = self.fields.iter().len() - 1;
        for (at, field) in self.fields.iter().enumerate() {
            send_all(socket, field, if at == last { 0 } else { self.flags })?;
        }
        Ok(())
    }
}
