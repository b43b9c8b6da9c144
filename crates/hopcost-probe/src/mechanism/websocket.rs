//! `websocket`: binary messages of RFC 6455 over one TCP connection on loopback,
//! by the crate tungstenite, in the thread that sends and receives.
//!
//! Both ends shake hands for real when they attach: the caller is the client and
//! masks what it sends, the callee is the server and masks nothing. Against `tcp`
//! (with nodelay) a message has a frame header of 2 to 14 bytes more (with the
//! client's mask) and the library's copies; the system calls are the same four.
//!
//! Two buffers decide what the library costs. It writes out each message as soon
//! as it is framed (`write_buffer_size` 0): one write. It reads into a buffer that
//! it fills with zeros before every read, as far as the buffer has room: with the
//! library's own size of 128 KiB that is some 64 KiB of zeros a message on
//! average, whatever its length. So it is given room for one frame, which also makes
//! it exactly one read a message.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use hopcost_model::{Role, WaitKind};
use tungstenite::client::client_with_config;
use tungstenite::handshake::HandshakeRole;
use tungstenite::protocol::{self, WebSocket, WebSocketConfig};
use tungstenite::{Bytes, HandshakeError, Message, accept_with_config};

use super::connect::{Side, accept, finished};
use crate::shape::{Attaching, Channel, End, Half};
use crate::sys;
use crate::transport::{by_role, peer_closed, wait_writable};
use crate::wait::{self, AtRunTime, Block, FdWait, Wait};

/// The most room for a frame: beyond it the zeros written for every part of a long
/// message would outweigh the reads saved.
const READ_BUFFER_MAX: usize = 128 * 1024;

/// Bytes of a frame that this end receives.
fn frame_bytes(payload: usize, receiver: Role) -> usize {
    let length = match payload {
        0..=125 => 0,
        126..=0xFFFF => 2,
        _ => 8,
    };
    2 + length + by_role(receiver, 0, 4) + payload
}

fn config(payload: usize, role: Role) -> WebSocketConfig {
    let read_buffer = frame_bytes(payload, role).min(READ_BUFFER_MAX);
    WebSocketConfig::default().read_buffer_size(read_buffer).write_buffer_size(0)
}

/// Shakes hands over a connected socket, the caller as client, the callee as server: what `reads`
/// makes of the socket reads it from then on.
///
/// The codec is made anew afterwards, because the library goes on in the buffer of
/// its handshake, whatever size was asked for. Nothing can lie in there: a callee
/// does not speak before it is asked, and a caller not before hands are shaken.
pub(super) fn shake_hands<R>(
    fd: OwnedFd,
    payload: usize,
    role: Role,
    reads: impl FnOnce(&OwnedFd) -> io::Result<R>,
) -> io::Result<WebSocket<Wire<R>>> {
    let (config, stream) = (Some(config(payload, role)), Wire { fd, reads: BLOCKING });
    let socket = match role {
        Role::Caller => client_with_config("ws://127.0.0.1/", stream, config)
            .map_err(handshake_failed)
            .map(|(socket, _)| socket)?,
        Role::Callee => accept_with_config(stream, config).map_err(handshake_failed)?,
    };
    let fd = socket.into_inner().fd;
    let wire = Wire { reads: reads(&fd)?, fd };
    let role = by_role(role, protocol::Role::Client, protocol::Role::Server);
    Ok(WebSocket::from_raw_socket(wire, role, config))
}

fn handshake_failed<R: HandshakeRole>(error: HandshakeError<R>) -> io::Error {
    match error {
        HandshakeError::Failure(error) => sys::context(io_error(error), "WebSocket handshake"),
        HandshakeError::Interrupted(_) => sys::failure("the WebSocket handshake was interrupted"),
    }
}

/// The library's error as one of the link.
#[cold]
pub(super) fn io_error(error: tungstenite::Error) -> io::Error {
    use tungstenite::Error;
    use tungstenite::error::ProtocolError;
    match error {
        Error::Io(error) => error,
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => peer_closed(),
        error => sys::failure(format!("WebSocket: {error}")),
    }
}

/// The next binary message.
#[inline]
pub(super) fn read_binary<S: Read + Write>(
    socket: &mut WebSocket<S>,
) -> tungstenite::Result<Bytes> {
    loop {
        match socket.read()? {
            Message::Binary(bytes) => return Ok(bytes),
            Message::Close(_) => return Err(tungstenite::Error::ConnectionClosed),
            // Nobody here sends any other.
            _ => {}
        }
    }
}

/// The stream under the library: a socket, and how it is read.
pub(super) struct Wire<R> {
    pub fd: OwnedFd,
    pub reads: R,
}

