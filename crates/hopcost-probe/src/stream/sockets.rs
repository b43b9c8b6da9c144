//! Streams over a connected socket. The mechanisms differ only in how the fields
//! get into it, which an [`Outlet`] says; the receiver is the same for all: it
//! reads into one buffer as long as a message until that is full, and
//! acknowledges the other way: with the message's number, of 8 bytes, or with as much
//! as a field that begins with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::{AckSize, ZeroCopySends};

use super::{Sink, Source};
use crate::memory::Buffer;
use crate::shape::{Attaching, Half};
use crate::stream::fields::{self, Fields, InTurn};
use crate::sys;
use crate::transport::peer_closed;

/// How the fields of a message get into a connected socket.
pub trait Outlet: Sized + 'static {
    /// Prepares the sender's end, and the sets of fields that it sends in turn.
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)>;
    /// As [`Source::claim`], of the set with this number.
    #[inline(always)]
    fn claim(&mut self, _socket: &OwnedFd, _set: usize) -> io::Result<()> {
        Ok(())
    }
    /// Sends the set with this number.
    fn send(&mut self, socket: &OwnedFd, set: usize, fields: &Fields) -> io::Result<()>;
    /// As [`Source::settle`].
    fn settle(&mut self, _socket: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        Ok(None)
    }
}

/// Memory for an acknowledgement.
fn acknowledgement(attaching: &Attaching<'_>) -> Buffer {
    let field_bytes = match attaching.case.ack_size {
        AckSize::Number => 0,
        AckSize::Field => attaching.payload() / fields::count(attaching),
    };
    Buffer::new(field_bytes.max(size_of::<u64>()))
}

/// The sender's end.
pub struct SocketSource<O> {
    // Dropped first: it may send from the fields until then.
    outlet: O,
    sets: InTurn<Fields>,
    socket: OwnedFd,
    acknowledgement: Buffer,
}

impl<O: Outlet> Source for SocketSource<O> {
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [socket] = half.take_fds()?;
        let (outlet, sets) = O::new(&socket, attaching)?;
        Ok(Self { outlet, sets, socket, acknowledgement: acknowledgement(attaching) })
    }
    #[inline(always)]
    fn claim(&mut self) -> io::Result<()> {
        self.outlet.claim(&self.socket, self.sets.number())
    }
    #[inline(always)]
    fn fields(&mut self) -> &mut Fields {
        self.sets.current_mut()
    }
    #[inline(always)]
    fn send(&mut self) -> io::Result<()> {
        self.outlet.send(&self.socket, self.sets.number(), self.sets.current())?;
        self.sets.pass();
        Ok(())
    }
    #[inline(always)]
    fn acknowledged(&mut self) -> io::Result<u64> {
        receive_all(&self.socket, &mut self.acknowledgement)?;
        let sequence = self.acknowledgement.first_chunk().copied().unwrap_or_default();
        Ok(u64::from_le_bytes(sequence))
    }
    fn settle(&mut self) -> io::Result<Option<ZeroCopySends>> {
        self.outlet.settle(&self.socket)
    }
}

/// The receiver's end, which is the same for all.
pub struct SocketSink {
    socket: OwnedFd,
    acknowledgement: Buffer,
    buffer: Buffer,
}

impl Sink for SocketSink {
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [socket] = half.take_fds()?;
        let buffer = Buffer::new(attaching.payload());
        Ok(Self { socket, acknowledgement: acknowledgement(attaching), buffer })
    }
    #[inline(always)]
    fn receive(&mut self) -> io::Result<&[u8]> {
        receive_all(&self.socket, &mut self.buffer)?;
        Ok(&self.buffer)
    }
    #[inline(always)]
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
        if let Some(number) = self.acknowledgement.first_chunk_mut() {
            *number = sequence.to_le_bytes();
        }
        send_all(&self.socket, &self.acknowledgement, 0)
    }
}

/// A number of bytes from a call that moved them; an interrupted one moved none.
#[inline(always)]
pub fn moved(result: io::Result<usize>) -> io::Result<usize> {
    result.or_else(trouble)
}

#[cold]
fn trouble(error: io::Error) -> io::Result<usize> {
    match error.raw_os_error() {
        Some(libc::EINTR) => Ok(0),
        Some(libc::EPIPE | libc::ECONNRESET) => Err(peer_closed()),
        _ => Err(error),
    }
}

/// Sends a whole buffer, with one call where the socket takes it at once.
#[inline(always)]
pub fn send_all(socket: &OwnedFd, buffer: &[u8], flags: i32) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        done += moved(sys::send(socket, &buffer[done..], flags))?;
    }
    Ok(())
}

/// Receives until the buffer is full.
#[inline(always)]
pub fn receive_all(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        done += match sys::receive(socket, &mut buffer[done..], 0) {
            Ok(0) => return Err(peer_closed()),
            received => moved(received)?,
        };
    }
    Ok(())
}

/// Sends 8 bytes: an acknowledgement, or an announcement.
#[inline(always)]
pub fn send_number(socket: &OwnedFd, number: u64) -> io::Result<()> {
    send_all(socket, &number.to_le_bytes(), 0)
}

