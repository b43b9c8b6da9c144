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
    waits: &[block(PerOperation::Between(4.0, 5.0, RECEIVES), 4.2)],
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
