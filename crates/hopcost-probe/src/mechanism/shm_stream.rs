//! `shm-stream`: a ring of bytes in shared memory, with one producer and one
//! consumer.
//!
//! ```text
//! written | read | acknowledged | acknowledgements | bytes
//! 256 B     256 B  256 B          2048 × 8 B         1 MiB, or two messages if that is more
//! ```
//!
//! The sender copies its fields into the ring, one after the other, and counts the
//! bytes written: at the end of a message and after every 64 KiB of a longer one,
//! so that the receiver can begin. The receiver copies them out into its own
//! buffer and counts the bytes read. An acknowledgement is a word in a ring of its
//! own, the other way. An end that finds nothing, or no room, sleeps on the count
//! it waits for (futex), or looks at it again and again (wait=spin). Between threads both
//! memory and futex calls are private to the process.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use hopcost_model::Role;

use crate::memory::{Buffer, Place};
use crate::shape::{Attaching, Half, Link, Opening};
use crate::stream::fields::Fields;
use crate::stream::{Sink, Source};
use crate::transport::counter::{COUNTER_BYTES, Counter};

/// Bytes of the ring at least.
const RING_MIN: usize = 1 << 20;
/// Bytes after which the sender publishes the part of a message that is there.
const PUBLISH_BYTES: u32 = 64 << 10;
/// Places for acknowledgements: more than the largest window has messages, and
/// more than are ever unread.
const ACKNOWLEDGEMENTS: usize = 2048;

const ACKNOWLEDGEMENTS_AT: usize = 3 * COUNTER_BYTES;
const BYTES_AT: usize = (ACKNOWLEDGEMENTS_AT + 8 * ACKNOWLEDGEMENTS).next_multiple_of(4096);

/// Bytes of the ring: a power of two, because the counts wrap around at 2^32.
fn capacity(payload: usize) -> usize {
    (2 * payload).next_power_of_two().max(RING_MIN)
}

pub struct ShmSource {
    ring: Ring,
    fields: Fields,
}

pub struct ShmSink {
    ring: Ring,
    buffer: Buffer,
}

/// What an end knows of the ring.
struct Ring {
    bytes: Place<[u8]>,
    acknowledgements: Place<[AtomicU64; ACKNOWLEDGEMENTS]>,
    capacity: u32,
    written: Counter,
    read: Counter,
    acknowledged: Counter,
    /// Bytes written or read by this end.
    own: u32,
    /// What this end last saw of the other's count of bytes.
    seen: u32,
    /// Bytes written and published to the receiver.
    published: u32,
    /// Acknowledgements that this end has sent or taken.
    own_acknowledged: u32,
    /// Acknowledgements that the sender has seen.
    seen_acknowledged: u32,
}

