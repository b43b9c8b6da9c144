//! `vm-readv`: a message that the receiver copies out of the sender's memory with
//! one `process_vm_readv`.
//!
//! The ends exchange the fields' addresses once, when they attach. From then on the
//! sender announces a message with 8 bytes over a Unix socket, the receiver copies
//! all fields at once, and its acknowledgement, over the same socket, lets the
//! sender write them again. So there is a set of fields for each message of the
//! window, and it cannot do without acknowledgements. No buffer of the kernel is
//! involved; what limits the use of it is the right to read another process's
//! memory, which the sender gives with PR_SET_PTRACER where Yama asks for it.

use std::io;
use std::os::fd::OwnedFd;

use hopcost_model::Case;

use crate::memory::Buffer;
use crate::shape::{Attaching, Half};
use crate::stream::fields::{self, Fields, InTurn, unacknowledged};
use crate::stream::sockets::{Outlet, receive_all, receive_number, send_all, send_number};
use crate::stream::{Sink, acknowledgements_fit, number_alone};
use crate::sys::{self, ensure};

/// Whether a process may read memory in this way here, or why not.
pub fn available() -> Result<(), String> {
    crate::clock::available()?;
    let (from, mut to) = ([7u8; 8], [0u8; 8]);
    let remote = [libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: 8 }];
    copy_from(std::process::id() as libc::pid_t, &remote, &mut to)
        .map_err(|error| error.to_string())
}

/// Whether a case can be had here, or why not.
pub fn available_as(case: &Case) -> Result<(), String> {
    number_alone(case)?;
    acknowledgements_fit(case)
}

/// Copies what the vectors name in another process's memory.
#[inline(always)]
fn copy_from(process: libc::pid_t, remote: &[libc::iovec], buffer: &mut [u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the local vector names the buffer; the remote ones are checked by the kernel.
    let result = unsafe {
        libc::process_vm_readv(process, &local, 1, remote.as_ptr(), remote.len() as _, 0)
    };
    match sys::check(result) {
        Ok(copied) if copied as usize == buffer.len() => Ok(()),
        other => Err(not_copied(other, buffer.len())),
    }
}

#[cold]
fn not_copied(result: io::Result<isize>, wanted: usize) -> io::Error {
    match result {
        Ok(copied) => sys::failure(format!("process_vm_readv copied {copied} of {wanted} bytes")),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => crate::transport::peer_closed(),
        Err(error) => sys::context(
            error,
            "process_vm_readv (may this process read the other's memory? see \
             kernel.yama.ptrace_scope)",
        ),
    }
}

/// The sender's announcements.
pub struct Announced {
    sent: u64,
}

pub struct VmSink {
    socket: OwnedFd,
    /// The sender.
    process: libc::pid_t,
    /// Where each set's fields are in the sender's memory.
    sets: InTurn<Vec<libc::iovec>>,
    received: u64,
    buffer: Buffer,
}

impl Outlet for Announced {
    /// The sender lets the receiver read its memory and tells it where to.
    fn new(socket: &OwnedFd, attaching: &Attaching<'_>) -> io::Result<(Self, InTurn<Fields>)> {
        let sets = Fields::sets(unacknowledged(attaching)?, attaching);
        let reader = receive_number(socket)?;
        // Fails where there is no Yama, and then nobody needs it.
        // SAFETY: prctl with integer arguments.
        unsafe { libc::prctl(libc::PR_SET_PTRACER, reader as libc::c_ulong, 0, 0, 0) };
        let mut numbers = vec![u64::from(std::process::id())];
        for set in sets.all() {
            numbers.extend(
                set.vectors().iter().map(|vector| vector.iov_base.expose_provenance() as u64),
            );
        }
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        send_all(socket, &bytes, 0)?;
        Ok((Self { sent: 0 }, sets))
    }
    #[inline(always)]
    fn send(&mut self, socket: &OwnedFd, _: usize, _: &Fields) -> io::Result<()> {
        send_number(socket, self.sent)?;
        self.sent += 1;
        Ok(())
    }
}

impl Sink for VmSink {
    /// The receiver says who it is, learns where the fields are, and tries.
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [socket] = half.take_fds()?;
        let (sets, count) = (unacknowledged(attaching)?, fields::count(attaching));
        send_number(&socket, u64::from(std::process::id()))?;
        let process = receive_number(&socket)? as libc::pid_t;
        let mut bytes = vec![0; 8 * sets * count];
        receive_all(&socket, &mut bytes)?;
        let iov_len = attaching.payload() / count;
        let field = |address: &[u8; 8]| libc::iovec {
            iov_base: std::ptr::without_provenance_mut(u64::from_le_bytes(*address) as usize),
            iov_len,
        };
        let addresses = bytes.as_chunks().0;
        let sets = InTurn::new(sets, |set| {
            addresses[set * count..][..count].iter().map(field).collect::<Vec<_>>()
        });
        let mut buffer = Buffer::new(attaching.payload());
        copy_from(process, sets.current(), &mut buffer)?;
        Ok(Self { socket, process, sets, received: 0, buffer })
    }
    #[inline(always)]
    fn receive(&mut self) -> io::Result<&[u8]> {
        let announced = receive_number(&self.socket)?;
        ensure!(announced == self.received, "a message was announced out of turn");
        copy_from(self.process, self.sets.current(), &mut self.buffer)?;
        self.sets.pass();
        self.received += 1;
        Ok(&self.buffer)
    }
    #[inline(always)]
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
        send_number(&self.socket, sequence)
    }
}
