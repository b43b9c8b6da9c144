//! The few requests of rtnetlink(7) that a veth pair needs.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::sys;

// include/uapi/linux/veth.h, if_link.h
const VETH_INFO_PEER: u16 = 1;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;

/// A message under construction; its length is filled in at the end.
struct Message(Vec<u8>);

impl Message {
    fn new(kind: u16, flags: libc::c_int) -> Self {
        let mut message = Message(Vec::with_capacity(256));
        message.put(&0u32.to_ne_bytes());
        message.put(&kind.to_ne_bytes());
        message.put(&((flags | libc::NLM_F_REQUEST) as u16).to_ne_bytes());
        // Sequence and port: one request at a time needs neither.
        message.put(&[0; 8]);
        message
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// `struct ifinfomsg`.
    fn put_interface(&mut self, index: u32, flags: u32, change: u32) {
        self.put(&[libc::AF_UNSPEC as u8, 0, 0, 0]);
        for word in [index, flags, change] {
            self.put(&word.to_ne_bytes());
        }
    }

    /// An attribute (`struct rtattr`) that holds what `inside` puts.
    fn attribute(&mut self, kind: u16, inside: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.put(&[0; 2]);
        self.put(&kind.to_ne_bytes());
        inside(self);
        let len = (self.0.len() - start) as u16;
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn name(&mut self, kind: u16, name: &str) {
        self.attribute(kind, |message| {
            message.put(name.as_bytes());
            message.put(&[0]);
        });
    }

    fn finished(mut self) -> Vec<u8> {
        let len = self.0.len() as u32;
        self.0[..4].copy_from_slice(&len.to_ne_bytes());
        self.0
    }
}

/// A socket to the namespace that the calling thread was in when it opened it.
pub struct Netlink(OwnedFd);

impl Netlink {
    pub fn open() -> io::Result<Self> {
        // SAFETY: the new descriptor is owned at once.
        let fd = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
            let fd = sys::check(libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE));
            OwnedFd::from_raw_fd(fd.map_err(|e| sys::context(e, "opening a netlink socket"))?)
        };
        Ok(Netlink(fd))
    }

    /// A veth pair: one end here, the other in the namespace of that descriptor.
    pub fn add_veth(&mut self, here: &str, there: &str, namespace: RawFd) -> io::Result<()> {
        let flags = libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWLINK, flags);
        message.put_interface(0, 0, 0);
        message.name(libc::IFLA_IFNAME, here);
        message.attribute(libc::IFLA_LINKINFO, |message| {
            message.attribute(IFLA_INFO_KIND, |message| message.put(b"veth"));
            message.attribute(IFLA_INFO_DATA, |message| {
                message.attribute(VETH_INFO_PEER, |message| {
                    message.put_interface(0, 0, 0);
                    message.name(libc::IFLA_IFNAME, there);
                    message.attribute(libc::IFLA_NET_NS_FD, |message| {
                        message.put(&namespace.to_ne_bytes());
                    });
                });
            });
        });
        self.ask(message).map(drop)
    }

    /// Switches a device on.
    pub fn set_up(&mut self, device: &str) -> io::Result<()> {
        let up = libc::IFF_UP as u32;
        let mut message = Message::new(libc::RTM_NEWLINK, libc::NLM_F_ACK);
        message.put_interface(index_of(device)?, up, up);
        self.ask(message).map(drop)
    }

    /// Gives a device an address in a network of this many bits.
    pub fn add_address(&mut self, device: &str, address: Ipv4Addr, prefix: u8) -> io::Result<()> {
        let flags = libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
        let mut message = Message::new(libc::RTM_NEWADDR, flags);
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        message.put(&[libc::AF_INET as u8, prefix, 0, libc::RT_SCOPE_UNIVERSE]);
        message.put(&index_of(device)?.to_ne_bytes());
        message.attribute(libc::IFA_LOCAL, |message| message.put(&address.octets()));
        message.attribute(libc::IFA_ADDRESS, |message| message.put(&address.octets()));
        self.ask(message).map(drop)
    }

    /// Whether a device is on and has carrier.
    pub fn is_running(&mut self, device: &str) -> io::Result<bool> {
        let mut message = Message::new(libc::RTM_GETLINK, 0);
        message.put_interface(index_of(device)?, 0, 0);
        let answer = self.ask(message)?;
        // The flags of the ifinfomsg.
        let flags = answer.get(HEADER + 8..HEADER + 12).and_then(|bytes| bytes.try_into().ok());
        let flags = u32::from_ne_bytes(flags.ok_or_else(short)?);
        Ok(flags & libc::IFF_LOWER_UP as u32 != 0 && flags & libc::IFF_RUNNING as u32 != 0)
    }

    /// Sends a request and returns the answer, or the error in it.
    fn ask(&mut self, message: Message) -> io::Result<Vec<u8>> {
        let request = message.finished();
        let mut answer = vec![0; 32 * 1024];
        // SAFETY: both buffers are valid for their lengths.
        let len = unsafe {
            let fd = self.0.as_raw_fd();
            sys::check(libc::send(fd, request.as_ptr().cast(), request.len(), 0))?;
            sys::check(libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), 0))?
        };
        answer.truncate(len as usize);
        match error_in(&answer)? {
            0 => Ok(answer),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

/// The error number that an answer carries; 0 if it is none or a success.
fn error_in(answer: &[u8]) -> io::Result<i32> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
    if libc::c_int::from(u16::from_ne_bytes(kind)) != libc::NLMSG_ERROR {
        return Ok(0);
    }
    let error = answer.get(HEADER..HEADER + 4).and_then(|bytes| bytes.try_into().ok());
    Ok(i32::from_ne_bytes(error.ok_or_else(short)?).saturating_neg())
}

fn short() -> io::Error {
    sys::failure("the kernel's answer over netlink is too short")
}

/// The number of a device in the namespace of the calling thread.
fn index_of(device: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(device).map_err(|_| sys::failure("a NUL in a name"))?;
    // SAFETY: the name is NUL-terminated and outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_taken_from_answers_and_short_answers_are_refused() {
        let mut answer = Message::new(libc::NLMSG_ERROR as u16, 0);
        answer.put(&(-libc::EPERM).to_ne_bytes());
        let answer = answer.finished();
        assert_eq!(error_in(&answer).unwrap(), libc::EPERM);
        assert!(error_in(&answer[..18]).is_err());
        assert!(error_in(&[]).is_err());
        assert_eq!(error_in(&Message::new(16, 0).finished()).unwrap(), 0);
    }
}
