//! TCP connections over loopback or between two network namespaces: what every mechanism
//! over TCP begins with.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use hopcost_model::{Boundary, Case, Role, Workload};

use crate::clock;
use crate::interrupt;
use crate::namespace::{self, PATIENCE};
use crate::shape::{Half, Link, Opening};
use crate::sys::{self, Doing};
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
    TcpListener::bind((loopback(), 0)).doing("listening on loopback")
}

fn connects() -> Result<(), String> {
    let listener = listen().map_err(|e| e.to_string())?;
    // Where the interface is down, binding works and connecting does not.
    let connect = |to| TcpStream::connect_timeout(&to, AVAILABLE_WITHIN);
    listener.local_addr().and_then(connect).map(drop).map_err(|e| {
        format!("loopback carries nothing ({e}): is it down (`ip link set lo up`), or filtered?")
    })
}

/// The two ends of a connection to this listener: caller, callee.
fn joined(listener: TcpListener, case: &Case) -> io::Result<[TcpStream; 2]> {
    let listener = prepare(listener, case)?;
    let until = Instant::now() + PATIENCE;
    let caller: TcpStream = interrupt::connect(&listener.local_addr()?, until, |socket| {
        prepare(socket, case).map(drop)
    })
    .doing("connecting two sockets")?;
    // Any process of this machine could have connected first.
    let callee = loop {
        let (stream, from) = interrupt::accept(&listener, until)?;
        if from == caller.local_addr()? {
            break stream;
        }
    };
    Ok([caller, callee])
}

/// The link of a connection across the case's boundary.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let case = opening.case;
    let listen_at = |address| TcpListener::bind((address, 0));
    let [caller, callee] = match case.boundary {
        Boundary::Namespace => namespace::pair(listen_at, |listener| joined(listener, case))?,
        _ => joined(listen()?, case)?,
    };
    let caller = half_of(caller, case, Role::Caller)?;
    Ok(Link { caller, callee: half_of(callee, case, Role::Callee)? })
}

/// An end's half of a connection, with the case's TCP_NODELAY, or with it where the case does not say.
///
/// In a stream the case's is the sender's, and off where the case does not say: what Nagle's
/// algorithm does to a message of several fields is part of what is looked at. The receiver always
/// sets it, because it sends nothing but acknowledgements, and one that is held back until the
/// sender's kernel acknowledges the one before (40 ms later, if the sender is waiting) is no part of
/// how a message is sent.
pub fn half_of(end: TcpStream, case: &Case, role: Role) -> io::Result<Half> {
    let is_stream = case.workload == Workload::Stream;
    let said = case.parameter("nodelay").map_or(!is_stream, |said| said == "on");
    let nodelay = said || (is_stream && role == Role::Callee);
    sys::set_option(&end, libc::IPPROTO_TCP, libc::TCP_NODELAY, nodelay.into(), "TCP_NODELAY")?;
    Ok(Half::of_fds([end.into()]))
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
            let link = open(&opening).unwrap();
            for (half, nodelay) in [(link.caller, sender), (link.callee, true)] {
                let [socket] = half.take_fds().unwrap();
                assert_eq!(TcpStream::from(socket).nodelay().unwrap(), nodelay);
            }
        }
    }
}
