//! Whether what workers say of a phase can be true: against their own samples, against what
//! they were told to do, and against the time that it took from outside.

use hopcost_model::case::Role;
use hopcost_model::protocol::{EndCounters, Stamp};

use super::snapshot::Seated;

/// How much faster than hopcost's a worker's clock may run.
const CLOCKS_AGREE: f64 = 1.001;
/// What two clocks and their reading may be apart besides.
const SLACK_NS: f64 = 100_000.0;
/// What a phase may take besides its samples.
const UNCOVERED_NS: f64 = 20e6;
/// The same of a worker of another runtime, which may have to collect or to compile
/// between the command and the first operation.
const FOREIGN_UNCOVERED_NS: f64 = 200e6;
/// The same where it was not warmed up yet.
const COLD_UNCOVERED_NS: f64 = 300e6;

/// What getting ready is little beside.
const LONG_NS: f64 = 100e6;

/// How long a phase took, and the clock that its stamps are of.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Seen from outside.
    pub outside_ns: u64,
    /// Of the clock.
    pub ticks_per_ns: f64,
}

impl Measure {
    /// Refuses more ticks than the phase took.
    pub fn holds(&self, ticks: u64, what: &str) -> Result<(), String> {
        self.holds_ns(ticks as f64 / self.ticks_per_ns, what)
    }

    fn holds_ns(&self, said_ns: f64, what: &str) -> Result<(), String> {
        if said_ns <= self.outside_ns as f64 * CLOCKS_AGREE + SLACK_NS {
            return Ok(());
        }
        Err(format!(
            "{what} {:.1} ms, but the phase took {:.1} ms, seen from outside",
            said_ns / 1e6,
            self.outside_ns as f64 / 1e6
        ))
    }

    /// Refuses much fewer ticks than the phase took: less than this share of it, but for what
    /// a worker may spend on getting ready.
    fn covered(&self, ticks: u64, share: f64, besides_ns: f64, what: &str) -> Result<(), String> {
        let (said_ns, outside_ns) = (ticks as f64 / self.ticks_per_ns, self.outside_ns as f64);
        if said_ns >= outside_ns * share - besides_ns {
            return Ok(());
        }
        Err(format!(
            "{what} only {:.1} ms of a phase of {:.1} ms, seen from outside",
            said_ns / 1e6,
            outside_ns / 1e6
        ))
    }
}

/// Whose worker it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The one for Rust.
    Native,
    /// One of another runtime.
    Foreign,
}

/// How much of a phase its samples are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// All but what getting ready takes.
    Whole,
    /// Little of it: the rest was waited for a CPU.
    Stalled,
}

/// Whether durations that a caller's worker handed over are those it speaks of. A phase in which
/// the kernel gave the CPUs to others for `waited_ns` is no lie.
pub fn durations(
    phase: Measure,
    stamp: Stamp,
    caller: &EndCounters,
    ticks: &[u64],
    origin: Origin,
    waited_ns: u64,
) -> Result<Cover, String> {
    let sum: u128 = ticks.iter().map(|&t| u128::from(t)).sum();
    if sum != u128::from(caller.elapsed_ticks) {
        return Err(format!(
            "the samples add up to {sum} ticks, but the caller's worker says {}",
            caller.elapsed_ticks
        ));
    }
    if ticks.iter().max().copied().unwrap_or(0) != caller.max_ticks {
        return Err("the longest sample is not the one the caller's worker names".into());
    }
    phase.holds(caller.elapsed_ticks, "the samples cover")?;
    // Stamps are chained, so the samples of single operations cover the phase;
    // between batches there is a little more.
    let least = match stamp {
        Stamp::Each => 0.5,
        Stamp::Batch { .. } | Stamp::TwoLengths { .. } => 0.25,
    };
    let besides_ns = match origin {
        Origin::Native => UNCOVERED_NS,
        Origin::Foreign => FOREIGN_UNCOVERED_NS,
    };
    let covered =
        |besides_ns| phase.covered(caller.elapsed_ticks, least, besides_ns, "the samples cover");
    match covered(besides_ns) {
        Ok(()) => Ok(Cover::Whole),
        Err(_) => covered(besides_ns + waited_ns as f64).map(|()| Cover::Stalled),
    }
}