impl Ring {
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let capacity = capacity(attaching.payload());
        let memory = half.take_memory(BYTES_AT + capacity)?;
        let counter = |number, waiter| Counter::new(&memory, number, attaching.case, waiter);
        Ok(Self {
            bytes: Place::bytes(&memory, BYTES_AT, capacity),
            acknowledgements: Place::new(&memory, ACKNOWLEDGEMENTS_AT),
            capacity: capacity as u32,
            written: counter(0, Role::Callee),
            read: counter(1, Role::Caller),
            acknowledged: counter(2, Role::Caller),
            own: 0,
            seen: 0,
            published: 0,
            own_acknowledged: 0,
            seen_acknowledged: 0,
        })
    }
    /// The address of a byte of the ring, and how many follow without a break.
    #[inline(always)]
    fn place(&self, position: u32) -> (*mut u8, u32) {
        let at = position & (self.capacity - 1);
        // SAFETY: the ring has `capacity` bytes, and `at` is less.
        let place = unsafe { self.bytes.as_ptr().cast::<u8>().add(at as usize) };
        (place, self.capacity - at)
    }
    #[inline(always)]
    fn acknowledgement(&self, number: u32) -> &AtomicU64 {
        // SAFETY: these words are only ever used as atomics; zero is a valid one.
        let words = unsafe { self.acknowledgements.reference() };
        &words[number as usize % ACKNOWLEDGEMENTS]
    }
    /// Tells the receiver of all that is written.
    #[inline(always)]
    fn publish(&mut self) -> io::Result<()> {
        if self.published == self.own {
            return Ok(());
        }
        self.published = self.own;
        self.written.publish(self.own)
    }
    /// Copies bytes into the ring, waiting for room.
    #[inline(always)]
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.capacity - self.own.wrapping_sub(self.seen);
            if room == 0 {
                self.publish()?;
                self.seen = self.read.beyond(self.seen)?;
                continue;
            }
            let (place, unbroken) = self.place(self.own);
            let count = (room.min(unbroken) as usize).min(bytes.len());
            let (now, later) = bytes.split_at(count);
            // SAFETY: the place has that many bytes, which the receiver is done with and
            // does not look at again before they are counted.
            unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), place, now.len()) };
            self.own = self.own.wrapping_add(count as u32);
            bytes = later;
            if self.own.wrapping_sub(self.published) >= PUBLISH_BYTES {
                self.publish()?;
            }
        }
        Ok(())
    }
    /// Copies bytes out of the ring, waiting for them.
    #[inline(always)]
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let there = self.seen.wrapping_sub(self.own);
            if there == 0 {
                self.seen = self.written.beyond(self.seen)?;
                continue;
            }
            let (place, unbroken) = self.place(self.own);
            let rest = &mut buffer[done..];
            let count = there.min(unbroken).min(rest.len() as u32);
            // SAFETY: that many bytes were written before they were counted, and the
            // sender does not touch them before they are counted as read.
            unsafe { std::ptr::copy_nonoverlapping(place, rest.as_mut_ptr(), count as usize) };
            done += count as usize;
            self.own = self.own.wrapping_add(count);
            self.read.publish(self.own)?;
        }
        Ok(())
    }
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    Link::of_memory(opening.memory(BYTES_AT + capacity(opening.payload()))?)
}

impl Source for ShmSource {
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        Ok(Self { ring: Ring::attach(half, attaching)?, fields: Fields::new(attaching) })
    }
    #[inline(always)]
    fn fields(&mut self) -> &mut Fields {
        &mut self.fields
    }
    #[inline(always)]
    fn send(&mut self) -> io::Result<()> {
        for field in self.fields.iter() {
            self.ring.put(field)?;
        }
        self.ring.publish()
    }
    #[inline(always)]
    fn acknowledged(&mut self) -> io::Result<u64> {
        let ring = &mut self.ring;
        if ring.seen_acknowledged == ring.own_acknowledged {
            ring.seen_acknowledged = ring.acknowledged.beyond(ring.seen_acknowledged)?;
        }
        let sequence = ring.acknowledgement(ring.own_acknowledged).load(Ordering::Relaxed);
        ring.own_acknowledged = ring.own_acknowledged.wrapping_add(1);
        Ok(sequence)
    }
}

impl Sink for ShmSink {
    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let buffer = Buffer::new(attaching.payload());
        Ok(Self { ring: Ring::attach(half, attaching)?, buffer })
    }
    #[inline(always)]
    fn receive(&mut self) -> io::Result<&[u8]> {
        self.ring.take(&mut self.buffer)?;
        Ok(&self.buffer)
    }
    #[inline(always)]
    fn acknowledge(&mut self, sequence: u64) -> io::Result<()> {
        let ring = &mut self.ring;
        // Relaxed: made visible by the count that follows.
        ring.acknowledgement(ring.own_acknowledged).store(sequence, Ordering::Relaxed);
        ring.own_acknowledged = ring.own_acknowledged.wrapping_add(1);
        ring.acknowledged.publish(ring.own_acknowledged)
    }
}
