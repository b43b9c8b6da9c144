//! `shm-ring`: a ring of fixed places in shared memory per direction, one
//! producer and one consumer each.
//!
//! ```text
//! produced | consumed | asleep | place 0 | place 1 | … | place 7
//! 128 B      128 B      128 B    each: length (8 B), message, up to a multiple of 128 B
//! ```
//!
//! The producer writes the message where it will be read, stores its length and
//! counts `produced` up; the consumer reads it in place and counts `consumed` up
//! when it asks for the next one. Nothing is copied but by the two ends
//! themselves, and no message is split: a place holds the longest message, so
//! wrapping around is the count modulo eight.
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

use hopcost_model::case::{Role, WaitKind};
use hopcost_model::mechanism::{Facts, Payload, PerOperation, WaitFacts};

use crate::memory::{Line, Place, Scope, Shared};
use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Channel, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::by_role;
use crate::transport::counter::{Counter, Wake};
use crate::transport::waits::{SPIN_LONG, WAKER_OR_WOKEN_FIRST, YIELD};
use crate::wait::{self, Wait, WithoutFd};

/// The row.
pub static ROW: Row = Row::channel::<ShmRing>(Facts {
    name: "shm-ring",
    family: "shared memory",
    about: "a ring in shared memory per direction, written and read in place",
    waits: &[
        SPIN_LONG,
        WaitFacts {
            wait: WaitKind::Block,
            system_calls: PerOperation::Between(
                0.0,
                4.5,
                "a futex sleep for each end that finds nothing and a futex wake by its partner; \
                 neither where the message is there already",
            ),
            switches_one_cpu: WAKER_OR_WOKEN_FIRST,
            switches_two_cpus: PerOperation::Between(
                0.0,
                2.2,
                "an end that finds its message does not sleep",
            ),
        },
        YIELD,
        WaitFacts {
            wait: WaitKind::SpinThenBlock,
            system_calls: PerOperation::Between(
                0.0,
                4.5,
                "a sleep and a wake only where the budget ran out first",
            ),
            switches_one_cpu: PerOperation::Between(0.0, 2.2, "sleeps after the budget"),
            switches_two_cpus: PerOperation::Between(0.0, 2.2, "sleeps only after the budget"),
        },
    ],
    payload: Payload::Bytes { min: 0, max: 1 << 20, default: 64 },
    crosses: "cache lines: those of the message, of its length and of the count of messages produced",
    copies: "nobody beyond the two ends themselves: the message is written into the ring and read there",
    wakes: "nobody while the consumer spins or yields; otherwise the producer, by FUTEX_WAKE, if the consumer has said that it sleeps",
    between_stamps: "write the message in place, count up, (fence, perhaps wake,) look at the own ring until its count moves, read the message in place; the same on the other side",
    limits: "0 bytes to 1 MiB; eight places; both ends must map the same memory, which is private to the process between threads; a full ring, which a strict round trip never meets, is waited for by sched_yield; a dead partner is not noticed here but by the supervisor",
    sources: &[
        "memfd_create(2)",
        "mmap(2)",
        "futex(2)",
        "L. Lamport, Specifying Concurrent Program Modules, 1983",
    ],
    revision: 2,
    ..CHANNEL
});

/// Places in a ring; a power of two, because the counts wrap around at 2^32.
const PLACES: u32 = 8;
const _: () = assert!(PLACES.is_power_of_two());

/// Bytes before the message in a place: its length.
const HEADER: usize = size_of::<u64>();

const LINE: usize = size_of::<Line<AtomicU32>>();

/// Bytes of a place for messages of this length.
fn place_bytes(payload: usize) -> usize {
    (HEADER + payload).next_multiple_of(LINE)
}

/// Bytes of one direction's ring.
fn ring_bytes(payload: usize) -> usize {
    3 * LINE + PLACES as usize * place_bytes(payload)
}

/// One direction's ring as an end sees it.
struct Ring {
    produced: Counter,
    consumed: Place<AtomicU32>,
    places: Place<[u8]>,
    place_bytes: usize,
}

impl Ring {
    /// The ring that `receiver` takes messages from: the first is the callee's.
    fn new(memory: &Arc<Shared>, attaching: &Attaching<'_>, receiver: Role) -> Self {
        let payload = attaching.payload();
        let base = by_role(receiver, ring_bytes(payload), 0);
        let wake = Wake::of(attaching.case.wait(receiver));
        let words = [base, base + 2 * LINE];
        let places = ring_bytes(payload) - 3 * LINE;
        Self {
            produced: Counter::new(memory, words, wake, Scope::of(attaching.case)),
            consumed: Place::new(memory, base + LINE),
            places: Place::bytes(memory, base + 3 * LINE, places),
            place_bytes: place_bytes(payload),
        }
    }
    #[inline(always)]
    fn place(&self, count: u32) -> *mut u8 {
        let at = (count % PLACES) as usize * self.place_bytes;
        // SAFETY: there are `PLACES` places of that many bytes.
        unsafe { self.places.as_ptr().cast::<u8>().add(at) }
    }
    /// The length of the message in the place of this count.
    #[inline(always)]
    fn length(&self, count: u32) -> &AtomicU64 {
        // SAFETY: places begin on a line, and their first word is only ever used as an atomic.
        unsafe { AtomicU64::from_ptr(self.place(count).cast()) }
    }
    /// Where the message in the place of this count begins.
    #[inline(always)]
    fn message(&self, count: u32) -> *mut u8 {
        // SAFETY: a place is longer than its header.
        unsafe { self.place(count).add(HEADER) }
    }
}