/// Whether the samples of a phase that is to be long cover it: a clock that runs slow, or samples
/// that are less than what was timed, show here.
pub fn long_phase(phase: Measure, ticks: u64) -> Result<(), String> {
    phase.holds(ticks, "the samples add up to")?;
    match (phase.outside_ns as f64) < LONG_NS {
        true => Ok(()),
        false => phase.covered(ticks, 0.6, 0.0, "the samples add up to"),
    }
}

/// Whether a worker speaks of its own ends, and of all of them.
pub fn of_seats(ends: &[EndCounters], seats: &[Seated]) -> Result<(), String> {
    match ends.iter().map(|end| end.role).eq(seats.iter().map(|seat| seat.role)) {
        true => Ok(()),
        false => Err("does not answer for the ends it plays".into()),
    }
}

/// Whether what a worker of another runtime says of any phase is about what it was told to do.
pub fn foreign(phase: Measure, ends: &[EndCounters], count: u64) -> Result<(), String> {
    if let Some(caller) = ends.iter().find(|end| end.role == Role::Caller && end.lost == 0) {
        let what = format!("says that {count} operations took");
        phase.holds(caller.elapsed_ticks, &what)?;
        phase.covered(caller.elapsed_ticks, 0.5, COLD_UNCOVERED_NS, &what)?;
    }
    match ends.iter().find(|end| end.count != count) {
        None => Ok(()),
        Some(end) => Err(format!(
            "was told to do {count} operations and says that its {} did {}",
            end.role, end.count
        )),
    }
}

/// Whether the two ends of a wake-up handed over as many stamps as they counted, in order.
pub fn stamps(ends: [&EndCounters; 2], sent: &[u64], woken: &[u64]) -> Result<(), String> {
    let counted = ends.iter().all(|end| end.count == end.samples);
    if !counted || sent.len() != woken.len() || sent.is_empty() {
        return Err(format!(
            "the sender handed over {} stamps and the receiver {}",
            sent.len(),
            woken.len()
        ));
    }
    if !sent.is_sorted() || !woken.is_sorted() {
        return Err("an end's own stamps run backwards".into());
    }
    Ok(())
}

/// Whether the ends of a load speak of the same messages, and each in order; 0 stands for a message
/// that was not sent or did not come. The receiver's stamps, those of each sender apart.
pub fn messages<'a>(
    callers: &[EndCounters],
    callee: &EndCounters,
    sent: &[Vec<u64>],
    received: &'a [u64],
) -> Result<Vec<&'a [u64]>, String> {
    let stamped = |stamps: &[u64]| stamps.iter().filter(|stamp| **stamp > 0).count() as u64;
    let in_order = |stamps: &[u64]| stamps.iter().filter(|stamp| **stamp > 0).is_sorted();
    let (offered, came) = (sent.iter().map(Vec::len).sum::<usize>(), stamped(received));
    let mut agree = offered == received.len()
        && (callee.count, callee.lost.saturating_add(callee.overruns))
            == (came, offered as u64 - came);
    let (mut rest, mut all) = (received, Vec::new());
    for (caller, sent) in callers.iter().zip(sent) {
        let (received, others) = rest.split_at(rest.len().min(sent.len()));
        let never_sent = sent.iter().zip(received).any(|(sent, came)| *sent == 0 && *came > 0);
        agree &= !sent.is_empty() && caller.count == stamped(sent) && !never_sent;
        if agree && !(in_order(sent) && in_order(received)) {
            return Err("an end's own stamps run backwards".into());
        }
        all.push(received);
        rest = others;
    }
    match agree {
        true => Ok(all),
        false => Err(format!(
            "the senders handed over {offered} stamps and the receiver {}, {came} of them of \
             messages",
            received.len()
        )),
    }
}

