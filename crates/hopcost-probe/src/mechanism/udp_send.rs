//! `udp-send`: send a datagram that nobody reads: what the sender pays for a
//! message, without a wake-up and without a receiver.
//!
//! The socket is connected to another one on the loopback interface that is never
//! read and whose receive buffer is full before the first operation. Every datagram
//! goes the whole way through the network stack, in the sender's context, and the
//! kernel drops it at the full buffer. Sent to a port that nobody has bound, every
//! other send would fail instead (ECONNREFUSED).

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use crate::party;
use crate::shape::{Attaching, Call};
use crate::sys;
use crate::worker::lines::give_up;

/// Datagrams sent beforehand: far more than fit a receive buffer of the least size.
const FILL: usize = 256;

pub struct UdpSend {
    socket: UdpSocket,
    /// Never read; open, so that its port is bound.
    #[cfg_attr(not(test), expect(dead_code))]
    receiver: UdpSocket,
    message: Vec<u8>,
}

impl UdpSend {
    fn of(payload: usize) -> io::Result<Self> {
        let bind = || {
            UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
                .map_err(|e| sys::context(e, "binding a UDP socket to 127.0.0.1"))
        };
        let (socket, receiver) = (bind()?, bind()?);
        socket.connect(receiver.local_addr()?)?;
        receiver.connect(socket.local_addr()?)?;
        // The kernel raises this to its least.
        sys::set_option(&receiver, libc::SOL_SOCKET, libc::SO_RCVBUF, 1, "SO_RCVBUF")?;
        let mut message = vec![0; payload];
        party::fill(&mut message, 1);
        for _ in 0..FILL {
            socket.send(&message).map_err(|e| sys::context(e, "sending a datagram"))?;
        }
        Ok(UdpSend { socket, receiver, message })
    }
}

#[cold]
fn failed() -> ! {
    give_up(&format!("sending a datagram: {}", io::Error::last_os_error()))
}

impl Call for UdpSend {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        Self::of(attaching.payload())
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                self.message.as_ptr().cast(),
                self.message.len(),
                libc::MSG_NOSIGNAL,
            )
        };
        if sent < 0 {
            failed();
        }
        x.wrapping_add(sent as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_sent_whole_and_dropped_at_the_full_buffer() {
        for payload in [0, 1, 64, 65_507] {
            let mut send = UdpSend::of(payload).unwrap();
            let got = (0..100).fold(0, |x, _| send.call(x));
            assert_eq!(got, 100 * payload as u64);
            // What is in the buffer came before, and of the hundred nothing did.
            send.receiver.set_nonblocking(true).unwrap();
            let mut buffer = vec![0; 65_507];
            let mut queued = 0;
            while let Ok(len) = send.receiver.recv(&mut buffer) {
                assert_eq!(len, payload);
                assert!(party::verify(&buffer[..len], 1));
                queued += 1;
                assert!(queued < FILL, "the buffer was not full");
            }
            assert!(queued > 0 || payload > 4096, "nothing arrives: {payload}");
        }
    }
}
