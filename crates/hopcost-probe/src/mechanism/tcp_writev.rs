//! `tcp-writev`: a message over TCP with one `writev` that names all its fields.
//!
//! The same as `tcp-sendmsg` but for the way into the kernel: through the file
//! layer instead of the socket layer. Any large difference between the two is noise.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::mechanism::{Facts, PerOperation};

use crate::registry::Row;
use crate::shape::Attaching;
use crate::stream::facts::{RECEIVES, TCP, block};
use crate::stream::fields::Fields;
use crate::stream::sockets::{Outlet, OverSocket, all_of, moved};

pub static ROW: Row = Row::stream::<TcpWritev>(Facts {
    name: "tcp-writev",
    about: "TCP, one writev() of all fields",
    waits: &[block(PerOperation::Between(4.0, 5.0, RECEIVES), 4.2)],
    crosses: "the message's bytes, as segments over TCP",
    copies: "the kernel, twice a message: from the fields, wherever they are, into socket buffers, and from there to the receiver; writev saves the sender's own gathering, not the kernel's copy",
    wakes: "the kernel: the softirq that writev raises delivers the segments and wakes the sleeping receiver",
    between_stamps: "one writev; the receiver's receives until the message is whole, its looking at every byte, its send of 8 bytes; recv of these; filling the fields is before",
    limits: "8 bytes to 16 MiB in 1 to 1024 fields (IOV_MAX); a message longer than the buffers is sent as the receiver makes room; firewall rules are part of the number; between network namespaces each flow has a veth pair of its own",
    sources: &["tcp(7)", "writev(2)", "recv(2)"],
    ..TCP
});

pub type TcpWritev = OverSocket<OneWritev>;

/// One writev a message.
pub struct OneWritev(Fields);

impl Outlet for OneWritev {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Self(Fields::new(attaching)))
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        self.0.each(write);
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()> {
        // A dead partner raises SIGPIPE, which the Rust runtime ignores: an error comes back.
        all_of(self.0.vectors(), self.0.bytes(), |rest| {
            // SAFETY: the vectors name the fields, which live as long as this end.
            moved(unsafe {
                libc::writev(socket.as_raw_fd(), rest.as_ptr(), rest.len() as libc::c_int)
            })
        })
    }
}
