//! `tcp-connect`, `unix-connect`, `seqpacket-connect`: a connection for each round trip.
//!
//! The caller makes a socket, connects, sends its message, receives the reply and closes. The callee
//! accepts, receives, answers, reads until the end of the stream and closes: the caller closes first,
//! so that TIME_WAIT is at its end, as where a client closes. It keeps the caller's port for a minute.
//! A trial connects to a port of its own, so that the ports of other trials do not count, and stops
//! before it has used up what the kernel hands out first: those with the parity of the first port of
//! net.ipv4.ip_local_port_range. The others stay free for programs that bind a port.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use hopcost_model::{Case, Role};
use rustix::net::addr::SocketAddrArg;
use rustix::net::{self, AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType};

use crate::memory::Buffer;
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::stream::sockets::{receive_all, send_all};
use crate::sys::{self, Doing, ensure};
use crate::transport::tcp::{listen, loopback_available};
use crate::transport::{peer_closed, tcp_socket};
use crate::wait::{Block, Wait};

/// Which kernel sends data with the SYN, and which accepts it (ip-sysctl.rst).
const FAST_OPEN: &str = "/proc/sys/net/ipv4/tcp_fastopen";
/// Connections of which one is looked at whether its data left with the SYN.
const LOOK_EACH: u64 = 1024;
/// Connections that may wait to be accepted, data included.
const BACKLOG: i32 = 128;

/// Listens at a port of loopback.
pub fn open_tcp(opening: &Opening<'_>) -> io::Result<Link> {
    let listener = listen()?;
    if is_fast_open(opening.case) {
        sys::set_option(&listener, libc::IPPROTO_TCP, libc::TCP_FASTOPEN, BACKLOG, "TCP_FASTOPEN")?;
    }
    Ok(link(listener.local_addr()?.to_string(), listener.into()))
}

fn kind(case: &Case) -> SocketType {
    match case.mechanism_name() {
        "seqpacket-connect" => SocketType::SEQPACKET,
        _ => SocketType::STREAM,
    }
}

/// Listens at a path, which goes with the run.
pub fn open_unix(opening: &Opening<'_>) -> io::Result<Link> {
    let (path, kind) = (opening.fresh_path("connect"), kind(opening.case));
    let listen = || {
        let listener = net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
        net::bind(&listener, &SocketAddrUnix::new(&*path)?)?;
        net::listen(&listener, BACKLOG).map(|()| listener)
    };
    let listener = listen().doing(format_args!("binding a socket to {}", path.display()))?;
    Ok(link(path.display().to_string(), listener))
}

fn link(address: String, listener: OwnedFd) -> Link {
    let caller = Half { names: vec![address.clone()], ..Half::default() };
    Link { caller, callee: Half { names: vec![address], ..Half::of_fds([listener]) } }
}

fn is_fast_open(case: &Case) -> bool {
    case.parameter("fast-open") == Some("on")
}

/// Whether a case can be had here, or why not.
pub fn available_as(case: &Case) -> Result<(), String> {
    loopback_available()?;
    let allowed = std::fs::read_to_string(FAST_OPEN).unwrap_or_default();
    let allowed = allowed.trim();
    // A bit for the end that connects, and one for the end that listens.
    let works = allowed.parse::<u32>().is_ok_and(|bits| bits & 3 == 3);
    match works || !is_fast_open(case) {
        true => Ok(()),
        false => Err(format!(
            "fast-open=on needs net.ipv4.tcp_fastopen=3, and it is {allowed}: sysctl net.ipv4.tcp_fastopen=3"
        )),
    }
}

/// An end of connections, of which there is one at a time.
pub struct Connect {
    side: Side,
    /// The connection of the exchange under way.
    socket: Option<OwnedFd>,
    out: Buffer,
    input: Buffer,
}

/// How an end gets and ends a connection.
pub enum Side {
    Caller(Caller),
    /// The one that accepts, by its listener.
    Callee(OwnedFd),
}

/// What connects.
pub struct Caller {
    address: SocketAddrAny,
    kind: libc::c_int,
    resets: bool,
    fast_open: bool,
    made: u64,
    most: u64,
}

impl Caller {
    /// A connection with the message sent; with it in the first segment for `fast_open`.
    #[inline(always)]
    pub fn connect(&mut self, message: &[u8]) -> io::Result<OwnedFd> {
        if self.made == self.most {
            return Err(out_of_ports(self.made));
        }
        self.made += 1;
        let (at, len) = (self.address.as_ptr().cast(), self.address.addr_len());
        let (family, bytes) =
            (self.address.address_family().as_raw().into(), message.as_ptr().cast());
        // SAFETY: the address and the message are valid for their lengths; the new descriptor is
        // owned at once.
        let (socket, result) = unsafe {
            let socket = sys::check(libc::socket(family, self.kind | libc::SOCK_CLOEXEC, 0))?;
            let result = match self.fast_open {
                true => {
                    let flags = libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL;
                    libc::sendto(socket, bytes, message.len(), flags, at, len)
                }
                false => libc::connect(socket, at, len) as isize,
            };
            (OwnedFd::from_raw_fd(socket), result)
        };
        let sent = sys::check(result).map_err(refused)? as usize;
        send_all(&socket, message.get(sent..).unwrap_or_default(), 0)?;
        Ok(socket)
    }

