//! `unix-sendmsg`: a message over a Unix stream socket with one `sendmsg` that
//! names all its fields.
//!
//! The same call as in `tcp-sendmsg` and no protocol below it: the bytes are put
//! into the receiving socket's queue. What the two differ by is what TCP costs.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use hopcost_model::case::Workload;
use hopcost_model::mechanism::{Facts, PerOperation, Shape};

use crate::registry::{Row, always_available};
use crate::shape::{Attaching, Link, Opening};
use crate::stream::facts::{LOCAL_BOUNDARIES, PAYLOAD, block};
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, OverSocket, all_of, moved, send_vectors};
use crate::transport::halves;

/// The row.
pub static ROW: Row = Row::stream::<UnixSendmsg>(Facts {
    name: "unix-sendmsg",
    family: "unix stream",
    about: "a message over a Unix stream socket, one sendmsg() of all its fields",
    shape: Shape::Channel,
    workloads: &[Workload::Stream],
    boundaries: LOCAL_BOUNDARIES,
    waits: &[block(PerOperation::Exactly(4.0), 6.2)],
    call_system_calls: None,
    payload: PAYLOAD,
    parameters: &[],
    crosses: "the message's bytes, in socket buffers queued at the receiving socket",
    copies: "the kernel, twice a message: from the fields into socket buffers, and from there to the receiver",
    wakes: "the kernel wakes the sleeping receiver from within sendmsg; reading gives the sender room again, which wakes it too while it waits for its acknowledgement",
    between_stamps: "one sendmsg; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields (IOV_MAX); a message longer than the send buffer (net.core.wmem_default) is sent as the receiver makes room",
    sources: &["unix(7)", "socketpair(2)", "sendmsg(2)", "recv(2)"],
    hidden: false,
    available: always_available,
});

/// One end.
pub type UnixSendmsg = OverSocket<OneSendmsg>;

/// One sendmsg a message.
pub struct OneSendmsg(Fields);

impl Outlet for OneSendmsg {
    fn open(_: &Opening<'_>) -> io::Result<Link> {
        let (sender, receiver) = UnixStream::pair()?;
        Ok(halves([OwnedFd::from(sender), OwnedFd::from(receiver)]))
    }
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Self(Fields::new(attaching)))
    }
    #[inline(always)]
    fn field(&mut self, at: usize) -> &mut [u8] {
        self.0.field(at)
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        all_of(self.0.vectors(), self.0.bytes(), |rest| moved(send_vectors(socket, rest, 0)))
    }
}
