//! `shm-ring`: a ring of fixed places in shared memory per direction, one
//! producer and one consumer each.
//!
//! ```text
//! consumed | asleep | place 0 | place 1 | … | place 7
//! 128 B      128 B    each a multiple of 128 B: number (4 B), length (4 B), message
//! ```
//!
//! The producer writes the message where it will be read and its length before it, and
//! announces both by the message's number, counted from 1. The consumer reads the message in
//! place and counts `consumed` up when it asks for the next one. Nothing is copied but by the
//! two ends themselves, and no message is split: a place holds the longest message, so
//! wrapping around is the number modulo the places.
//!
//! What crosses is cache lines, and a place has as few of them as its bytes fit in: a message
//! of up to 56 bytes shares the line of its number and length. A longer one uses the rest of
//! that line where it saves a line at the end, and otherwise begins the next, because loads
//! and stores that straddle two lines are slower. `consumed` crosses once in a lap, while a message is
//! on its way.
//!
//! A spinning pair makes no system call. Where the consumer may sleep (known to
//! the producer from the case, when attaching) there is a flag by which it says
//! so, and a full fence at both ends between writing one's own word and reading
//! the other's; only then does the producer pay for the fence, and only if the
//! flag is set for a futex wake. Between threads both memory and futex calls are private
//! to the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hopcost_model::{Case, Role};

use crate::memory::{Line, Place, Shared};
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::sys;
use crate::transport::by_role;
use crate::transport::counter::Sleeper;
use crate::wait::{self, Spinning, Wait, WithoutFd};

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Where a place has the message's length, and how many bytes number and length take.
const LENGTH: usize = 4;
const HEADER: usize = 8;

const LINE: usize = size_of::<Line<AtomicU32>>();

/// Where the words of a ring lie, and its first place.
const CONSUMED: usize = 0;
const ASLEEP: usize = LINE;
const PLACES: usize = 2 * LINE;

/// Where things lie in a ring.
#[derive(Clone, Copy)]
struct Layout {
    /// A power of two, because the numbers wrap around at 2^32.
    places: u32,
    place_bytes: usize,
    /// Where a place's message begins in it.
    message: usize,
}

impl Layout {
    fn of(payload: usize) -> Self {
        // Long messages should not walk through more memory than they must.
        let places = match payload {
            0..=0x8000 => 8,
            0x8001..=0x1_0000 => 4,
            _ => 2,
        };
        let lines = |before: usize| (before + payload).div_ceil(CACHE_LINE);
        let message = if lines(HEADER) < lines(CACHE_LINE) { HEADER } else { CACHE_LINE };
        Self { places, place_bytes: (message + payload).next_multiple_of(LINE), message }
    }
    /// Bytes of one direction's ring.
    fn ring_bytes(self) -> usize {
        PLACES + self.places as usize * self.place_bytes
    }
}

/// One direction's ring as an end sees it.
struct Ring {
    layout: Layout,
    bytes: Place<[u8]>,
    consumed: Place<AtomicU32>,
    consumer: Sleeper,
    /// Messages that this end has sent there, or received, the one that is lent included.
    count: u32,
    /// Offset of the next message's place, computed in advance so that no send waits for it.
    next: usize,
}

impl Ring {
    /// The ring that `receiver` takes messages from: the first is the callee's.
    fn new(memory: &Arc<Shared>, case: &Case, layout: Layout, receiver: Role) -> Self {
        let base = by_role(receiver, layout.ring_bytes(), 0);
        Self {
            layout,
            bytes: Place::bytes(memory, base, layout.ring_bytes()),
            consumed: Place::new(memory, base + CONSUMED),
            consumer: Sleeper::new(memory, base + ASLEEP, case, receiver),
            count: 0,
            next: PLACES,
        }
    }
    /// Goes on to the next place.
    #[inline(always)]
    fn advance(&mut self) {
        self.count = self.count.wrapping_add(1);
        let place = (self.count & (self.layout.places - 1)) as usize;
        self.next = PLACES + place * self.layout.place_bytes;
    }
    /// The place of the next message.
    #[inline(always)]
    fn place(&self) -> *mut u8 {
        // SAFETY: in bounds, as the ring was made.
        unsafe { self.bytes.as_ptr().cast::<u8>().add(self.next) }
    }
    /// The word that announces the next message.
    #[inline(always)]
    fn number(&self) -> &AtomicU32 {
        // SAFETY: a place begins a line; zero is a valid atomic, and nothing else is ever there.
        unsafe { AtomicU32::from_ptr(self.place().cast()) }
    }
    /// The length of the next message.
    #[inline(always)]
    fn length(&self) -> &AtomicU32 {
        // SAFETY: right after the number, and likewise only ever used as an atomic.
        unsafe { AtomicU32::from_ptr(self.place().add(LENGTH).cast()) }
    }
    /// Where the next message begins.
    #[inline(always)]
    fn message(&self) -> *mut u8 {
        // SAFETY: a place is longer than what precedes its message.
        unsafe { self.place().add(self.layout.message) }
    }
}

