//! Streams over a connected socket. The mechanisms differ only in how the fields
//! get into it, which an [`Outlet`] says; the receiver is the same for all: it
//! reads into one buffer as long as a message until that is full, and
//! acknowledges the other way: with the message's number, of 8 bytes, or with as much
//! as a field that begins with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use hopcost_model::case::{AckSize, Role};
use hopcost_model::protocol::ZeroCopySends;

use crate::memory::Buffer;
use crate::shape::{Attaching, End, Half, Stream};
use crate::stream::fields;
use crate::stream::wrong_end;
use crate::sys;
use crate::transport::peer_closed;
use crate::wait::AtRunTime;

/// How the fields of a message get into a connected socket.
pub trait Outlet: Sized + 'static {
    /// Prepares the sender's end.
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<Self>;
    /// As [`Stream::claim`].
    #[inline(always)]
    fn claim(&mut self, _socket: &OwnedFd) -> io::Result<()> {
        Ok(())
    }
    /// As [`Stream::fields`].
    fn fields(&mut self, write: impl FnMut(&mut [u8]));
    /// As [`Stream::send`].
    fn send(&mut self, socket: &OwnedFd) -> io::Result<()>;
    /// The oldest message was acknowledged.
    #[inline(always)]
    fn acknowledged(&mut self) {}
    /// As [`Stream::settle`].
    fn settle(&mut self, _socket: &OwnedFd) -> io::Result<Option<ZeroCopySends>> {
        Ok(None)
    }
}

/// One end of a stream over a socket.
pub struct OverSocket<O> {
    socket: OwnedFd,
    acknowledgement: Buffer,
    side: Side<O>,
}

enum Side<O> {
    Sender(O),
    Receiver(Buffer),
}

impl<O: Outlet> OverSocket<O> {
    #[inline(always)]
    fn sender(&mut self) -> io::Result<(&OwnedFd, &mut O)> {
        match &mut self.side {
            Side::Sender(outlet) => Ok((&self.socket, outlet)),
            Side::Receiver(_) => Err(wrong_end()),
        }
    }
}

impl<O: Outlet> End for OverSocket<O> {
    type Waits = AtRunTime;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [socket] = half.take_fds()?;
        let side = match attaching.role {
            Role::Caller => Side::Sender(O::new(&socket, attaching)?),
            Role::Callee => Side::Receiver(Buffer::new(attaching.payload())),
        };
        Ok(Self { socket, acknowledgement: acknowledgement(attaching), side })
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

impl<O: Outlet> Stream for OverSocket<O> {
    #[inline(always)]
    fn claim(&mut self) -> io::Result<()> {
        let (socket, outlet) = self.sender()?;
        outlet.claim(socket)
    }
    #[inline(always)]
    fn fields(&mut self, write: impl FnMut(&mut [u8])) {
        match &mut self.side {
            Side::Sender(outlet) => outlet.fields(write),
            Side::Receiver(_) => {}
        }
    }
    #[inline(always)]
    fn send(&mut self) -> io::Result<()> {
        let (socket, outlet) = self.sender()?;
        outlet.send(socket)
    }
    #[inline(always)]
    fn receive(&mut self) -> io::Result<&[u8]> {
        let Side::Receiver(buffer) = &mut self.side else { return Err(wrong_end()) };
        receive_all(&self.socket, buffer)?;
        Ok(buffer)
    }
    #[inline(always)]
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
        if let Some(number) = self.acknowledgement.first_chunk_mut() {
            *number = sequence.to_le_bytes();
        }
        send_all(&self.socket, &self.acknowledgement, 0)
    }
    #[inline(always)]
    fn acknowledged(&mut self) -> io::Result<u64> {
        receive_all(&self.socket, &mut self.acknowledgement)?;
        let sequence = self.acknowledgement.first_chunk().copied().unwrap_or_default();
        self.sender()?.1.acknowledged();
        Ok(u64::from_le_bytes(sequence))
    }
    fn settle(&mut self) -> io::Result<Option<ZeroCopySends>> {
        let (socket, outlet) = self.sender()?;
        outlet.settle(socket)
    }
}

/// Sets an integer option of a socket and makes sure that it took.
pub fn set_option(
    socket: &OwnedFd,
    level: i32,
    option: i32,
    value: i32,
    name: &str,
) -> io::Result<()> {
    // SAFETY: the value is valid for reading, and its size is its own.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    };
    sys::check(result).map_err(|error| sys::context(error, &format!("setting {name}")))?;
    match sys::get_option(socket, level, option)? != 0 {
        taken if taken == (value != 0) => Ok(()),
        _ => Err(sys::failure(format!("the kernel did not take the setting of {name}"))),
    }
}

/// A number of bytes from a call that moved them; an interrupted one moved none.
#[inline(always)]
pub fn moved(result: isize) -> io::Result<usize> {
    if result >= 0 {
        return Ok(result as usize);
    }
    trouble(io::Error::last_os_error())
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
        let rest = &buffer[done..];
        // SAFETY: the buffer is valid for its length. Without MSG_NOSIGNAL a dead
        // partner would end this process silently.
        done += moved(unsafe {
            libc::send(
                socket.as_raw_fd(),
                rest.as_ptr().cast(),
                rest.len(),
                flags | libc::MSG_NOSIGNAL,
            )
        })?;
    }
    Ok(())
}

/// Receives until the buffer is full.
#[inline(always)]
pub fn receive_all(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        // SAFETY: the buffer is valid for its length.
        let result =
            unsafe { libc::recv(socket.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), 0) };
        if result == 0 {
            return Err(peer_closed());
        }
        done += moved(result)?;
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
    let mut rest = Vec::with_capacity(vectors.len());
    for vector in vectors {
        let gone = skipped.min(vector.iov_len);
        skipped -= gone;
        if gone < vector.iov_len {
            rest.push(libc::iovec {
                iov_base: vector.iov_base.cast::<u8>().wrapping_add(gone).cast(),
                iov_len: vector.iov_len - gone,
            });
        }
    }
    rest
}

/// sendmsg(2) of these vectors.
#[inline(always)]
pub fn send_vectors(socket: &OwnedFd, vectors: &[libc::iovec], flags: i32) -> isize {
    // SAFETY: all-zero is an empty message; the vectors name memory that the caller
    // keeps, and the kernel only reads them.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = vectors.as_ptr().cast_mut();
        message.msg_iovlen = vectors.len() as _;
        libc::sendmsg(socket.as_raw_fd(), &message, flags | libc::MSG_NOSIGNAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::tcp_copies::OneSendmsg;
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
            let case: hopcost_model::case::Case = format!(
                "stream/tcp-sendmsg?payload={}&fields=3&flows=1&ack=per-message&boundary=thread\
                 &place=free&wait=block&ack-size={size}",
                3 * field
            )
            .parse()
            .unwrap();
            type Sent = OverSocket<OneSendmsg>;
            let opening = Opening { case: &case, scratch: "/nowhere".as_ref() };
            let link = crate::transport::tcp::open_stream(&opening).unwrap();
            let attached = |half, role| Sent::attach(half, &Attaching::new(&case, role)).unwrap();
            let mut sender = attached(link.caller, Role::Caller);
            let mut receiver = attached(link.callee, Role::Callee);
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
