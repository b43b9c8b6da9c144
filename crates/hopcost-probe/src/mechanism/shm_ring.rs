//! `shm-ring`: a ring of fixed places in shared memory per direction, one
//! producer and one consumer each.
//!
//! ```text
//! produced | consumed | asleep | place 0 | place 1 | … | place 7
//! 128 B      128 B      128 B    each a multiple of 128 B:
//!   layout=sequence  number (4 B) … length (8 B) to the end of a cache line, message
//!   layout=counted   length (8 B), message
//! ```
//!
//! The producer writes the message where it will be read and its length before it, and
//! announces it by its number, counted from 1: in the place's own word, or, with
//! `layout=counted`, in `produced`, one word for the whole ring. The consumer reads the
//! message in place and counts `consumed` up when it asks for the next one. Nothing is
//! copied but by the two ends themselves, and no message is split: a place holds the
//! longest message, so wrapping around is the number modulo the places.
//!
//! What crosses is what counts. A place's number and length share a line and the message
//! begins a line, so 64 bytes are two lines, of which the consumer looks at one; behind a
//! length of 8 bytes they are two lines as well, and the count is a third.
//!
//! A spinning pair makes no system call. Where the consumer may sleep (known to
//! the producer from the case, when attaching) there is a flag by which it says
//! so, and a full fence at both ends between writing one's own word and reading
//! the other's; only then does the producer pay for the fence, and only if the
//! flag is set for a futex wake. Between threads both memory and futex calls are private
//! to the process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hopcost_model::case::{Case, Role};

use crate::memory::{Line, Place, Scope, Shared};
use crate::shape::{Attaching, Channel, End, Half, Link, Opening};
use crate::sys;
use crate::transport::by_role;
use crate::transport::counter::{Sleeper, Wake};
use crate::wait::{self, Spinning, Wait, WithoutFd};

/// Bytes of a message's length, which lies right before it.
const LENGTH: usize = size_of::<u64>();

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

const LINE: usize = size_of::<Line<AtomicU32>>();

/// Where the words of a ring lie, and its first place.
const PRODUCED: usize = 0;
const CONSUMED: usize = LINE;
const ASLEEP: usize = 2 * LINE;
const PLACES: usize = 3 * LINE;

/// Where things lie in a ring.
#[derive(Clone, Copy)]
struct Layout {
    /// A power of two, because the numbers wrap around at 2^32.
    places: u32,
    place_bytes: usize,
    /// Where a place's message begins in it.
    message: usize,
    /// Where the word lies that announces the first place's message, and how far from it
    /// the next one's is.
    number: usize,
    number_stride: usize,
}

impl Layout {
    fn of(case: &Case) -> io::Result<Self> {
        let payload = case.payload_bytes.unwrap_or(0) as usize;
        let places = match case.parameter("places") {
            None | Some("auto") => match payload {
                0..=0x8000 => 8,
                0x8001..=0x1_0000 => 4,
                _ => 2,
            },
            Some(said) => match said.parse() {
                Ok(places @ (2 | 4 | 8 | 16)) => places,
                _ => {
                    return Err(sys::failure(format!(
                        "places is auto, 2, 4, 8 or 16, not `{said}`"
                    )));
                }
            },
        };
        let place_bytes = |message| usize::next_multiple_of(message + payload, LINE);
        Ok(match case.parameter("layout") {
            None | Some("sequence") => Self {
                places,
                place_bytes: place_bytes(CACHE_LINE),
                message: CACHE_LINE,
                number: PLACES,
                number_stride: place_bytes(CACHE_LINE),
            },
            Some("counted") => Self {
                places,
                place_bytes: place_bytes(LENGTH),
                message: LENGTH,
                number: PRODUCED,
                number_stride: 0,
            },
            Some(other) => {
                return Err(sys::failure(format!("layout is sequence or counted, not `{other}`")));
            }
        })
    }
    /// Whether a word shows that the message after `count` others is there: its number, or
    /// as a count that of one that came later.
    #[inline(always)]
    fn announces(self, number: u32, count: u32) -> bool {
        number.wrapping_sub(count.wrapping_add(1)) < self.places
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
}

impl Ring {
    /// The ring that `receiver` takes messages from: the first is the callee's.
    fn new(memory: &Arc<Shared>, case: &Case, layout: Layout, receiver: Role) -> Self {
        let base = by_role(receiver, layout.ring_bytes(), 0);
        let (wake, scope) = (Wake::of(case.wait(receiver)), Scope::of(case));
        Self {
            layout,
            bytes: Place::bytes(memory, base, layout.ring_bytes()),
            consumed: Place::new(memory, base + CONSUMED),
            consumer: Sleeper::new(memory, base + ASLEEP, wake, scope),
        }
    }
    /// The place of the message after `count` others.
    #[inline(always)]
    fn place(&self, count: u32) -> usize {
        (count & (self.layout.places - 1)) as usize
    }
    /// The word that announces the message after `count` others.
    #[inline(always)]
    fn number(&self, count: u32) -> &AtomicU32 {
        let at = self.layout.number + self.place(count) * self.layout.number_stride;
        // SAFETY: in bounds, and at the beginning of a line; zero is a valid atomic, and
        // nothing else is ever there.
        unsafe { AtomicU32::from_ptr(self.bytes.as_ptr().cast::<u8>().add(at).cast()) }
    }
    /// Where the message after `count` others begins.
    #[inline(always)]
    fn message(&self, count: u32) -> *mut u8 {
        let at = PLACES + self.place(count) * self.layout.place_bytes + self.layout.message;
        // SAFETY: a place is longer than what precedes its message.
        unsafe { self.bytes.as_ptr().cast::<u8>().add(at) }
    }
    /// The length of the message after `count` others.
    #[inline(always)]
    fn length(&self, count: u32) -> &AtomicU64 {
        // SAFETY: it lies right before the message, at a multiple of 8 in either layout, and
        // those bytes are only ever used as an atomic.
        unsafe { AtomicU64::from_ptr(self.message(count).sub(LENGTH).cast()) }
    }
}

/// One end: producer of one ring, consumer of the other.
pub struct ShmRing {
    payload: usize,
    spinning: Spinning,
    outgoing: Ring,
    sent: u32,
    /// The last count that was seen of those the other end is done with.
    sent_and_consumed: u32,
    incoming: Ring,
    /// Messages received, the one that is lent included.
    received: u32,
    /// Whether the last of them is still lent.
    lent: bool,
}

impl ShmRing {
    /// Tells the producer that the message lent last will not be read again.
    #[inline(always)]
    fn give_back(&mut self) {
        if self.lent {
            // Release: the reads of the message come before the producer's next
            // writes to its place, which follow its Acquire load of this count.
            self.incoming.consumed.store(self.received, Ordering::Release);
            self.lent = false;
        }
    }

