//! `websocket-threaded`: as `websocket`, but with an I/O thread at each end, as
//! in client libraries that call back or hand out queues.
//!
//! ```text
//! application ─queue─▶ I/O thread ─socket─▶ I/O thread ─queue─▶ application
//!             eventfd             (TCP)                 futex
//! ```
//!
//! One I/O thread an end owns the socket and sleeps in epoll_wait(2) on it and on
//! an eventfd, which is how Asio (and WebSocket++ on top of it), libwebsockets and
//! the event loops of other languages do it. The application puts a message into
//! a `std::sync::mpsc` queue and writes the eventfd; the I/O thread drains the
//! queue, frames and writes. What it reads it puts into a second queue, on which
//! the application sleeps. (A reading and a writing thread, the other common
//! structure, would need a lock around the library, whose reads may write.)
//!
//! A message crosses three times instead of once: three wake-ups, six a round
//! trip. With `answer=handler` the server answers where the library calls its message
//! handler, on the I/O thread: that thread is then the callee itself, a request crosses
//! twice and so does its reply, and four are woken a round trip.
//!
//! A worker has one thread more for each end that has an I/O thread beside it, and a
//! thread inherits the CPU of the seat that starts it.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use hopcost_model::{Role, WaitKind};
use tungstenite::protocol::WebSocket;
use tungstenite::{Bytes, Message};

use super::websocket::{Outgoing, WebSocketInline, Wire, io_error, read_binary, shake_hands};
use crate::shape::{Attaching, Channel, End, Half};
use crate::sys::{self, Look};
use crate::transport::peer_closed;
use crate::wait::{Block, Wait};

/// `reads` is set each time epoll finds the socket readable, and allows one read(2). Further reads of the
/// library get WouldBlock without a system call.
impl Read for Wire<bool> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match std::mem::take(&mut self.reads) {
            true => sys::uninterrupted(|| sys::read(&self.fd, buffer, Look::AsOpened)),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// What epoll calls the socket: the first that it watches.
const SOCKET: u64 = 0;

/// What an I/O thread beside the application works on.
struct IoThread {
    socket: WebSocket<Wire<bool>>,
    event: OwnedFd,
    epoll: OwnedFd,
    /// From the application.
    queued: Receiver<Bytes>,
    /// To the application.
    received: Sender<io::Result<Bytes>>,
}

impl IoThread {
    /// Until the application lets go or the connection ends.
    fn run(mut self) {
        if let Err(error) = self.serve() {
            // Where the application is gone too, there is nobody to tell.
            let _ = self.received.send(Err(error));
        }
    }

    /// Sleeps, then does whatever there is to do, until the application has let go and what it had
    /// queued is sent.
    fn serve(&mut self) -> io::Result<()> {
        let mut events = [sys::NO_EVENT; 2];
        loop {
            let ready = sys::epoll_wait(&self.epoll, &mut events)?;
            for event in &events[..ready] {
                if event.u64 == SOCKET {
                    self.receive()?;
                } else if !self.send()? {
                    return Ok(());
                }
            }
        }
    }

    /// Sends what the application has queued; false once that has let go.
    fn send(&mut self) -> io::Result<bool> {
        // Cleared before the queue is looked at, so that a message queued after the
        // last look sets it again.
        sys::read(&self.event, &mut [0; 8], Look::AsOpened)?;
        loop {
            match self.queued.try_recv() {
                Ok(message) => self.socket.send(Message::Binary(message)).map_err(io_error)?,
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => return Ok(false),
            }
        }
    }

    /// Reads once, and queues every message that is complete by then.
    fn receive(&mut self) -> io::Result<()> {
        self.socket.get_mut().reads = true;
        loop {
            match read_binary(&mut self.socket).map_err(io_error) {
                // An application that has let go is noticed in `send`.
                Ok(message) => drop(self.received.send(Ok(message))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

/// An end with an I/O thread beside it.
pub struct Application {
    /// None once it lets go.
    outgoing: Option<Sender<Bytes>>,
    event: OwnedFd,
    incoming: Receiver<io::Result<Bytes>>,
    thread: Option<JoinHandle<()>>,
    out: Outgoing,
    /// The message that is lent: a piece of the library's read buffer.
    message: Bytes,
}

impl Application {
    fn new(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let payload = attaching.payload();
        let socket = shake_hands(fd, payload, attaching.role, |fd| {
            sys::set_nonblocking(fd)?;
            Ok(false)
        })?;
        let event = sys::eventfd()?;
        let epoll = sys::epoll(&[&socket.get_ref().fd, &event], libc::EPOLLIN)?;
        let (outgoing, queued) = channel();
        let (received, incoming) = channel();
        let io = IoThread { socket, event: event.try_clone()?, epoll, queued, received };
        let thread = Some(attaching.start_helper("hopcost-io", move || io.run())?);
        let (outgoing, out, message) = (Some(outgoing), Outgoing::new(payload), Bytes::new());
        Ok(Self { outgoing, event, incoming, thread, out, message })
    }

    fn send(&mut self) -> io::Result<()> {
        let message = self.out.message();
        match self.outgoing.as_ref().map(|queue| queue.send(message)) {
            Some(Ok(())) => wake(&self.event),
            _ => Err(peer_closed()),
        }
    }

    fn receive(&mut self) -> io::Result<&[u8]> {
        self.message = Bytes::new();
        self.message = self.incoming.recv().map_err(|_| peer_closed())??;
        Ok(&self.message)
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        // The I/O thread sends what is queued, finds the queue closed and ends.
        self.outgoing = None;
        let _ = wake(&self.event);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Wakes the I/O thread.
fn wake(event: &OwnedFd) -> io::Result<()> {
    sys::write(event, &1u64.to_ne_bytes()).map(drop)
}

pub enum WebSocketThreaded {
    Application(Application),
    /// An end that is the library's I/O thread itself.
    Handler(Box<WebSocketInline>),
}

impl End for WebSocketThreaded {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(match (attaching.role, attaching.parameter("answer")) {
            (Role::Callee, "handler") => {
                let end = WebSocketInline::waiting(half, attaching, WaitKind::Epoll)?;
                Self::Handler(Box::new(end))
            }
            _ => Self::Application(Application::new(half, attaching)?),
        })
    }
}

impl Channel for WebSocketThreaded {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        match self {
            Self::Application(end) => {
                // Given back before the I/O thread can be reading the next one: a buffer that is
                // still shared would have to be replaced, and by one too small for a frame.
                end.message = Bytes::new();
                Ok(end.out.slot())
            }
            Self::Handler(end) => end.slot::<W>(len),
        }
    }

    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        match self {
            Self::Application(end) => end.send(),
            Self::Handler(end) => end.send::<W>(len),
        }
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Application(end) => end.receive(),
            Self::Handler(end) => end.recv::<W>(),
        }
    }
}
