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
//! flag is set for a futex wake.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use hopcost_model::case::WaitKind;
use hopcost_model::mechanism::{Facts, Payload, PerOperation, WaitFacts};

use crate::memory::{Line, Shared};
use crate::registry::{CHANNEL, Row};
use crate::shape::{Attaching, Channel, Half, Link, Opening, PeerExit, TwoEnds};
use crate::sys;
use crate::transport::by_role;
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
    limits: "0 bytes to 1 MiB; eight places; both ends must map the same memory; a full ring, which a strict round trip never meets, is waited for by sched_yield; a dead partner is not noticed here but by the supervisor",
    sources: &[
        "memfd_create(2)",
        "mmap(2)",
        "futex(2)",
        "L. Lamport, Specifying Concurrent Program Modules, 1983",
    ],
    ..CHANNEL
});

/// Places in a ring; a power of two, because the counts wrap around at 2^32.
const PLACES: u32 = 8;
const _: () = assert!(PLACES.is_power_of_two());

/// Bytes before the message in a place: its length.
const HEADER: usize = size_of::<u64>();

const LINE: usize = size_of::<Line<AtomicU32>>();

/// Where things lie in one direction's ring, for messages of this length.
#[derive(Clone, Copy)]
struct Layout {
    base: usize,
    place: usize,
}

impl Layout {
    fn new(payload: usize, direction: usize) -> Self {
        let place = (HEADER + payload).next_multiple_of(LINE);
        Self { base: direction * (3 * LINE + PLACES as usize * place), place }
    }
    /// Bytes of both directions' rings.
    fn bytes(payload: usize) -> usize {
        Self::new(payload, 2).base
    }
    #[inline(always)]
    fn place(self, count: u32) -> usize {
        self.base + 3 * LINE + (count % PLACES) as usize * self.place
    }
}

/// One end: producer of one ring, consumer of the other.
pub struct ShmRing {
    memory: Shared,
    payload: usize,
    budget_ticks: u64,
    /// Whether the other end may sleep, so that sending has to look.
    wakes_peer: bool,
    outgoing: Layout,
    /// Messages sent.
    sent: u32,
    /// The last count that was seen of those the other end is done with.
    sent_and_consumed: u32,
    incoming: Layout,
    /// Messages received, the one that is lent included.
    received: u32,
    /// Whether the last of them is still lent.
    lent: bool,
}

impl ShmRing {
    #[inline(always)]
    fn word(&self, ring: Layout, line: usize) -> &AtomicU32 {
        // SAFETY: the first three lines of a ring hold nothing but these words, which are
        // only ever used as atomics; zero is a valid one.
        &unsafe { self.memory.reference::<Line<AtomicU32>>(ring.base + line * LINE) }.0
    }
    #[inline(always)]
    fn produced(&self, ring: Layout) -> &AtomicU32 {
        self.word(ring, 0)
    }
    #[inline(always)]
    fn consumed(&self, ring: Layout) -> &AtomicU32 {
        self.word(ring, 1)
    }
    #[inline(always)]
    fn asleep(&self, ring: Layout) -> &AtomicU32 {
        self.word(ring, 2)
    }
    #[inline(always)]
    fn length(&self, place: usize) -> &AtomicU64 {
        // SAFETY: the first word of a place is only ever used as an atomic.
        unsafe { self.memory.reference::<AtomicU64>(place) }
    }

    /// Tells the producer that the message lent last will not be read again.
    #[inline(always)]
    fn give_back(&mut self) {
        if self.lent {
            // Release: the reads of the message come before the producer's next
            // writes to its place, which follow its Acquire load of this count.
            self.consumed(self.incoming).store(self.received, Ordering::Release);
            self.lent = false;
        }
    }

