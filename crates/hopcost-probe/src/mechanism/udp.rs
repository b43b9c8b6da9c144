//! `udp`: two UDP sockets on the loopback interface, connected to each other.
//!
//! One send is one datagram and one recv takes it whole. Being connected, the
//! sockets skip the route look-up of sendto(2), and each drops what comes from
//! anybody else. Strict round trips have at most one datagram in flight, so
//! nothing can be reordered and the receive buffer cannot overflow. A datagram
//! may still be lost: then the caller's receive times out, the exchange is counted
//! as lost and is no sample, and the caller sends again.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;

use hopcost_model::case::Boundary;

use crate::namespace;
use crate::shape::{Link, Opening};
use crate::sys;

fn connected() -> io::Result<[UdpSocket; 2]> {
    let bind = || {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|e| sys::context(e, "binding a UDP socket to 127.0.0.1"))
    };
    join([bind()?, bind()?])
}

/// Connects two sockets to each other.
fn join([caller, callee]: [UdpSocket; 2]) -> io::Result<[UdpSocket; 2]> {
    caller.connect(callee.local_addr()?)?;
    callee.connect(caller.local_addr()?)?;
    // Any process of this machine could have sent to them before they were connected.
    for end in [&caller, &callee] {
        end.set_nonblocking(true)?;
        while end.recv(&mut [0]).is_ok() {}
        end.set_nonblocking(false)?;
    }
    Ok([caller, callee])
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    let ends = match opening.case.boundary {
        Boundary::Namespace => namespace::udp_pair()?,
        Boundary::Inline | Boundary::Thread | Boundary::Process => connected()?,
        Boundary::Host => {
            return Err(sys::failure("a link between two hosts is opened from both"));
        }
    };
    Ok(Link::of_pair(ends.map(OwnedFd::from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_sent_before_the_sockets_were_connected_is_no_message() {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (ends, stranger) = ([bind(), bind()], bind());
        for end in &ends {
            for bytes in [&b""[..], b"xyz", &[0; 3000]] {
                stranger.send_to(bytes, end.local_addr().unwrap()).unwrap();
            }
        }
        let [caller, callee] = join(ends).unwrap();
        for (from, to) in [(&caller, &callee), (&callee, &caller)] {
            from.send(b"message").unwrap();
            let mut got = [0; 16];
            let len = to.recv(&mut got).unwrap();
            assert_eq!(&got[..len], b"message");
        }
    }
}
