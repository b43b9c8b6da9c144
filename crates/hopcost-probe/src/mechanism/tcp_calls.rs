//! Messages over a stream socket by plain system calls, which differ in how the fields get there.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::memory::{Buffer, Place, Shared};
use crate::shape::Attaching;
use crate::stream::fields::{self, Fields, InTurn, unacknowledged};
use crate::stream::sockets::{Outlet, all_of, moved, send_all, send_vectors};
use crate::sys;

/// `tcp-send`: one send(2) for each field.
///
/// This is what a program does that serialises nothing and buffers nothing. Every
/// field enters the network stack on its own. With Nagle's algorithm on (the
/// default of TCP, and of this mechanism) the first field leaves at once and those
/// after it wait until that one is acknowledged, which the receiver, having
/// nothing to answer yet, puts off for up to 40 ms (delayed acknowledgement). A
/// field that fills a segment leaves at once; loopback's segments are 65483 bytes.
pub struct FieldByField {
    /// Flags of every send but the last.
    flags: i32,
}

impl Outlet for FieldByField {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        let flags = if attaching.parameter("more") == "on" { libc::MSG_MORE } else { 0 };
        Ok((Self { flags }, Fields::sets(1, attaching)))
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, _: usize, fields: &Fields) -> io::Result<()> {
        let last = fields.iter().len() - 1;
        for (at, field) in fields.iter().enumerate() {
            send_all(socket, field, if at == last { 0 } else { self.flags })?;
        }
        Ok(())
    }
}

/// `tcp-gather`: all fields are first copied into one buffer, which is then sent with one send(2).
///
/// This is what most serialisers do. The copy costs memory bandwidth and saves a
/// system call for each field but one, and with it Nagle's trap (see [`FieldByField`]):
/// a message that is one segment leaves at once.
pub struct Gather {
    whole: Buffer,
}

impl Outlet for Gather {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        Ok((Self { whole: Buffer::new(attaching.payload()) }, Fields::sets(1, attaching)))
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, _: usize, fields: &Fields) -> io::Result<()> {
        let mut rest: &mut [u8] = &mut self.whole;
        for field in fields.iter() {
            // The buffer is as long as all fields.
            let Some((part, after)) = rest.split_at_mut_checked(field.len()) else { break };
            part.copy_from_slice(field);
            rest = after;
        }
        send_all(socket, &self.whole, 0)
    }
}

/// `tcp-sendmsg`, `unix-sendmsg`: one sendmsg(2) that names all fields.
///
/// The kernel walks the list of fields and copies each into the socket buffers, so
/// that neither the sender copies nor is there a system call for each field. Over a Unix socket
/// there is no protocol below the call: what the two mechanisms differ by is what TCP costs.
pub struct OneSendmsg;

impl Outlet for OneSendmsg {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        Ok((Self, Fields::sets(1, attaching)))
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, _: usize, fields: &Fields) -> io::Result<()> {
        all_of(fields.vectors(), fields.bytes(), |rest| send_vectors(socket, rest, 0))
    }
}

/// Distance of two messages in the file: whole pages.
fn stride(payload: usize) -> usize {
    payload.next_multiple_of(4096)
}

/// `tcp-sendfile`: a message over TCP whose fields lie in a file in memory, from
/// which the kernel sends it with one `sendfile`.
///
/// The sender writes its fields into a mapping of the file (memfd_create), one
/// after the other. The socket buffers hold references to the file's pages:
/// nothing is copied until the receiver's recv, which copies straight out of
/// them. Nothing tells the sender when that is but the receiver's acknowledgement,
/// so there is a place in the file for each message of the window, and it cannot
/// do without acknowledgements.
pub struct InFile {
    file: OwnedFd,
}

impl Outlet for InFile {
    fn new(_: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        let (payload, count) = (attaching.payload(), fields::count(attaching));
        let window = unacknowledged(attaching)?;
        let bytes = window * stride(payload);
        let file = Shared::create(bytes)?;
        let memory = Shared::map(&file, bytes)?;
        let sets = InTurn::new(window, |number| {
            let message = Place::bytes(&memory, number * stride(payload), payload);
            let start = message.as_ptr().cast::<u8>();
            let starts = (0..count).map(|at| start.wrapping_add(at * (payload / count))).collect();
            Fields::at(starts, payload, Box::new(message))
        });
        Ok((Self { file }, sets))
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, set: usize, fields: &Fields) -> io::Result<()> {
        let mut left = fields.bytes();
        let mut offset = (set * stride(left)) as libc::off_t;
        while left > 0 {
            let (to, from) = (socket.as_raw_fd(), self.file.as_raw_fd());
            // SAFETY: the offset is valid for writing.
            let sent = sys::check(unsafe { libc::sendfile(to, from, &raw mut offset, left) });
            let sent = moved(sent.map(|bytes| bytes as usize))?;
            left = left.checked_sub(sent).ok_or_else(|| sys::failure("sendfile sent too much"))?;
        }
        Ok(())
    }
}