/// Reads wait as the case says, so the library never learns that a socket can be without data.
impl Read for Wire<FdWait> {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { fd, reads } = self;
        reads.receive(reads.kind, fd, |look| sys::read(fd, buffer, look))
    }
}

/// One that sleeps until there is something to be read.
const BLOCKING: FdWait = FdWait::without_fd(WaitKind::Block, 0);

/// Writes all or a part; waits for room where the socket does not.
impl<R> Write for Wire<R> {
    #[inline]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        loop {
            match sys::send(&self.fd, buffer, 0) {
                Err(error) => wait_writable(&self.fd, error).map(drop)?,
                done => return done,
            }
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub struct WebSocketInline {
    socket: WebSocket<Wire<FdWait>>,
    out: Outgoing,
    /// The message that is lent: a piece of the library's read buffer.
    message: Bytes,
}

/// A buffer that the library takes by value and gives back: no message is
/// allocated, only the 24 bytes of its reference count.
pub(super) struct Outgoing {
    buffer: Bytes,
    writable: Vec<u8>,
}

impl Outgoing {
    pub(super) fn new(payload: usize) -> Self {
        // Filled with ones, because pages of zeros are not touched until written.
        Self { buffer: Bytes::new(), writable: vec![1; payload] }
    }
    /// Where the next message is written. In place, because the library has
    /// dropped its share by now; were it late, a copy would be made.
    #[inline]
    pub(super) fn slot(&mut self) -> &mut [u8] {
        if self.writable.is_empty() {
            self.writable = Vec::from(std::mem::take(&mut self.buffer));
        }
        &mut self.writable
    }
    /// The message as the library wants it.
    #[inline]
    pub(super) fn message(&mut self) -> Bytes {
        self.buffer = Bytes::from(std::mem::take(&mut self.writable));
        self.buffer.clone()
    }
}

impl WebSocketInline {
    /// Takes an end that waits like this.
    pub(super) fn waiting(
        half: Half,
        attaching: &Attaching<'_>,
        kind: WaitKind,
    ) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let payload = attaching.payload();
        let socket = shake_hands(fd, payload, attaching.role, |fd| {
            FdWait::prepare(kind, fd, wait::look_at, attaching.budget_ticks)
        })?;
        Ok(Self { socket, out: Outgoing::new(payload), message: Bytes::new() })
    }
}

impl End for WebSocketInline {
    type Waits = AtRunTime;
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::waiting(half, attaching, attaching.wait())
    }
}

impl Channel for WebSocketInline {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.out.slot())
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        self.socket.send(Message::Binary(self.out.message())).map_err(io_error)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        // Given back first, so that the library can use its read buffer again.
        self.message = Bytes::new();
        self.message = read_binary(&mut self.socket).map_err(io_error)?;
        Ok(&self.message)
    }
}

/// `websocket-connect`: a connection for each round trip, as `tcp-connect` makes it, with the
/// handshake of the library before the message, and without a closing one.
pub struct WebSocketConnect {
    side: Side,
    payload: usize,
    role: Role,
    /// The connection of the exchange under way.
    socket: Option<WebSocket<Wire<FdWait>>>,
    out: Outgoing,
    message: Bytes,
}

impl WebSocketConnect {
    fn shake_hands(&mut self, fd: OwnedFd) -> io::Result<()> {
        self.socket = Some(shake_hands(fd, self.payload, self.role, |_| Ok(BLOCKING))?);
        Ok(())
    }
}

impl End for WebSocketConnect {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let (payload, role) = (attaching.payload(), attaching.role);
        let (side, out) = (Side::attach(half, attaching)?, Outgoing::new(payload));
        Ok(Self { side, payload, role, socket: None, out, message: Bytes::new() })
    }
}

impl Channel for WebSocketConnect {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(self.out.slot())
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        if let Side::Caller(caller) = &mut self.side {
            let fd = caller.connect(&[])?;
            self.shake_hands(fd)?;
        }
        let socket = self.socket.as_mut().ok_or_else(peer_closed)?;
        socket.send(Message::Binary(self.out.message())).map_err(io_error)
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.message = Bytes::new();
        if let Side::Callee(listener) = &self.side {
            finished(self.socket.take().map(|socket| socket.into_inner().fd))?;
            let fd = accept(listener)?;
            self.shake_hands(fd)?;
        }
        let socket = self.socket.as_mut().ok_or_else(peer_closed)?;
        self.message = read_binary(socket).map_err(io_error)?;
        if let Side::Caller(caller) = &self.side
            && let Some(socket) = self.socket.take()
        {
            caller.close(socket.into_inner().fd)?;
        }
        Ok(&self.message)
    }
}
