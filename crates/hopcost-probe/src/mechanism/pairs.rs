//! Links that the kernel makes: how the ends of pipes, Unix sockets and UDP meet.
//!
//! A pipe has one direction, so a link has two. The writer copies into a page of the kernel, the reader
//! copies out of it. A blocking round trip is write, read, read, write: four system calls. Of a Unix
//! socket the writer copies into a socket buffer that is queued at the receiving socket.

use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;

use hopcost_model::{Boundary, Case};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::namespace;
use crate::shape::{Link, Opening};
use crate::sys::Doing;
use crate::transport::tcp::loopback;
use crate::transport::tcp_socket::prepare;

/// `pipe`: without a name.
pub fn open_pipes(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link::of_two_ways(pipe()?, pipe()?))
}

/// A pipe: read end, write end, both close-on-exec.
pub fn pipe() -> io::Result<[OwnedFd; 2]> {
    let (read, write) = io::pipe()?;
    Ok([read.into(), write.into()])
}

/// `fifo`: with a name. Once open, a FIFO is a pipe: the same pages, the same code in the kernel.
/// What differs is how the ends meet, and that is over before the first stamp.
pub fn open_fifos(opening: &Opening<'_>) -> io::Result<Link> {
    let one_way = || fifo(&opening.fresh_path("fifo"));
    Ok(Link::of_two_ways(one_way()?, one_way()?))
}

/// A FIFO with both ends open and its name gone: read end, write end.
fn fifo(path: &Path) -> io::Result<[OwnedFd; 2]> {
    rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)
        .doing(format_args!("making the FIFO {}", path.display()))?;
    let open = |flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    // The reading end without waiting for a writer (O_NONBLOCK allows that for this end only), then
    // the writing end, which finds its reader. Opened O_RDWR, an end would hold the other side open
    // too and never see end-of-file.
    let read = open(OFlags::RDONLY | OFlags::NONBLOCK);
    let opened = read.and_then(|read| Ok([read, open(OFlags::WRONLY)?]));
    let _ = std::fs::remove_file(path);
    let [read, write] = opened.doing("opening a FIFO")?;
    rustix::io::ioctl_fionbio(&read, false)?;
    Ok([read, write])
}

/// `socketpair` and `unix-sendmsg`: two connected stream sockets. No name, no handshake:
/// socketpair(2) gives both ends at once.
pub fn open_pair(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link::of_pair(<[_; 2]>::from(UnixStream::pair()?)))
}

/// `unix-stream`: a stream socket that was connected by path.
///
/// The caller connects, the callee's end is accepted, and the path is removed
/// before anything is timed. From there on it is the same code in the kernel as
/// `socketpair`: any difference between the two is noise.
pub fn open_by_path(opening: &Opening<'_>) -> io::Result<Link> {
    let path = opening.fresh_path("stream");
    let listener =
        UnixListener::bind(&path).doing(format_args!("binding a socket to {}", path.display()))?;
    // The connection is complete before it is accepted, so one thread can do both.
    let joined = UnixStream::connect(&path).and_then(|caller| Ok((caller, listener.accept()?.0)));
    let removed = std::fs::remove_file(&path);
    let ends = joined?;
    removed?;
    Ok(Link::of_pair(<[_; 2]>::from(ends)))
}

/// `unix-dgram`: two connected datagram sockets, without names, from socketpair(2).
///
/// One send is one datagram, received whole by one recv. Unlike UDP nothing is
/// lost or reordered: a full receive queue makes the sender wait.
pub fn open_datagrams(_: &Opening<'_>) -> io::Result<Link> {
    Ok(Link::of_pair(<[_; 2]>::from(UnixDatagram::pair()?)))
}

/// `unix-seqpacket`: two connected sockets that keep message borders.
///
/// Like a stream socket such a one has a connection and an end-of-file, like a datagram
/// socket it delivers each message whole. socketpair(2) gives both ends at once.
pub fn open_seqpackets(_: &Opening<'_>) -> io::Result<Link> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    Ok(Link::of_pair(<[_; 2]>::from(socketpair(family, kind, SocketFlags::CLOEXEC, None)?)))
}

/// A UDP socket that is bound to loopback.
pub fn bound_udp() -> io::Result<UdpSocket> {
    UdpSocket::bind((loopback(), 0)).doing("binding a UDP socket to loopback")
}

/// Connects two sockets to each other.
fn join([caller, callee]: [UdpSocket; 2], case: &Case) -> io::Result<[UdpSocket; 2]> {
    let (caller, callee) = (prepare(caller, case)?, prepare(callee, case)?);
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

/// `udp`: two UDP sockets on the loopback interface, connected to each other.
///
/// One send is one datagram and one recv takes it whole. Being connected, the
/// sockets skip the route look-up of sendto(2), and each drops what comes from
/// anybody else. Strict round trips have at most one datagram in flight, so
/// nothing can be reordered and the receive buffer cannot overflow. A datagram
/// may still be lost: then the caller's receive times out, the exchange is counted
/// as lost and is no sample, and the caller sends again.
pub fn open_udp(opening: &Opening<'_>) -> io::Result<Link> {
    let (case, bind) = (opening.case, |address| UdpSocket::bind((address, 0)));
    let ends = match case.boundary {
        Boundary::Namespace => {
            namespace::pair(bind, |callee| join([bind(namespace::CALLER)?, callee], case))?
        }
        _ => join([bound_udp()?, bound_udp()?], case)?,
    };
    Ok(Link::of_pair(ends))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hopcost_model::Workload;

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
        let [caller, callee] = join(ends, &Case::new(Workload::Roundtrip, "udp")).unwrap();
        for (from, to) in [(&caller, &callee), (&callee, &caller)] {
            from.send(b"message").unwrap();
            let mut got = [0; 16];
            let len = to.recv(&mut got).unwrap();
            assert_eq!(&got[..len], b"message");
        }
    }
}
