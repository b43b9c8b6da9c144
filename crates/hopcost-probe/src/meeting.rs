//! The meeting: 4096 bytes that the two ends of a `wake` or a `load` share, beside the
//! mechanism that is measured. Each word lies on cache lines of its own.
//!
//! ```text
//! taken              question            answer
//! 128 B              128 B               128 B
//! by the receiver:   by the caller:      by the callee:
//! last wake-up       number, whether     number, its stamp
//! stamped            it is the last
//! ```
//!
//! While wake-ups are measured only `taken` is used: the receiver writes it after
//! its stamp, the sender reads it before the next one, so nothing of it lies
//! between the two.
//!
//! Between phases the ends compare their clocks by taking turns: the caller stamps
//! and asks, the callee sees the question, stamps and answers, the caller sees the
//! answer and stamps again. Every turn is two things at once. It is an exchange as
//! in RFC 5905: the callee's stamp was taken between the caller's two, so the
//! offset of the clocks is known to half of the time between those. And it is two
//! steps of a causality test, one each way: a stamp that was taken after another
//! one had been seen must not be the earlier one.
//!
//! The receiver of several senders meets each of them in 4096 bytes of their own.
//!
//! The turns are short where both ends spin, and the shortest is what counts. Ends
//! that may share a CPU yield it while they wait.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use hopcost_model::{GateReading, Placement, Role};

use crate::clock::Clock;
use crate::memory::{Line, Place, Shared};
use crate::shape::Attaching;
use crate::sys::{self, ensure};

/// Bytes of the meeting.
pub const BYTES: usize = 4096;

/// After this long without a sign of the other end it is taken for gone.
const GONE_NS: u64 = 2_000_000_000;
/// How much of the time between two looks at the time counts at most: an end that had no CPU has
/// not looked.
const LOOKED_NS: u64 = 1_000_000;
/// Clocks are compared for at most this long, with all callers together; then what has been done
/// has to do.
const COMPARE_NS: u64 = 2_000_000_000;
/// How long a caller whose turn has not come sleeps between two looks.
const TURN_NS: u64 = 50_000;
/// Looks between two looks at the time.
const BETWEEN_LOOKS: u64 = 256;

/// How an end waits for the other while clocks are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// It is on a CPU of its own.
    Spin,
    /// Both may be on one CPU.
    Yield,
}

/// One end's view of the meeting.
pub struct Meeting {
    words: Place<Words>,
    role: Role,
    /// None where both ends are on one CPU, whose clock is one.
    pause: Option<Pause>,
    /// Questions asked, or seen.
    turns: u64,
    /// After this long without a sign of the other end it is taken for gone.
    gone_ns: u64,
    /// Callers that the callee meets, one after the other; not each may have a CPU of its own.
    callers: u32,
}

#[repr(C)]
struct Question {
    number: AtomicU64,
    /// 1 if no question follows.
    last: AtomicU64,
}

#[repr(C)]
struct Answer {
    number: AtomicU64,
    stamp: AtomicU64,
}

#[repr(C)]
struct Words {
    taken: Line<AtomicU64>,
    question: Line<Question>,
    answer: Line<Answer>,
}

const _: () = assert!(size_of::<Words>() <= BYTES);

/// A turn's three stamps, in the order in which they were taken.
#[derive(Debug, Clone, Copy)]
struct Turn {
    asked: u64,
    answered: u64,
    seen: u64,
}