/// One end: producer of one ring, consumer of the other.
pub struct ShmRing {
    payload: usize,
    spinning: Spinning,
    outgoing: Ring,
    /// The last count that was seen of those the other end is done with.
    sent_and_consumed: u32,
    incoming: Ring,
    /// Whether the last message received is still lent.
    lent: bool,
}

impl ShmRing {
    /// Tells the producer that the message lent last will not be read again.
    #[inline(always)]
    fn give_back(&mut self) {
        if self.lent {
            // Release: the reads of the message come before the producer's next
            // writes to its place, which follow its Acquire load of this count.
            self.incoming.consumed.store(self.incoming.count, Ordering::Release);
            self.lent = false;
        }
    }

    /// Waits until the place of the next message is free.
    #[inline(always)]
    fn wait_for_room(&mut self) {
        let ring = &self.outgoing;
        while ring.count.wrapping_sub(self.sent_and_consumed) == ring.layout.places {
            // Acquire: pairs with the Release of `give_back`.
            let consumed = ring.consumed.load(Ordering::Acquire);
            if consumed == self.sent_and_consumed {
                sys::sched_yield();
            }
            self.sent_and_consumed = consumed;
        }
    }
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    Link::of_memory(opening.memory(2 * Layout::of(opening.payload()).ring_bytes())?)
}

impl End for ShmRing {
    type Waits = WithoutFd;
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let Attaching { case, role, .. } = *attaching;
        let layout = Layout::of(attaching.payload());
        let memory = half.take_memory(2 * layout.ring_bytes())?;
        Ok(Self {
            payload: attaching.payload(),
            spinning: Spinning::of(case, attaching.budget_ticks),
            outgoing: Ring::new(&memory, case, layout, role.other()),
            sent_and_consumed: 0,
            incoming: Ring::new(&memory, case, layout, role),
            lent: false,
        })
    }
}

impl Channel for ShmRing {
    #[inline(always)]
    fn slot<W: Wait>(&mut self, len: usize) -> io::Result<&mut [u8]> {
        if len > self.payload {
            return Err(too_long(len, self.payload));
        }
        self.wait_for_room();
        let message = self.outgoing.message();
        // SAFETY: a place holds at least `payload` bytes from there on, inside the mapping,
        // all initialised (zero at first); the consumer is done with it, and looks at it
        // again only after `send`.
        Ok(unsafe { std::slice::from_raw_parts_mut(message, len) })
    }

    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        let ring = &mut self.outgoing;
        // Relaxed: made visible with the message by the number that announces both.
        ring.length().store(len as u32, Ordering::Relaxed);
        ring.consumer.publish(ring.number(), ring.count.wrapping_add(1))?;
        ring.advance();
        // Now, while the message travels: in `slot` this load would delay the next one.
        if ring.count.wrapping_sub(self.sent_and_consumed) == ring.layout.places - 1 {
            self.sent_and_consumed = ring.consumed.load(Ordering::Acquire);
        }
        Ok(())
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.give_back();
        let ring = &self.incoming;
        // Everything that can be known before the number comes: what is worked out after it
        // delays the look at the message, whose line has to come from the other CPU.
        let (awaited, payload) = (ring.count.wrapping_add(1), self.payload);
        let (number, length, message) = (ring.number(), ring.length(), ring.message());
        wait::until::<W>(
            self.spinning,
            // Acquire: the message and its length are read after its number.
            || number.load(Ordering::Acquire) == awaited,
            || match number.load(Ordering::Relaxed) {
                // It came between the look and this: there is nothing to sleep for.
                now if now == awaited => Ok(()),
                before => ring.consumer.sleep(number, before),
            },
        )?;
        let len = length.load(Ordering::Relaxed) as usize;
        if len > payload {
            return Err(too_long(len, payload));
        }
        self.incoming.advance();
        self.lent = true;
        // SAFETY: in bounds, as in `slot`; the producer does not touch the place before
        // `give_back`, which the borrow of `self` keeps from happening meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(message, len) })
    }
}