    /// Waits until the place of the next message is free.
    #[inline(always)]
    fn wait_for_room(&mut self) {
        while self.sent.wrapping_sub(self.sent_and_consumed) == self.outgoing.layout.places {
            // Acquire: pairs with the Release of `give_back`.
            let consumed = self.outgoing.consumed.load(Ordering::Acquire);
            if consumed == self.sent_and_consumed {
                sys::sched_yield();
            }
            self.sent_and_consumed = consumed;
        }
    }
}

/// Makes the link.
pub fn open(opening: &Opening<'_>) -> io::Result<Link> {
    Link::of_memory(opening.memory(2 * Layout::of(opening.case)?.ring_bytes())?)
}

impl End for ShmRing {
    type Waits = WithoutFd;
    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let Attaching { case, role, .. } = *attaching;
        let layout = Layout::of(case)?;
        let memory = half.take_memory(2 * layout.ring_bytes())?;
        Ok(Self {
            payload: attaching.payload(),
            spinning: Spinning::of(case, attaching.budget_ticks)?,
            outgoing: Ring::new(&memory, case, layout, role.other()),
            sent: 0,
            sent_and_consumed: 0,
            incoming: Ring::new(&memory, case, layout, role),
            received: 0,
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
        let message = self.outgoing.message(self.sent);
        // SAFETY: a place holds at least `payload` bytes from there on, inside the mapping,
        // all initialised (zero at first); the consumer is done with it, and looks at it
        // again only after `send`.
        Ok(unsafe { std::slice::from_raw_parts_mut(message, len) })
    }

    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        let (ring, before) = (&self.outgoing, self.sent);
        // Relaxed: made visible with the message by the number that announces both.
        ring.length(before).store(len as u64, Ordering::Relaxed);
        self.sent = before.wrapping_add(1);
        ring.consumer.publish(ring.number(before), self.sent)
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.give_back();
        let (ring, received) = (&self.incoming, self.received);
        // Everything that can be known before the number comes: what is worked out after it
        // delays the look at the message, whose line has to come from the other CPU.
        let (layout, payload) = (ring.layout, self.payload);
        let (number, length) = (ring.number(received), ring.length(received));
        let message = ring.message(received);
        wait::until::<W>(
            self.spinning,
            // Acquire: the message and its length are read after its number.
            || layout.announces(number.load(Ordering::Acquire), received),
            || match number.load(Ordering::Relaxed) {
                // It came between the look and this: there is nothing to sleep for.
                now if layout.announces(now, received) => Ok(()),
                before => ring.consumer.sleep(number, before),
            },
        )?;
        let len = length.load(Ordering::Relaxed) as usize;
        if len > payload {
            return Err(too_long(len, payload));
        }
        self.received = received.wrapping_add(1);
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

    use hopcost_model::case::{Case, Role};

    use super::*;
    use crate::party::{fill, verify};
    use crate::wait::{Block, Spin, SpinThenBlock, Yield};

    const RINGS: [&str; 4] = [
        "layout=sequence",
        "layout=sequence&places=2",
        "layout=counted",
        "layout=counted&places=16",
    ];

    fn ends(wait: &str, payload: usize, ring: &str) -> [ShmRing; 2] {
        let case: Case = format!(
            "roundtrip/shm-ring?payload={payload}&{ring}&boundary=thread&place=free&wait={wait}\
             &spin=2000"
        )
        .parse()
        .unwrap();
        let link = open(&Opening { case: &case, scratch: "/nowhere".as_ref() }).unwrap();
        [(Role::Caller, link.caller), (Role::Callee, link.callee)].map(|(role, half)| {
            let attaching = Attaching::new(&case, role);
            ShmRing::attach(half, &attaching).unwrap()
        })
    }

    /// Length of message `sequence`: changes from one to the next.
    fn length(sequence: u64, max: usize) -> usize {
        (sequence as usize).wrapping_mul(31) % (max + 1)
    }

    /// A one-way flood, which fills the ring and wraps it around: every message
    /// arrives once, in order and whole. Long enough for millions of messages
    /// where looks cost nothing; bounded by the clock where they do.
    fn floods<W: Wait>(wait: &str, count: u64) {
        for ring in RINGS {
            flood::<W>(ends(wait, PAYLOAD, ring), count);
        }
    }

    const PAYLOAD: usize = 40;

    fn flood<W: Wait>([mut producer, mut consumer]: [ShmRing; 2], count: u64) {
        let stop = Instant::now() + Duration::from_secs(1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for sequence in 1..=count {
                    let last = sequence == count || (sequence % 256 == 0 && Instant::now() > stop);
                    let len = if last { 0 } else { length(sequence, PAYLOAD - 1) + 1 };
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
                assert_eq!(message.len(), length(sequence, PAYLOAD - 1) + 1);
                assert!(verify(message, sequence), "message {sequence} is damaged");
            }
            panic!("the last message never came");
        });
    }