impl Meeting {
    /// Maps the memory that both ends were given. Where the callee meets several callers, each has
    /// [`BYTES`] of its own.
    pub fn attach(attaching: &Attaching<'_>, caller: u32) -> io::Result<Self> {
        let (role, callers) = (attaching.role, attaching.case.senders);
        let (at, all) = (BYTES * caller as usize, BYTES * callers as usize);
        let fd = attaching
            .meeting
            .ok_or_else(|| sys::failure("this end was given no memory (meeting_fd)"))?;
        let bytes = rustix::fs::fstat(fd)?.st_size;
        // Touching a mapping beyond the end of its file would be SIGBUS.
        ensure!(bytes >= all as i64, "the meeting has {bytes} bytes instead of {all}");
        let pause = match attaching.case.placement {
            Some(Placement::SameCpu) => None,
            Some(Placement::Free) | None => Some(Pause::Yield),
            Some(_) => Some(Pause::Spin),
        };
        let words = Place::new(&Shared::map(fd, all)?, at);
        // Each waits for all others: for their turns, and before the first message.
        let gone_ns = GONE_NS * (2 * u64::from(callers) - 1);
        Ok(Self { words, role, pause, turns: 0, gone_ns, callers })
    }

    #[inline(always)]
    fn words(&self) -> &Words {
        // SAFETY: zero bytes are valid atomics, and both ends use these bytes as nothing else.
        unsafe { self.words.reference() }
    }

    /// The receiver has stamped wake-up `sequence`.
    #[inline(always)]
    pub fn take(&self, sequence: u64) {
        self.words().taken.0.store(sequence, Ordering::Release);
    }

    /// The last wake-up that the receiver has stamped.
    #[inline(always)]
    pub fn taken(&self) -> u64 {
        self.words().taken.0.load(Ordering::Acquire)
    }

    /// The same of several senders' first message, after which they may begin.
    pub fn release(&self, sequence: u64, stamp: u64) {
        self.words().answer.0.stamp.store(stamp, Ordering::Relaxed);
        self.take(sequence);
    }

    /// When the receiver released them, by its clock; nothing of one sender.
    pub fn released(&self) -> u64 {
        self.words().answer.0.stamp.load(Ordering::Relaxed)
    }

    /// Waits until the receiver has stamped message `sequence`.
    #[inline(always)]
    pub fn until_taken(&self, sequence: u64) -> io::Result<()> {
        self.until_equal(&self.words().taken.0, sequence, self.pause_for_receiver())
    }

    /// One of several callers may not have a CPU of its own, and be on that of the callee: if both spun, a turn
    /// would take as long as the scheduler lets them.
    #[inline(always)]
    fn pause_for_receiver(&self) -> Pause {
        self.pause.filter(|_| self.callers == 1).unwrap_or(Pause::Yield)
    }

    /// Waits for a word to become `number`, which it does in time if the other end is alive.
    #[inline(always)]
    fn until_equal(&self, word: &AtomicU64, number: u64, pause: Pause) -> io::Result<()> {
        let mut patience = None;
        while !becomes(word, number, pause) {
            patience.get_or_insert_with(|| Patience::of(self.gone_ns)).look()?;
        }
        Ok(())
    }

