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
    about: "Unix socket, sendmsg of all fields",
    waits: &[block(PerOperation::Exactly(4.0), 6.2)],
    crosses: "the message's bytes, in socket buffers queued at the receiving socket",
    copies: "the kernel, twice a message: from the fields into socket buffers, and from there to the receiver",
    wakes: "the kernel wakes the sleeping receiver from within sendmsg; reading gives the sender room again, which wakes it too while it waits for its acknowledgement",
    between_stamps: "one sendmsg; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields (IOV_MAX); a message longer than the send buffer (net.core.wmem_default) is sent as the receiver makes room",
    sources: &["unix(7)", "socketpair(2)", "sendmsg(2)", "recv(2)"],
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