/// One end: producer of one ring, consumer of the other.
pub struct ShmRing {
    payload: usize,
    budget_ticks: u64,
    outgoing: Ring,
    /// Messages sent.
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
        while self.sent.wrapping_sub(self.sent_and_consumed) == PLACES {
            // Acquire: pairs with the Release of `give_back`.
            let consumed = self.outgoing.consumed.load(Ordering::Acquire);
            if consumed == self.sent_and_consumed {
                sys::sched_yield();
            }
            self.sent_and_consumed = consumed;
        }
    }
}

impl TwoEnds for ShmRing {
    type End = Self;
    type Waits = WithoutFd;
    const PEER_EXIT: PeerExit = PeerExit::Unnoticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        Link::of_memory(opening.memory(2 * ring_bytes(opening.payload()))?)
    }

    fn attach(mut half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let payload = attaching.payload();
        let memory = half.take_memory(2 * ring_bytes(payload))?;
        Ok(Self {
            payload,
            budget_ticks: attaching.budget_ticks,
            outgoing: Ring::new(&memory, attaching, attaching.role.other()),
            sent: 0,
            sent_and_consumed: 0,
            incoming: Ring::new(&memory, attaching, attaching.role),
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
        // SAFETY: a place holds HEADER bytes and at least `payload` more inside the
        // mapping, all initialised (zero at first); the consumer is done with it, and
        // looks at it again only after `send`.
        Ok(unsafe { std::slice::from_raw_parts_mut(message, len) })
    }

    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        // Relaxed: made visible with the message by the count that announces both.
        self.outgoing.length(self.sent).store(len as u64, Ordering::Relaxed);
        self.sent = self.sent.wrapping_add(1);
        self.outgoing.produced.publish(self.sent)
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.give_back();
        let (produced, received) = (&self.incoming.produced, self.received);
        wait::until::<W>(
            self.budget_ticks,
            || produced.now() != received,
            || produced.sleep(received),
        )?;
        let len = self.incoming.length(received).load(Ordering::Relaxed) as usize;
        if len > self.payload {
            return Err(too_long(len, self.payload));
        }
        let message = self.incoming.message(received);
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

    fn ends(wait: &str, payload: usize) -> [ShmRing; 2] {
        let case: Case = format!(
            "roundtrip/shm-ring?payload={payload}&boundary=thread&place=free&wait={wait}&spin=2000"
        )
        .parse()
        .unwrap();
        let link = ShmRing::open(&Opening { case: &case, scratch: "/nowhere".as_ref() }).unwrap();
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
    fn flood<W: Wait>(wait: &str, count: u64) {
        const PAYLOAD: usize = 40;
        let [mut producer, mut consumer] = ends(wait, PAYLOAD);
        let stop = Instant::now() + Duration::from_secs(3);
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
        flood::<Yield>("yield", 4_000_000);
        flood::<Spin>("spin", 4_000_000);
    }

    #[test]
    fn a_flood_arrives_whole_and_in_order_sleeping() {
        flood::<Block>("block", 2_000_000);
        flood::<SpinThenBlock>("spin-then-block", 2_000_000);
    }

    #[test]
    fn the_counts_survive_wrapping_around() {
        let [mut a, mut b] = ends("spin", 8);
        let start = u32::MAX - 3;
        for end in [&mut a, &mut b] {
            (end.sent, end.sent_and_consumed, end.received) = (start, start, start);
            end.outgoing.produced.publish(start).unwrap();
            end.outgoing.consumed.store(start, Ordering::Relaxed);
        }
        for sequence in 0..20 {
            fill(a.slot::<Spin>(8).unwrap(), sequence);
            a.send::<Spin>(8).unwrap();
            assert!(verify(b.recv::<Spin>().unwrap(), sequence));
        }
    }

    #[test]
    fn a_message_longer_than_a_place_is_refused() {
        let [mut a, mut b] = ends("spin", 8);
        assert!(a.slot::<Spin>(9).is_err());
        // A producer that lies about the length must not make us read beyond the place.
        a.send::<Spin>(1 << 40).unwrap();
        assert!(b.recv::<Spin>().is_err());
    }
}