#[cold]
fn too_long(len: usize, payload: usize) -> io::Error {
    sys::failure(format!("a message of {len} bytes in a ring made for {payload}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::party::{fill, verify};
    use crate::wait::{Block, Spin, SpinThenBlock, Yield};

    /// A message that shares the line of its number, and one that does not.
    const PAYLOADS: [usize; 2] = [40, 64];

    fn ends(wait: &str, payload: usize) -> [ShmRing; 2] {
        let id = format!(
            "roundtrip/shm-ring?payload={payload}&boundary=thread&place=free&wait={wait}&spin=2000"
        );
        let case: Case = id.parse().unwrap();
        let link = open(&Opening { case: &case, scratch: "/nowhere".as_ref() }).unwrap();
        [(Role::Caller, link.caller), (Role::Callee, link.callee)]
            .map(|(role, half)| ShmRing::attach(half, &Attaching::new(&case, role)).unwrap())
    }

    /// A one-way flood, which fills the ring and wraps it around: every message
    /// arrives once, in order and whole. Long enough for millions of messages
    /// where looks cost nothing; bounded by the clock where they do.
    fn floods<W: Wait>(wait: &str, count: u64) {
        for payload in PAYLOADS {
            flood::<W>(ends(wait, payload), payload, count);
        }
    }

    fn flood<W: Wait>([mut producer, mut consumer]: [ShmRing; 2], payload: usize, count: u64) {
        // Changes from one message to the next; the last is empty.
        let length = |sequence: u64| (sequence as usize).wrapping_mul(31) % payload + 1;
        let stop = Instant::now() + Duration::from_secs(1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for sequence in 1..=count {
                    let last = sequence == count || (sequence % 256 == 0 && Instant::now() > stop);
                    let len = if last { 0 } else { length(sequence) };
                    fill(producer.slot::<W>(len).unwrap(), sequence);
                    producer.send::<W>(len).unwrap();
                    if last {
                        return;
                    }
                }
            });
            for sequence in 1..=count {
                let message = consumer.recv::<W>().unwrap();
                if message.is_empty() {
                    return;
                }
                assert_eq!(message.len(), length(sequence));
                assert!(verify(message, sequence), "message {sequence} is damaged");
            }
            panic!("the last message never came");
        });
    }

    #[test]
    fn a_flood_arrives_whole_and_in_order_however_its_ends_wait() {
        floods::<Yield>("yield", 4_000_000);
        floods::<Spin>("spin", 4_000_000);
        floods::<Block>("block", 2_000_000);
        floods::<SpinThenBlock>("spin-then-block", 2_000_000);
    }

    /// Ends that have exchanged `start` messages each way.
    fn after(start: u32, payload: usize) -> [ShmRing; 2] {
        let mut ends = ends("spin", payload);
        for end in &mut ends {
            end.sent_and_consumed = start;
            for ring in [&mut end.outgoing, &mut end.incoming] {
                ring.count = start.wrapping_sub(ring.layout.places + 1);
                ring.advance();
                while ring.count != start {
                    ring.number().store(ring.count.wrapping_add(1), Ordering::Relaxed);
                    ring.advance();
                }
                ring.consumed.store(start, Ordering::Relaxed);
            }
        }
        ends
    }

    /// A message is there when it is sent and not before, and its place is not written to
    /// before its reader asks for the next.
    #[test]
    fn a_place_is_announced_once_a_lap_and_kept_while_it_is_read() {
        for (payload, start) in [(8, 0), (8, 1), (100_000, 1), (8, u32::MAX - 20)] {
            let [mut a, mut b] = after(start, payload);
            let places = a.outgoing.layout.places;
            let there = |end: &ShmRing| {
                let number = end.incoming.number().load(Ordering::Relaxed);
                number == end.incoming.count.wrapping_add(1)
            };
            let room = |end: &ShmRing| {
                let consumed = end.outgoing.consumed.load(Ordering::Relaxed);
                places - end.outgoing.count.wrapping_sub(consumed)
            };
            for lap in 0..6 {
                for sent in 1..=places {
                    fill(a.slot::<Spin>(8).unwrap(), sent.into());
                    a.send::<Spin>(8).unwrap();
                    assert_eq!(room(&a), places - sent, "{start}, lap {lap}");
                }
                for taken in 1..=places {
                    assert!(there(&b), "{start}, lap {lap}");
                    assert!(verify(b.recv::<Spin>().unwrap(), taken.into()));
                    assert_eq!(room(&a), taken - 1, "{start}, lap {lap}");
                }
                assert!(!there(&b), "{start}, lap {lap}");
                b.give_back();
            }
        }
    }

    #[test]
    fn a_place_has_as_few_cache_lines_as_its_bytes_fit_in() {
        // Lines of number, length and message; whether the message begins the second.
        for (payload, lines, begins_a_line) in [
            (0, 1, true),
            (8, 1, false),
            (56, 1, false),
            (57, 2, true),
            (64, 2, true),
            (100, 2, false),
            (256, 5, true),
            (4096, 65, true),
        ] {
            for mut end in ends("spin", payload) {
                let ring = &mut end.outgoing;
                let first = ring.number().as_ptr();
                for _ in 0..8 {
                    let number = ring.number().as_ptr().addr();
                    let message = ring.message().addr();
                    assert!(number.is_multiple_of(2 * CACHE_LINE));
                    assert_eq!(ring.length().as_ptr().addr(), number + LENGTH);
                    let last = (message + payload).max(number + HEADER + 1) - 1;
                    let end = if payload == 0 { number } else { last };
                    assert_eq!(end / CACHE_LINE - number / CACHE_LINE + 1, lines, "{payload}");
                    assert_eq!(message.is_multiple_of(CACHE_LINE), begins_a_line, "{payload}");
                    ring.advance();
                }
                assert_eq!(ring.number().as_ptr(), first);
            }
        }
    }

    #[test]
    fn a_message_longer_than_a_place_is_refused() {
        for payload in PAYLOADS {
            let [mut a, mut b] = ends("spin", payload);
            assert!(a.slot::<Spin>(payload + 1).is_err());
            // A producer that lies about the length must not make us read beyond the place.
            a.send::<Spin>(1 << 31).unwrap();
            assert!(b.recv::<Spin>().is_err());
        }
    }
}