    /// Ends a connection.
    #[inline(always)]
    pub fn close(&self, socket: OwnedFd) -> io::Result<()> {
        // The first connections fetch the cookie.
        let looks = self.fast_open && self.made % LOOK_EACH == 3;
        let is_fast = !looks || tcp_socket::had_data_in_syn(&socket);
        ensure!(is_fast, "TCP sent no data with the SYN: Fast Open was turned off");
        if self.resets { reset(&socket) } else { Ok(()) }
    }
}

/// Waits until the caller has closed the connection that there was, and closes it.
pub fn finished(socket: Option<OwnedFd>) -> io::Result<()> {
    let Some(socket) = socket else { return Ok(()) };
    match sys::read(&socket, &mut [0], sys::Look::AsOpened) {
        Ok(0) => Ok(()),
        Ok(_) => Err(sys::failure("more came than a message")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(error),
    }
}

/// The error of a caller to whom nobody listens.
#[cold]
fn refused(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ENOENT) => peer_closed(),
        _ => error,
    }
}

/// The next connection.
#[inline(always)]
pub fn accept(listener: &OwnedFd) -> io::Result<OwnedFd> {
    let (listener, none) = (listener.as_raw_fd(), std::ptr::null_mut());
    // SAFETY: no address is asked for; the new descriptor is owned at once.
    unsafe {
        let socket = libc::accept4(listener, none, std::ptr::null_mut(), libc::SOCK_CLOEXEC);
        sys::check(socket).map(|socket| OwnedFd::from_raw_fd(socket))
    }
}

/// Has close(2) discard a connection.
#[inline(always)]
fn reset(socket: &OwnedFd) -> io::Result<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: the option is valid for reading, and its size is its own.
    let result = unsafe {
        let (at, len) = ((&raw const linger).cast(), size_of::<libc::linger>() as libc::socklen_t);
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, at, len)
    };
    sys::check(result).map(drop)
}

/// Half of the ports that connections are made from.
fn ports() -> io::Result<u64> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range")?;
    let ends: Vec<u64> = range.split_whitespace().filter_map(|end| end.parse().ok()).collect();
    match ends[..] {
        [first, last] => Ok(last.saturating_sub(first) / 2),
        _ => Err(sys::failure("net.ipv4.ip_local_port_range has no two numbers")),
    }
}

#[cold]
fn out_of_ports(made: u64) -> io::Error {
    sys::failure(format!(
        "{made} connections of this trial keep their ports in TIME_WAIT, half of \
         net.ipv4.ip_local_port_range: want close=reset, or a shorter --measure"
    ))
}

impl Side {
    /// Takes an end of a link.
    pub fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let name = half.names.pop().ok_or_else(|| sys::failure("the link has no address"))?;
        if attaching.role == Role::Callee {
            let [listener] = half.take_fds()?;
            return Ok(Side::Callee(listener));
        }
        let inet = name.parse::<SocketAddr>().ok();
        let resets = attaching.parameter("close") == "reset";
        Ok(Side::Caller(Caller {
            address: match inet {
                Some(address) => address.as_any(),
                None => SocketAddrUnix::new(&*name)?.as_any(),
            },
            kind: kind(attaching.case).as_raw().cast_signed(),
            resets,
            fast_open: is_fast_open(attaching.case),
            made: 0,
            most: match inet {
                Some(_) if !resets => ports()?,
                _ => u64::MAX,
            },
        }))
    }
}

impl End for Connect {
    type Waits = (Block,);
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let payload = attaching.payload();
        let (out, input) = (Buffer::new(payload), Buffer::new(payload));
        Ok(Self { side: Side::attach(half, attaching)?, socket: None, out, input })
    }
}

impl Channel for Connect {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, _: usize) -> io::Result<&mut [u8]> {
        Ok(&mut self.out)
    }
    #[inline(always)]
    fn send<W: Wait>(&mut self, _: usize) -> io::Result<()> {
        match (&mut self.side, &self.socket) {
            (Side::Caller(caller), _) => self.socket = Some(caller.connect(&self.out)?),
            (Side::Callee(_), Some(socket)) => send_all(socket, &self.out, 0)?,
            (Side::Callee(_), None) => return Err(peer_closed()),
        }
        Ok(())
    }
    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        match &self.side {
            Side::Caller(caller) => {
                let socket = self.socket.take().ok_or_else(peer_closed)?;
                receive_all(&socket, &mut self.input)?;
                caller.close(socket)?;
            }
            Side::Callee(listener) => {
                finished(self.socket.take())?;
                let socket = accept(listener)?;
                receive_all(&socket, &mut self.input)?;
                self.socket = Some(socket);
            }
        }
        Ok(&self.input)
    }
}
