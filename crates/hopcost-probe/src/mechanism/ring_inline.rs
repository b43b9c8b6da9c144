//! `ring-inline`: a message goes into a ring of 64 slots and comes out again in
//! the same thread: what a shared-memory ring costs without anybody to share
//! it with.
//!
//! An operation copies the message (length first) from a source buffer into the
//! next slot, publishes it, takes it, and copies it into a destination buffer.
//! The indices are published and taken as between two threads (release and
//! acquire). It is not the work of `shm-ring` less the crossing: there the message is
//! made and compared in place, every byte of it, and never copied.
//!
//! The result depends on the first and the last byte of the destination, and
//! decides where the next source begins, so that no operation overlaps the next.
//! With `reply=on` a second message goes the same way through a second ring, and
//! begins only when the first has come out.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::memory::{Buffer, Line};
use crate::shape::{Attaching, Half};
use crate::workload::Endpoint;
use crate::workload::call::only_end;

/// Attaches the only end.
pub fn attach(_: Half, attaching: &Attaching<'_>) -> io::Result<Box<dyn Endpoint>> {
    let payload = attaching.payload();
    let mut request = OneWay::of(payload);
    match attaching.parameter("reply") {
        // Two loops, so that neither asks which it is.
        "on" => {
            let mut reply = OneWay::of(payload);
            only_end(move |x| reply.pass(request.pass(x)))
        }
        _ => only_end(move |x| request.pass(x)),
    }
}

const SLOTS: usize = 64;
/// Bytes of the length that precedes a message.
const HEADER: usize = 4;

/// A ring with what goes in and what has come out, each from a cache line on: on the heap they would
/// begin elsewhere in every build, which makes 44 bytes up to 18 % slower.
struct OneWay {
    /// One byte longer than a message: see `pass`.
    source: Buffer,
    destination: Buffer,
    payload: usize,
    ring: Ring,
}

struct Ring {
    slots: Vec<Slot>,
    lines_per_slot: usize,
    enqueued: Line<AtomicUsize>,
    dequeued: Line<AtomicUsize>,
}

/// A cache line of a slot.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Slot([u8; 64]);

impl Ring {
    fn new(payload: usize) -> Self {
        let lines_per_slot = (HEADER + payload).div_ceil(size_of::<Slot>());
        Ring {
            slots: vec![Slot([1; 64]); SLOTS * lines_per_slot],
            lines_per_slot,
            enqueued: Line(AtomicUsize::new(0)),
            dequeued: Line(AtomicUsize::new(0)),
        }
    }

    /// The address of the slot with this running number.
    #[inline(always)]
    fn slot(&mut self, number: usize) -> *mut u8 {
        let first = number % SLOTS * self.lines_per_slot;
        self.slots[first..first + self.lines_per_slot].as_mut_ptr().cast()
    }

    /// Copies a message in; false if the ring is full.
    #[inline(always)]
    fn enqueue(&mut self, message: &[u8]) -> bool {
        let number = self.enqueued.0.load(Ordering::Relaxed);
        let full = number.wrapping_sub(self.dequeued.0.load(Ordering::Acquire)) == SLOTS;
        if full || HEADER + message.len() > self.lines_per_slot * size_of::<Slot>() {
            return false;
        }
        let slot = self.slot(number);
        // SAFETY: the slot has room for the header and the message, as just checked.
        unsafe {
            slot.cast::<u32>().write(message.len() as u32);
            std::ptr::copy_nonoverlapping(message.as_ptr(), slot.add(HEADER), message.len());
        }
        self.enqueued.0.store(number.wrapping_add(1), Ordering::Release);
        true
    }

    /// Copies the next message out and returns its length; none if the ring is
    /// empty or the message does not fit.
    #[inline(always)]
    fn dequeue(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let number = self.dequeued.0.load(Ordering::Relaxed);
        if number == self.enqueued.0.load(Ordering::Acquire) {
            return None;
        }
        let slot = self.slot(number);
        // SAFETY: the header was written by `enqueue`.
        let len = unsafe { slot.cast::<u32>().read() } as usize;
        if len > buffer.len() {
            return None;
        }
        // SAFETY: `enqueue` wrote `len` bytes there, and they fit into the buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(slot.add(HEADER), buffer.as_mut_ptr(), len);
        }
        self.dequeued.0.store(number.wrapping_add(1), Ordering::Release);
        Some(len)
    }
}

impl OneWay {
    fn of(payload: usize) -> Self {
        let (source, destination) = (Buffer::new(payload + 1), Buffer::new(payload));
        OneWay { source, destination, payload, ring: Ring::new(payload) }
    }

    /// A message in and out.
    #[inline(always)]
    fn pass(&mut self, x: u64) -> u64 {
        // Always 0, because x grows by 3 at most, but neither the compiler nor the processor
        // knows before the last message is out. Writing x into the source would chain as well,
        // but then the copy's wide load would wait for a narrow store, which no ring does.
        let from = (x >> 63) as usize;
        let sent = self.ring.enqueue(&self.source[from..from + self.payload]);
        let received = self.ring.dequeue(&mut self.destination).unwrap_or(0);
        let came: &[u8] = &self.destination;
        let ends = match (came.first(), came.last()) {
            (Some(&first), Some(&last)) => u64::from(first) + u64::from(last),
            _ => received as u64,
        };
        x.wrapping_add(u64::from(sent)).wrapping_add(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_copies_the_whole_message() {
        for payload in [0, 1, 7, 8, 44, 64, 4096, 4097, 65_536] {
            let mut way = OneWay::of(payload);
            for byte in (0..3 * SLOTS).map(|n| n as u8) {
                way.source.fill(byte);
                way.destination.fill(!byte);
                // The message that was sent, and the ends of what came.
                let each = if payload == 0 { 1 } else { 1 + 2 * u64::from(byte) };
                assert_eq!(way.pass(5), 5 + each, "payload {payload}");
                assert!(way.destination.iter().all(|&b| b == byte), "{payload} bytes");
            }
        }
    }
}