/// Receives what [`send_number`] sends.
#[inline(always)]
pub fn receive_number(socket: &OwnedFd) -> io::Result<u64> {
    let mut number = [0; 8];
    receive_all(socket, &mut number)?;
    Ok(u64::from_le_bytes(number))
}

/// Moves all that the vectors name by a call that may move less than it is given.
#[inline(always)]
pub fn all_of(
    vectors: &[libc::iovec],
    bytes: usize,
    mut call: impl FnMut(&[libc::iovec]) -> io::Result<usize>,
) -> io::Result<()> {
    let done = call(vectors)?;
    if done == bytes { Ok(()) } else { rest_of(vectors, bytes, done, &mut call) }
}

#[cold]
fn rest_of(
    vectors: &[libc::iovec],
    bytes: usize,
    mut done: usize,
    call: &mut dyn FnMut(&[libc::iovec]) -> io::Result<usize>,
) -> io::Result<()> {
    while done < bytes {
        done += call(&beyond(vectors, done))?;
    }
    Ok(())
}

/// What the vectors name beyond the first `skipped` bytes.
pub fn beyond(vectors: &[libc::iovec], mut skipped: usize) -> Vec<libc::iovec> {
    let rest = vectors.iter().map(|vector| {
        let gone = skipped.min(vector.iov_len);
        skipped -= gone;
        let iov_base = vector.iov_base.cast::<u8>().wrapping_add(gone).cast();
        libc::iovec { iov_base, iov_len: vector.iov_len - gone }
    });
    rest.filter(|vector| vector.iov_len > 0).collect()
}

/// A message of these vectors, which name memory that the caller keeps.
#[inline(always)]
pub fn message_of(vectors: &[libc::iovec]) -> libc::msghdr {
    // SAFETY: all-zero is an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_ptr().cast_mut();
    message.msg_iovlen = vectors.len() as _;
    message
}

/// sendmsg(2) of these vectors.
#[inline(always)]
pub fn send_vectors(socket: &OwnedFd, vectors: &[libc::iovec], flags: i32) -> io::Result<usize> {
    let message = message_of(vectors);
    // SAFETY: the message is valid, and the kernel only reads what it names.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &message, flags | libc::MSG_NOSIGNAL) };
    moved(sys::check(sent).map(|bytes| bytes as usize))
}

#[cfg(test)]
mod tests {
    use hopcost_model::Role;

    use super::*;
    use crate::mechanism::tcp_calls::OneSendmsg;
    use crate::shape::Opening;

    /// Moves what it is given to `sink`, at most `most` bytes a call.
    fn drip(vectors: &[libc::iovec], most: usize, sink: &mut Vec<u8>) -> usize {
        let mut left = most;
        for vector in vectors {
            let take = left.min(vector.iov_len);
            // SAFETY: the vectors name buffers of the test.
            sink.extend(
                unsafe { std::slice::from_raw_parts(vector.iov_base.cast(), take) } as &[u8]
            );
            left -= take;
        }
        most - left
    }

    #[test]
    fn an_acknowledgement_is_as_long_as_the_case_says() {
        for (field, size, bytes) in [(100, "8", 8), (100, "field", 100), (4, "field", 8)] {
            let case: hopcost_model::Case = format!(
                "stream/tcp-sendmsg?payload={}&fields=3&flows=1&ack=per-message&boundary=thread\
                 &place=free&wait=block&ack-size={size}",
                3 * field
            )
            .parse()
            .unwrap();
            let opening = Opening { case: &case, scratch: "/nowhere".as_ref() };
            let link = crate::transport::tcp::open(&opening).unwrap();
            let attaching = |role| Attaching::new(&case, role);
            let mut sender =
                SocketSource::<OneSendmsg>::attach(link.caller, &attaching(Role::Caller)).unwrap();
            let mut receiver = SocketSink::attach(link.callee, &attaching(Role::Callee)).unwrap();
            receiver.acknowledge(7).unwrap();
            let mut peeked = [0u8; 200];
            // SAFETY: the buffer is valid for its length.
            let there = unsafe {
                let socket = sender.socket.as_raw_fd();
                libc::recv(socket, peeked.as_mut_ptr().cast(), peeked.len(), libc::MSG_PEEK)
            };
            assert_eq!((there, peeked[0]), (bytes, 7), "{size} of {field}");
            assert_eq!(sender.acknowledged().unwrap(), 7);
            receiver.acknowledge(8).unwrap();
            assert_eq!(sender.acknowledged().unwrap(), 8, "nothing is left over");
        }
    }

    #[test]
    fn what_a_call_left_over_is_moved_by_the_next() {
        let mut fields: Vec<Vec<u8>> = (0..5u8).map(|at| vec![at; 7]).collect();
        let vectors: Vec<libc::iovec> = fields
            .iter_mut()
            .map(|f| libc::iovec { iov_base: f.as_mut_ptr().cast(), iov_len: f.len() })
            .collect();
        for most in [1, 6, 7, 8, 34, 35, 100] {
            let mut sink = Vec::new();
            all_of(&vectors, 35, |rest| Ok(drip(rest, most, &mut sink))).unwrap();
            assert_eq!(sink, fields.concat(), "at most {most} bytes a call");
        }
    }
}