/// Whether both ends of every flow of a stream speak of the same messages, none more than
/// `most` and each of `payload` bytes.
pub fn flows(
    phase: Option<Measure>,
    ends: &[EndCounters],
    payload: u64,
    most: u64,
) -> Result<(), String> {
    let of = |role: Role| ends.iter().filter(move |end| end.role == role);
    for (sender, receiver) in of(Role::Caller).zip(of(Role::Callee)) {
        if (sender.flow, sender.count, sender.bytes)
            != (receiver.flow, receiver.count, receiver.bytes)
        {
            return Err(format!(
                "flow {}: the sender sent {} messages ({} bytes), the receiver had {} ({} bytes)",
                sender.flow, sender.count, sender.bytes, receiver.count, receiver.bytes
            ));
        }
    }
    for end in ends {
        let who = format!("the {} of flow {}", end.role, end.flow);
        if end.count > most || end.bytes != end.count.saturating_mul(payload) {
            return Err(format!(
                "{who} says {} messages of {payload} bytes and {} bytes in all, of at most {most} \
                 messages",
                end.count, end.bytes
            ));
        }
        if let Some(phase) = phase {
            phase.holds(end.elapsed_ticks, &format!("{who} says that it took"))?;
        }
    }
    if of(Role::Caller).any(|end| end.count == 0) {
        return Err("a flow moved no message within its time".into());
    }
    Ok(())
}

/// Whether numbers can be true: none that is counted here takes 2^62, and the run
/// file holds no more than 2^63.
pub fn storable(numbers: &[u64]) -> Result<(), String> {
    match numbers.iter().find(|number| **number >= 1 << 62) {
        Some(number) => Err(format!("a worker says {number}, which cannot be true")),
        None => Ok(()),
    }
}

/// The same of everything that an end counts.
pub fn storable_end(end: &EndCounters) -> Result<(), String> {
    let events = end.events.iter();
    let counted = events.flat_map(|one| [one.value.unwrap_or(0), one.enabled_ns, one.running_ns]);
    storable(&counted.collect::<Vec<u64>>())?;
    storable(&[
        end.count,
        end.samples,
        end.max_ticks,
        end.elapsed_ticks,
        end.first_tick,
        end.bytes,
        end.thread_cpu_ns,
        end.voluntary,
        end.involuntary,
        end.minor_faults,
        end.major_faults,
        end.run_delay_ns.unwrap_or(0),
        end.cpu_changes,
        end.lost,
        end.overruns,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_are_found_out() {
        let honest = |elapsed_ticks, max_ticks| EndCounters {
            count: 2,
            samples: 2,
            max_ticks,
            elapsed_ticks,
            ..EndCounters::empty(Role::Caller)
        };
        let ticks = [60_000_000, 40_000_000];
        let waited = |end: EndCounters, outside_ns, waited_ns| {
            let phase = Measure { outside_ns, ticks_per_ns: 2.0 };
            durations(phase, Stamp::Each, &end, &ticks, Origin::Native, waited_ns)
        };
        let check = |end, outside_ns| waited(end, outside_ns, 0);
        assert!(check(honest(100_000_000, 60_000_000), 51_000_000).is_ok());
        assert!(check(honest(99_000_000, 60_000_000), 51_000_000).is_err());
        assert!(check(honest(100_000_000, 50_000_000), 51_000_000).is_err());
        assert!(check(honest(100_000_000, 60_000_000), 30_000_000).is_err());
        assert!(check(honest(100_000_000, 60_000_000), 900_000_000).is_err());
        // 50 ms of samples in 252 ms, of which others had the CPUs for 90.
        let of = |waited_ns| waited(honest(100_000_000, 60_000_000), 252_000_000, waited_ns);
        assert_eq!(of(90_000_000), Ok(Cover::Stalled));
        assert!(of(50_000_000).is_err());
        let whole = waited(honest(100_000_000, 60_000_000), 51_000_000, 40_000_000);
        assert_eq!(whole, Ok(Cover::Whole));
    }
}
