//! What a case asks of the sockets of its ends, and what the kernel says of their connections
//! (TCP_INFO, tcp(7)).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use hopcost_model::{AXES, Case, Of, TcpReading};
use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::shape::Half;
use crate::sys::{self, Doing, ensure};

/// The congestion controls that sockets can have, and those that they can without a right.
const LOADED: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const ALLOWED: &str = "net.ipv4.tcp_allowed_congestion_control";
/// What a socket may poll for (SO_BUSY_POLL, socket(7)).
const BUSY_POLL: &str = "whole microseconds, and over net.core.busy_read with CAP_NET_ADMIN alone";

/// Gives a socket that is not connected yet what a case asks of it. What a listener has, the
/// connections have that it accepts.
pub fn prepare<S: AsFd>(socket: S, case: &Case) -> io::Result<S> {
    let fd = socket.as_fd();
    let Case { congestion, sndbuf_bytes, rcvbuf_bytes, busy_poll_ns, .. } = case;
    if congestion != "system" {
        // Asking for one that is not loaded would load it, where this is root.
        let loaded = std::fs::read_to_string(LOADED)?;
        let is_loaded = loaded.split_whitespace().any(|name| name == congestion);
        let loaded = loaded.trim();
        ensure!(is_loaded, "congestion={congestion} is not loaded; {LOADED} has: {loaded}");
        sockopt::set_tcp_congestion(fd, congestion)
            .doing(format_args!("congestion={congestion} (root, or {ALLOWED})"))?;
    }
    // The kernel doubles a buffer that it is asked for, for its own overhead, and polls for
    // microseconds.
    for (key, option, asked, doubled, unit, limit) in [
        ("sndbuf", libc::SO_SNDBUF, *sndbuf_bytes, 2, 1, "the most is net.core.wmem_max"),
        ("rcvbuf", libc::SO_RCVBUF, *rcvbuf_bytes, 2, 1, "the most is net.core.rmem_max"),
        ("busy-poll", libc::SO_BUSY_POLL, *busy_poll_ns, 1, 1000, BUSY_POLL),
    ] {
        if asked == 0 {
            continue;
        }
        let value = (asked / unit).cast_signed();
        sys::set_option(&fd, libc::SOL_SOCKET, option, value, key)
            .map_err(|error| sys::failure(format!("{error}; {limit}")))?;
        let taken = sys::get_option(&fd, libc::SOL_SOCKET, option)? / doubled;
        let taken = taken.cast_unsigned() * unit;
        ensure!(taken == asked, "{key}={asked}: the kernel makes it {taken}; {limit}");
    }
    Ok(socket)
}

/// Whether sockets here take what a case asks of them, or why not.
pub fn takes(case: &Case) -> Result<(), String> {
    if AXES.iter().all(|axis| axis.of != Of::Declared || axis.spelled(case).is_none()) {
        return Ok(());
    }
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None);
    let prepared = socket.map_err(io::Error::from).and_then(|socket| prepare(socket, case));
    prepared.map(drop).map_err(|error| error.to_string())
}

/// The connections among the descriptors of an end, whose mechanism keeps them open as long as it
/// lives.
pub struct Connections {
    /// Each with the segments that it has sent so far and sent again; the kernel counts in 32 bits.
    all: Vec<(RawFd, [u32; 2])>,
}

impl Connections {
    /// Those of an end that has not been attached yet; `None` where it has none. From now on they end
    /// where nobody acknowledges anything for half of a trial's deadline: then TCP says why, and at the
    /// deadline nobody would.
    pub fn of(half: &Half, deadline_ms: u64) -> Option<Self> {
        let patience_ms = i32::try_from(deadline_ms / 2).unwrap_or(i32::MAX);
        let mut all = Vec::new();
        for fd in &half.fds {
            let Some(info) = Info::of(fd.as_raw_fd()) else { continue };
            let option = libc::TCP_USER_TIMEOUT;
            let _ = sys::set_option(fd, libc::IPPROTO_TCP, option, patience_ms, "TCP_USER_TIMEOUT");
            all.push((fd.as_raw_fd(), info.sent()));
        }
        (!all.is_empty()).then_some(Self { all })
    }

    /// The error of an end, with what TCP did until it gave up.
    pub fn explain(&mut self, error: io::Error) -> io::Error {
        let given_up = error.kind() == io::ErrorKind::TimedOut;
        let Some(tcp) = self.read().filter(|_| given_up) else { return error };
        let TcpReading { segments, retransmitted, path_mtu_bytes, .. } = tcp;
        let sent = format_args!(
            "TCP sent {segments} segments, {retransmitted} of them again, and nobody acknowledged the \
             last (path MTU {path_mtu_bytes} bytes)"
        );
        sys::context(error, sent)
    }

    /// What they are now, and what they have sent since this was last asked.
    pub fn read(&mut self) -> Option<TcpReading> {
        let first = self.all.first()?.0;
        let info = Info::of(first)?;
        let of = |option| sys::get_option(&first, libc::SOL_SOCKET, option);
        let buffer = |option| of(option).map_or(0, i32::cast_unsigned);
        // SAFETY: the mechanism keeps it open.
        let socket = unsafe { BorrowedFd::borrow_raw(first) };
        let mut reading = TcpReading {
            congestion: sockopt::tcp_congestion(socket).unwrap_or_default(),
            path_mtu_bytes: info.word(60),
            segment_bytes: info.word(16),
            sndbuf_bytes: buffer(libc::SO_SNDBUF),
            rcvbuf_bytes: buffer(libc::SO_RCVBUF),
            ..TcpReading::default()
        };
        for (fd, before) in &mut self.all {
            let Some(now) = Info::of(*fd).map(|info| info.sent()) else { continue };
            let since = |at: usize| u64::from(now[at].wrapping_sub(before[at]));
            reading.segments += since(0);
            reading.retransmitted += since(1);
            *before = now;
        }
        Some(reading)
    }
}

/// Whether the first segment of a connection had data, which the other end has acknowledged.
pub fn had_data_in_syn(socket: &OwnedFd) -> bool {
    Info::of(socket.as_raw_fd()).is_some_and(|info| info.0[OPTIONS] & SYN_DATA != 0)
}

/// The beginning of struct tcp_info (include/uapi/linux/tcp.h), up to tcpi_data_segs_out.
struct Info([u8; 160]);

impl Info {
    /// That of a connection; `None` of anything else.
    fn of(socket: RawFd) -> Option<Self> {
        let mut bytes = [0; 160];
        let mut len = bytes.len() as libc::socklen_t;
        // SAFETY: the bytes are valid for writing as far as their length says.
        let result = unsafe {
            let at = bytes.as_mut_ptr().cast();
            libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, at, &raw mut len)
        };
        // Of a socket that listens, other fields mean other things.
        let is_whole = result == 0 && len as usize == bytes.len() && bytes[0] != TCP_LISTEN;
        is_whole.then_some(Self(bytes))
    }
    /// The number at this offset.
    fn word(&self, at: usize) -> u32 {
        self.0[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }
    fn sent(&self) -> [u32; 2] {
        [self.word(156), self.word(100)]
    }
}

/// Where tcpi_options lies, and TCPI_OPT_SYN_DATA in it.
const OPTIONS: usize = 5;
const SYN_DATA: u8 = 32;
/// A state of a socket (include/net/tcp_states.h).
const TCP_LISTEN: u8 = 10;