    /// Waits until the place of the next message is free.
    #[inline(always)]
    fn wait_for_room(&mut self) {
        while self.sent.wrapping_sub(self.sent_and_consumed) == PLACES {
            // Acquire: pairs with the Release of `give_back`.
            let consumed = self.consumed(self.outgoing).load(Ordering::Acquire);
            if consumed == self.sent_and_consumed {
                sys::sched_yield();
            }
            self.sent_and_consumed = consumed;
        }
    }

    /// Sleeps until the producer has counted beyond `received`; may return early.
    #[cold]
    fn sleep(&self) -> io::Result<()> {
        let asleep = self.asleep(self.incoming);
        asleep.store(1, Ordering::Relaxed);
        // Either the producer's fence (in `send`) comes after this one, and then it
        // sees the flag and wakes; or it comes before, and then the kernel, which
        // compares the word before it puts us to sleep, sees the new count.
        fence(Ordering::SeqCst);
        let slept = sys::futex_wait(self.produced(self.incoming), self.received);
        asleep.store(0, Ordering::Relaxed);
        slept
    }
}

impl TwoEnds for ShmRing {
    type End = Self;
    type Waits = WithoutFd;
    const PEER_EXIT: PeerExit = PeerExit::Unnoticed;
    fn open(opening: &Opening<'_>) -> io::Result<Link> {
        Link::of_one(Shared::create(Layout::bytes(opening.payload()))?)
    }

    fn attach(half: Half, attaching: &Attaching<'_>) -> io::Result<Self> {
        let [fd] = half.take_fds()?;
        let payload = attaching.payload();
        let requests = Layout::new(payload, 0);
        let replies = Layout::new(payload, 1);
        let (outgoing, incoming) =
            by_role(attaching.role, (requests, replies), (replies, requests));
        Ok(Self {
            memory: Shared::map(&fd, Layout::bytes(payload))?,
            payload,
            budget_ticks: attaching.budget_ticks,
            wakes_peer: wait::may_sleep(attaching.peer_wait()),
            outgoing,
            sent: 0,
            sent_and_consumed: 0,
            incoming,
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
        let message = self.memory.at::<u8>(self.outgoing.place(self.sent) + HEADER);
        // SAFETY: a place holds HEADER bytes and at least `payload` more inside the
        // mapping, all initialised (zero at first); the consumer is done with it, and
        // looks at it again only after `send`.
        Ok(unsafe { std::slice::from_raw_parts_mut(message, len) })
    }

    #[inline(always)]
    fn send<W: Wait>(&mut self, len: usize) -> io::Result<()> {
        // Relaxed: made visible with the message by the Release below.
        self.length(self.outgoing.place(self.sent)).store(len as u64, Ordering::Relaxed);
        self.sent = self.sent.wrapping_add(1);
        let produced = self.produced(self.outgoing);
        // Release: message and length come before the count that announces them.
        produced.store(self.sent, Ordering::Release);
        if self.wakes_peer {
            // Pairs with the fence of `sleep`.
            fence(Ordering::SeqCst);
            if self.asleep(self.outgoing).load(Ordering::Relaxed) != 0 {
                sys::futex_wake(produced).map_err(|error| sys::context(error, "futex wake"))?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn recv<W: Wait>(&mut self) -> io::Result<&[u8]> {
        self.give_back();
        let produced = self.produced(self.incoming);
        wait::until::<W>(
            self.budget_ticks,
            // Acquire: the message and its length are read after the count.
            || produced.load(Ordering::Acquire) != self.received,
            || self.sleep(),
        )?;
        let place = self.incoming.place(self.received);
        let len = self.length(place).load(Ordering::Relaxed) as usize;
        if len > self.payload {
            return Err(too_long(len, self.payload));
        }
        self.received = self.received.wrapping_add(1);
        self.lent = true;
        let message = self.memory.at::<u8>(place + HEADER);
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
            end.produced(end.outgoing).store(start, Ordering::Relaxed);
            end.consumed(end.outgoing).store(start, Ordering::Relaxed);
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