    /// Sends message `sequence`, which may be lost, again and again until the receiver has taken
    /// it, and looks for so long in between.
    #[cold]
    pub fn until_had(
        &self,
        sequence: u64,
        look_ns: u64,
        mut send: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut patience, pause) = (Patience::of(self.gone_ns), self.pause_for_receiver());
        while self.taken() != sequence {
            send()?;
            let again_ns = now_ns() + look_ns;
            while now_ns() < again_ns && !becomes(&self.words().taken.0, sequence, pause) {
                patience.look()?;
            }
            patience.look()?;
        }
        Ok(())
    }

    /// Compares this end's clock with the other's, which does the same at the same
    /// time: up to `exchanges` turns to find the offset, then turns for up to
    /// `steps` steps to see that time never runs backwards with it. The caller's
    /// end knows the outcome. Fails if the other end is not there.
    pub fn compare<C: Clock>(
        &mut self,
        exchanges: u64,
        steps: u64,
    ) -> io::Result<Option<GateReading>> {
        let Some(mut pause) = self.pause else {
            // One CPU's clock is compared with itself: spinning there would wait for
            // the scheduler, and there is nothing to find.
            return Ok((self.role == Role::Caller).then(GateReading::default));
        };
        if self.callers > 1 {
            pause = self.pause_for_receiver();
            self.until_turn()?;
        }
        match self.role {
            Role::Caller => self.ask::<C>(pause, exchanges, steps).map(Some),
            Role::Callee => self.answer::<C>(pause).map(|()| None),
        }
    }

    /// One of several callers is asleep until the callee has time for it. No message has the
    /// number that says so.
    fn until_turn(&self) -> io::Result<()> {
        let turn = u64::MAX - self.turns;
        if self.role == Role::Callee {
            self.take(turn);
            return Ok(());
        }
        let mut patience = Patience::of(self.gone_ns);
        while self.taken() != turn {
            patience.look()?;
            sys::sleep(sys::timespec(TURN_NS));
        }
        Ok(())
    }

    fn ask<C: Clock>(
        &mut self,
        pause: Pause,
        exchanges: u64,
        steps: u64,
    ) -> io::Result<GateReading> {
        // After each turn: on a busy machine every one takes a time slice.
        let until_ns = now_ns() + COMPARE_NS / u64::from(self.callers);
        let mut found = self.turn::<C>(pause)?.offset();
        let mut done = 1;
        while done < exchanges && now_ns() < until_ns {
            let offset = self.turn::<C>(pause)?.offset();
            if offset.bound_ticks < found.bound_ticks {
                found = offset;
            }
            done += 1;
        }
        found.exchanges = done;
        // The test always begins, so that its outcome is never that of no test at all.
        let wanted = 2 * steps.div_ceil(2);
        while found.steps < wanted && (found.steps == 0 || now_ns() < until_ns) {
            found.backward_steps += self.turn::<C>(pause)?.backward_steps(&found);
            found.steps += 2;
        }
        self.words().question.0.last.store(1, Ordering::Relaxed);
        self.turn::<C>(pause)?;
        self.words().question.0.last.store(0, Ordering::Relaxed);
        Ok(found)
    }

    /// A turn, at the caller's end.
    #[inline(always)]
    fn turn<C: Clock>(&mut self, pause: Pause) -> io::Result<Turn> {
        self.turns += 1;
        let words = self.words();
        let (asked, _) = C::stamp();
        words.question.0.number.store(self.turns, Ordering::Release);
        self.until_equal(&words.answer.0.number, self.turns, pause)?;
        let (seen, _) = C::stamp();
        Ok(Turn { asked, answered: words.answer.0.stamp.load(Ordering::Relaxed), seen })
    }

    /// All turns, at the callee's end.
    fn answer<C: Clock>(&mut self, pause: Pause) -> io::Result<()> {
        loop {
            self.turns += 1;
            let words = self.words();
            self.until_equal(&words.question.0.number, self.turns, pause)?;
            let (stamp, _) = C::stamp();
            let last = words.question.0.last.load(Ordering::Relaxed) != 0;
            words.answer.0.stamp.store(stamp, Ordering::Relaxed);
            words.answer.0.number.store(self.turns, Ordering::Release);
            if last {
                return Ok(());
            }
        }
    }
}

/// Looks for a word to become `number`, a few hundred times.
#[inline(always)]
fn becomes(word: &AtomicU64, number: u64, pause: Pause) -> bool {
    for _ in 0..BETWEEN_LOOKS {
        if word.load(Ordering::Acquire) == number {
            return true;
        }
        match pause {
            Pause::Spin => std::hint::spin_loop(),
            Pause::Yield => sys::sched_yield(),
        }
    }
    false
}

/// How long an end goes on looking for the other.
struct Patience {
    in_all_ns: u64,
    left_ns: u64,
    looked_ns: u64,
}

impl Patience {
    fn of(in_all_ns: u64) -> Self {
        Self { in_all_ns, left_ns: in_all_ns, looked_ns: now_ns() }
    }

    /// Counts the time since the last look, but for what this end spent without a CPU.
    fn look(&mut self) -> io::Result<()> {
        self.spend(now_ns())
    }

