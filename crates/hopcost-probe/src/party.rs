//! One end of an exchange, whatever the shape underneath: what the workloads
//! are written over. The payload is really written and really read, everywhere
//! in the same way.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::sync::atomic::{Ordering, fence};

use hopcost_model::case::Role;

use crate::memory::Shared;
use crate::shape::{Attaching, Channel, Half, Link, Notifier, Opening};
use crate::sys;
use crate::wait::Wait;

/// One end of an exchange of numbered messages.
pub trait Party {
    /// Sends message `sequence`.
    fn send(&mut self, sequence: u64) -> io::Result<()>;
    /// Receives message `sequence`, and no other.
    fn receive(&mut self, sequence: u64) -> io::Result<()>;
}

/// Writes message `sequence` into a buffer: every byte depends on the sequence
/// number and on its place.
#[inline(always)]
pub fn fill(buffer: &mut [u8], sequence: u64) {
    let mut word = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut chunks = buffer.chunks_exact_mut(8);
    for chunk in &mut chunks {
        chunk.copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(1);
    }
    let tail = chunks.into_remainder();
    let bytes = word.to_le_bytes();
    let len = tail.len();
    tail.copy_from_slice(&bytes[..len]);
}

/// Reads a buffer and says whether it holds message `sequence`, every byte.
#[inline(always)]
pub fn verify(buffer: &[u8], sequence: u64) -> bool {
    let mut word = sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut differing = 0;
    let mut chunks = buffer.chunks_exact(8);
    for chunk in &mut chunks {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(chunk);
        differing |= u64::from_le_bytes(bytes) ^ word;
        word = word.wrapping_add(1);
    }
    let tail = chunks.remainder();
    differing == 0 && tail == &word.to_le_bytes()[..tail.len()]
}

#[cold]
fn corrupted(sequence: u64, got: usize, want: usize) -> io::Error {
    sys::failure(if got == want {
        format!("message {sequence} did not arrive as it was sent")
    } else {
        format!("message {sequence} arrived with {got} bytes instead of {want}")
    })
}

/// A channel as a party.
pub struct OverChannel<M, W> {
    channel: M,
    payload: usize,
    wait: PhantomData<W>,
}

impl<M: Channel, W> OverChannel<M, W> {
    /// Attaches one end.
    pub fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let channel = M::attach(half, attaching)?;
        Ok(Self { channel, payload: attaching.payload(), wait: PhantomData })
    }
}

impl<M: Channel, W: Wait> Party for OverChannel<M, W> {
    #[inline(always)]
    fn send(&mut self, sequence: u64) -> io::Result<()> {
        fill(self.channel.slot::<W>(self.payload)?, sequence);
        self.channel.send::<W>(self.payload)
    }
    #[inline(always)]
    fn receive(&mut self, sequence: u64) -> io::Result<()> {
        let payload = self.payload;
        let message = self.channel.recv::<W>()?;
        if message.len() == payload && verify(message, sequence) {
            Ok(())
        } else {
            Err(corrupted(sequence, message.len(), payload))
        }
    }
}

/// A notifier with a shared buffer as a party: the one adapter that copies the
/// payload in before notifying and out after being notified. With no payload it
/// is the bare notification.
pub struct OverNotifier<M, W> {
    notifier: M,
    buffers: Option<Buffers>,
    local: Vec<u8>,
    wait: PhantomData<W>,
}

struct Buffers {
    memory: Shared,
    outgoing: usize,
    incoming: usize,
}

/// Distance of the two directions' buffers: whole pages.
fn stride(payload: usize) -> usize {
    payload.next_multiple_of(4096).max(4096)
}

impl<M: Notifier, W> OverNotifier<M, W> {
    /// Opens the notifier's link and, with a payload, puts the shared buffer's
    /// descriptor last in both halves.
    pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
        let mut link = M::open(opening)?;
        if opening.payload() > 0 {
            let fd = Shared::create(2 * stride(opening.payload()))?;
            link.caller.fds.push(fd.try_clone()?);
            link.callee.fds.push(fd);
        }
        Ok(link)
    }

    /// Attaches one end.
    pub fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let payload = attaching.payload();
        let buffers = if payload > 0 {
            let fd: OwnedFd =
                half.fds.pop().ok_or_else(|| sys::failure("the shared buffer is missing"))?;
            let stride = stride(payload);
            let (outgoing, incoming) = match attaching.role {
                Role::Caller => (0, stride),
                Role::Callee => (stride, 0),
            };
            Some(Buffers { memory: Shared::map(&fd, 2 * stride)?, outgoing, incoming })
        } else {
            None
        };
        let notifier = M::attach(half, attaching)?;
        Ok(Self { notifier, buffers, local: vec![1; payload], wait: PhantomData })
    }
}

impl<M: Notifier, W: Wait> Party for OverNotifier<M, W> {
    #[inline(always)]
    fn send(&mut self, sequence: u64) -> io::Result<()> {
        if let Some(buffers) = &self.buffers {
            fill(&mut self.local, sequence);
            // SAFETY: the buffer is as long as the payload, and the other end does
            // not touch it between being answered and being notified.
            unsafe {
                let shared = buffers.memory.at::<u8>(buffers.outgoing);
                std::ptr::copy_nonoverlapping(self.local.as_ptr(), shared, self.local.len());
            }
            fence(Ordering::Release);
        }
        self.notifier.notify::<W>()
    }
    #[inline(always)]
    fn receive(&mut self, sequence: u64) -> io::Result<()> {
        self.notifier.wait::<W>()?;
        if let Some(buffers) = &self.buffers {
            fence(Ordering::Acquire);
            // SAFETY: as above, with the roles exchanged.
            unsafe {
                let shared = buffers.memory.at::<u8>(buffers.incoming);
                std::ptr::copy_nonoverlapping(shared, self.local.as_mut_ptr(), self.local.len());
            }
            if !verify(&self.local, sequence) {
                return Err(corrupted(sequence, self.local.len(), self.local.len()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_is_seen() {
        for len in [0, 1, 7, 8, 9, 64, 100] {
            let mut buffer = vec![0; len];
            fill(&mut buffer, 7);
            assert!(verify(&buffer, 7));
            assert_eq!(verify(&buffer, 8), len == 0);
            for bit in 0..len * 8 {
                buffer[bit / 8] ^= 1 << (bit % 8);
                assert!(!verify(&buffer, 7), "len {len} bit {bit}");
                buffer[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
