//! The error queue of a socket, where the kernel says which sends without a copy
//! are completed (Documentation/networking/msg_zerocopy.rst).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys;
use crate::sys::get_option;
use crate::transport::peer_closed;

/// Values of `ee_origin` and `ee_code` (linux/errqueue.h).
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;

/// Sends that are completed: an inclusive range of numbers, which may wrap around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub first: u32,
    pub last: u32,
    /// Whether the kernel copied after all.
    pub copied: bool,
}

/// Room for the control messages that come with a completion.
#[repr(C, align(8))]
struct Control([u8; 256]);

/// The next completion; `None` if there is none yet. Never waits.
pub fn next(socket: &OwnedFd) -> io::Result<Option<Completion>> {
    let mut control = Control([0; 256]);
    // SAFETY: all-zero is an empty message; the control buffer is valid for its length.
    let (result, message) = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        (libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_ERRQUEUE), message)
    };
    if result < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            _ => Err(sys::context(error, "reading the error queue")),
        };
    }
    let mut found = None;
    // SAFETY: the kernel filled the control buffer as cmsg(3) says, and the macros stay
    // within its length; the extended error is plain data and read unaligned.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(&message);
        while let Some(control) = header.as_ref() {
            let extended = matches!(
                (control.cmsg_level, control.cmsg_type),
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
            );
            if extended {
                let error: libc::sock_extended_err =
                    std::ptr::read_unaligned(libc::CMSG_DATA(header).cast());
                found = Some(interpret(&error)?);
            }
            header = libc::CMSG_NXTHDR(&message, header);
        }
    }
    found.map(Some).ok_or_else(|| sys::failure("a message in the error queue that says nothing"))
}

fn interpret(error: &libc::sock_extended_err) -> io::Result<Completion> {
    if error.ee_origin != ORIGIN_ZEROCOPY || error.ee_errno != 0 {
        return Err(sys::failure(format!(
            "the error queue holds error {} of origin {}, which is no completion",
            error.ee_errno, error.ee_origin
        )));
    }
    Ok(Completion {
        first: error.ee_info,
        last: error.ee_data,
        copied: error.ee_code & CODE_COPIED != 0,
    })
}

/// Looks in vain after which a socket that says it has news is given up.
const LOOKS_MAX: u32 = 1000;

/// Waits for a completion.
pub fn wait(socket: &OwnedFd) -> io::Result<Completion> {
    for _ in 0..LOOKS_MAX {
        if let Some(completion) = next(socket)? {
            return Ok(completion);
        }
        // Nothing is asked for: POLLERR and POLLHUP come unasked.
        let mut polled = libc::pollfd { fd: socket.as_raw_fd(), events: 0, revents: 0 };
        // SAFETY: one entry is passed as one entry.
        unsafe { libc::poll(&mut polled, 1, -1) };
        if let Some(completion) = next(socket)? {
            return Ok(completion);
        }
        if get_option(socket, libc::SOL_SOCKET, libc::SO_ERROR)? != 0
            || polled.revents & libc::POLLHUP != 0
        {
            return Err(peer_closed());
        }
    }
    Err(sys::failure("the error queue announces completions and has none"))
}
