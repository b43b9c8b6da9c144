//! TCP connections over loopback or between two network namespaces: what every mechanism
//! over TCP begins with.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hopcost_model::case::{Boundary, Case, Role, Workload};

use crate::clock;
use crate::interrupt;
use crate::namespace::{self, PATIENCE};
use crate::shape::{Half, Link, Opening};
use crate::sys;
use crate::transport::tcp_socket::prepare;

/// How long one over loopback may take to find out whether there are any.
const AVAILABLE_WITHIN: Duration = Duration::from_millis(200);

/// Whether sockets can be bound to loopback and reach each other, found out by connecting two
/// the first time, or why not.
pub fn loopback_available() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    clock::available()?;
    KNOWN.get_or_init(connects).clone()
}

/// The address of loopback: 127.0.0.1, or ::1 where there is no other.
pub fn loopback() -> IpAddr {
    match UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(_) => Ipv4Addr::LOCALHOST.into(),
        Err(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Listens there.
pub fn listen() -> io::Result<TcpListener> {
    TcpListener::bind((loopback(), 0)).map_err(|e| sys::context(e, "listening on loopback"))
}

fn connects() -> Result<(), String> {
    let listener = listen().map_err(|e| e.to_string())?;
    // Where the interface is down, binding works and connecting does not.
    let connect = |to| TcpStream::connect_timeout(&to, AVAILABLE_WITHIN);
    listener.local_addr().and_then(connect).map(drop).map_err(|e| match e.kind() {
        io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::TimedOut => {
            format!(
                "loopback carries nothing ({e}): is it down (`ip link set lo up`), or filtered?"
            )
        }
        _ => format!("no socket can connect to loopback: {e}"),
    })
}

/// Two ends of one connection, both with this TCP_NODELAY: caller, callee.
pub fn connected(case: &Case, nodelay: bool) -> io::Result<[TcpStream; 2]> {
    let listener = prepare(listen()?, case)?;
    let until = Instant::now() + PATIENCE;
    let caller =
        interrupt::connect(listener.local_addr()?, until, |socket| prepare(socket, case).map(drop))
            .map_err(|e| sys::context(e, "connecting to loopback"))?;
    // Any process of this machine could have connected first.
    let callee = loop {
        let (stream, from) = interrupt::accept(&listener, until)?;
        if from == caller.local_addr()? {
            break stream;
        }
    };
    with_nodelay([caller, callee], nodelay)
}

fn with_nodelay(ends: [TcpStream; 2], nodelay: bool) -> io::Result<[TcpStream; 2]> {
    for end in &ends {
        set_nodelay(end, nodelay)?;
    }
    Ok(ends)
}

fn set_nodelay(end: &TcpStream, nodelay: bool) -> io::Result<()> {
    sys::set_option(end, libc::IPPROTO_TCP, libc::TCP_NODELAY, nodelay.into(), "TCP_NODELAY")
}

/// The link of a connection across the case's boundary, with the case's TCP_NODELAY at both
/// ends, or with it where the case does not say.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    Ok(Link::of_pair(across_boundary(opening, true)?.map(OwnedFd::from)))
}

/// The same for a stream, where the case's TCP_NODELAY is the sender's, and off where the case
/// does not say: what Nagle's algorithm does to a message of several fields is part of what is
/// looked at. The receiver always sets it, because it sends nothing but acknowledgements, and
/// one that is held back until the sender's kernel acknowledges the one before (40 ms later,
/// if the sender is waiting) is no part of how a message is sent.
pub fn open_stream(opening: &Opening<'_>) -> io::Result<Link> {
    let [sender, receiver] = across_boundary(opening, false)?;
    set_nodelay(&receiver, true)?;
    Ok(Link::of_pair([sender, receiver].map(OwnedFd::from)))
}

fn across_boundary(opening: &Opening<'_>, nodelay: bool) -> io::Result<[TcpStream; 2]> {
    let nodelay = nodelay_of(opening.case, nodelay);
    match opening.case.boundary {
        Boundary::Namespace => with_nodelay(namespace::tcp_pair(opening.case)?, nodelay),
        _ => connected(opening.case, nodelay),
    }
}

/// This host's half of a connection with another host, with the same TCP_NODELAY as where both
/// ends are opened here.
pub fn half_of(end: TcpStream, case: &Case, role: Role) -> io::Result<Half> {
    let is_stream = case.workload == Workload::Stream;
    let nodelay = (is_stream && role == Role::Callee) || nodelay_of(case, !is_stream);
    set_nodelay(&end, nodelay)?;
    Ok(Half::of_fds([end.into()]))
}

/// What a case says of TCP_NODELAY, or `unsaid`.
fn nodelay_of(case: &Case, unsaid: bool) -> bool {
    case.parameter("nodelay").map_or(unsaid, |said| said == "on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receiver_of_a_stream_has_nodelay_whatever_the_sender_has() {
        for (nodelay, sender) in [("on", true), ("off", false)] {
            let case = format!(
                "stream/tcp-sendmsg?payload=8&fields=1&flows=1&ack=none&boundary=thread\
                 &place=free&wait=block&nodelay={nodelay}"
            );
            let opening = Opening { case: &case.parse().unwrap(), scratch: "/nowhere".as_ref() };
            let link = open_stream(&opening).unwrap();
            for (half, nodelay) in [(link.caller, sender), (link.callee, true)] {
                let [socket] = half.take_fds().unwrap();
                assert_eq!(TcpStream::from(socket).nodelay().unwrap(), nodelay);
            }
        }
    }
}