    fn spend(&mut self, now_ns: u64) -> io::Result<()> {
        let looked_ns = now_ns.saturating_sub(self.looked_ns).min(LOOKED_NS);
        (self.looked_ns, self.left_ns) = (now_ns, self.left_ns.saturating_sub(looked_ns));
        ensure!(
            self.left_ns > 0,
            "the other end has not answered for {} s: it hangs, or has no CPU (end other programs, or \
             give each end a CPU with --cpus)",
            self.in_all_ns / 1_000_000_000
        );
        Ok(())
    }
}

fn now_ns() -> u64 {
    sys::clock_ns(libc::CLOCK_MONOTONIC)
}

impl Turn {
    /// What it tells of the clocks: the answer came at some time between the other two
    /// stamps, so the middle of them is right to half of their distance.
    fn offset(self) -> GateReading {
        let round_trip = self.seen.wrapping_sub(self.asked);
        let middle = self.asked.wrapping_add(round_trip / 2);
        GateReading {
            offset_ticks: self.answered.wrapping_sub(middle) as i64,
            bound_ticks: round_trip.div_ceil(2),
            ..GateReading::default()
        }
    }

    /// Of its two steps, those that ran backwards by more than the bound of this offset.
    fn backward_steps(self, of: &GateReading) -> u64 {
        let answered = self.answered.wrapping_sub(of.offset_ticks as u64);
        let backward = |from: u64, to: u64| {
            let step = to.wrapping_sub(from) as i64;
            u64::from(step < 0 && step.unsigned_abs() > of.bound_ticks)
        };
        backward(self.asked, answered) + backward(answered, self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(asked: u64, answered: u64, seen: u64) -> Turn {
        Turn { asked, answered, seen }
    }

    #[test]
    fn the_true_offset_is_never_further_away_than_the_bound() {
        for true_offset in [-1_000_000i64, -3, 0, 1, 500] {
            for (there, back) in [(0, 0), (1, 0), (0, 1), (40, 60), (7, 100), (1000, 1)] {
                let asked: u64 = 10_000_000;
                let answered = asked.wrapping_add(there).wrapping_add(true_offset as u64);
                let found = turn(asked, answered, asked + there + back).offset();
                assert!(
                    found.offset_ticks.abs_diff(true_offset) <= found.bound_ticks,
                    "{true_offset} {there} {back}: {found:?}"
                );
                assert_eq!(turn(asked, answered, asked + there + back).backward_steps(&found), 0);
            }
        }
    }

    #[test]
    fn an_end_that_has_no_cpu_does_not_lose_its_patience() {
        let mut patience = Patience { in_all_ns: GONE_NS, left_ns: GONE_NS, looked_ns: 0 };
        // A slice of a millisecond now and then; it would have been gone after the first pause.
        for second in 1..=1_000 {
            patience.spend(second * 3_000_000_000).unwrap();
        }
        let from = 1_000 * 3_000_000_000;
        let spent = (1..).map(|ms| patience.spend(from + ms * 1_000_000));
        let error = spent.take(1_000).find_map(Result::err).expect("a second more").to_string();
        assert!(error.contains("not answered for 2 s") && error.contains("--cpus"), "{error}");
    }

    #[test]
    fn a_clock_that_moves_by_more_than_the_bound_runs_backwards_one_way_or_the_other() {
        let offset = turn(1000, 1550, 1100).offset();
        assert_eq!((offset.offset_ticks, offset.bound_ticks), (500, 50));
        // The bound is the most that a step may miss by.
        assert_eq!(turn(2000, 2450, 2100).backward_steps(&offset), 0);
        assert_eq!(turn(2000, 2449, 2100).backward_steps(&offset), 1);
        assert_eq!(turn(2000, 2650, 2100).backward_steps(&offset), 0);
        assert_eq!(turn(2000, 2651, 2100).backward_steps(&offset), 1);
    }
}
