//! `unix-sendmsg`: a message over a Unix stream socket with one `sendmsg` that
//! names all its fields.
//!
//! The same call as in `tcp-sendmsg` and no protocol below it: the bytes are put
//! into the receiving socket's queue. What the two differ by is what TCP costs.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::Row;
use crate::shape::{Attaching, Half, Link, Opening, PeerExit, TwoEnds};
use crate::stream::facts::{LOCAL, block};
use crate::stream::sockets::{OneSendmsg, OverSocket};
use crate::wait::AtRunTime;

pub static ROW: Row = Row::stream::<UnixSendmsg>(Facts {
    name: "unix-sendmsg",
    family: "unix stream",
    waits: &[block(PerOperation::Exactly(4.0), 6.2)],
    ..LOCAL
});

/// How its ends meet.
struct UnixSendmsg;

impl TwoEnds for UnixSendmsg {
    type End = OverSocket<OneSendmsg>;
    type Waits = AtRunTime;
    const PEER_EXIT: PeerExit = PeerExit::Noticed;
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let (sender, receiver) = UnixStream::pair()?;
        Ok(Link::of_pair([OwnedFd::from(sender), OwnedFd::from(receiver)]))
    }
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self::End> {
        OverSocket::attach(half, attaching)
    }
}