    #[test]
    fn a_flood_arrives_whole_and_in_order_spinning() {
        floods::<Yield>("yield", 4_000_000);
        floods::<Spin>("spin", 4_000_000);
    }

    #[test]
    fn a_flood_arrives_whole_and_in_order_sleeping() {
        floods::<Block>("block", 2_000_000);
        floods::<SpinThenBlock>("spin-then-block", 2_000_000);
    }

    /// Ends that have exchanged `start` messages each way.
    fn after(start: u32, ring: &str) -> [ShmRing; 2] {
        let mut ends = ends("spin", 8, ring);
        for end in &mut ends {
            (end.sent, end.sent_and_consumed, end.received) = (start, start, start);
            let ring = &end.outgoing;
            for before in (1..=ring.layout.places).rev().map(|n| start.wrapping_sub(n)) {
                ring.number(before).store(before.wrapping_add(1), Ordering::Relaxed);
            }
            ring.consumed.store(start, Ordering::Relaxed);
        }
        ends
    }

    /// A message is there when it is sent and not before, and its place is not written to
    /// before its reader asks for the next.
    #[test]
    fn a_place_is_announced_once_a_lap_and_kept_while_it_is_read() {
        for ring in RINGS {
            for start in [0, 1, u32::MAX - 20] {
                let [mut a, mut b] = after(start, ring);
                let places = a.outgoing.layout.places;
                let there = |end: &ShmRing| {
                    let number = end.incoming.number(end.received).load(Ordering::Relaxed);
                    end.incoming.layout.announces(number, end.received)
                };
                let room = |end: &ShmRing| {
                    let consumed = end.outgoing.consumed.load(Ordering::Relaxed);
                    places - end.sent.wrapping_sub(consumed)
                };
                for lap in 0..6 {
                    for sent in 1..=places {
                        fill(a.slot::<Spin>(8).unwrap(), sent.into());
                        a.send::<Spin>(8).unwrap();
                        assert_eq!(room(&a), places - sent, "{ring}, {start}, lap {lap}");
                    }
                    for taken in 1..=places {
                        assert!(there(&b), "{ring}, {start}, lap {lap}");
                        assert!(verify(b.recv::<Spin>().unwrap(), taken.into()));
                        assert_eq!(room(&a), taken - 1, "{ring}, {start}, lap {lap}");
                    }
                    assert!(!there(&b), "{ring}, {start}, lap {lap}");
                    b.give_back();
                }
            }
        }
    }

    #[test]
    fn a_message_begins_a_cache_line_with_its_number_and_length_on_another() {
        for payload in [0, 1, 48, 64, 100, 4096] {
            for end in ends("spin", payload, "layout=sequence") {
                let ring = &end.outgoing;
                for count in 0..9 {
                    let number = ring.number(count).as_ptr().addr();
                    assert!(number.is_multiple_of(2 * CACHE_LINE));
                    assert_eq!(ring.message(count).addr(), number + CACHE_LINE);
                    assert_eq!(ring.length(count).as_ptr().addr(), number + CACHE_LINE - LENGTH);
                }
                assert_eq!(ring.number(8).as_ptr(), ring.number(0).as_ptr());
            }
        }
    }

    #[test]
    fn a_message_longer_than_a_place_is_refused() {
        for ring in RINGS {
            let [mut a, mut b] = ends("spin", 8, ring);
            assert!(a.slot::<Spin>(9).is_err());
            // A producer that lies about the length must not make us read beyond the place.
            a.send::<Spin>(1 << 40).unwrap();
            assert!(b.recv::<Spin>().is_err());
        }
    }
}
