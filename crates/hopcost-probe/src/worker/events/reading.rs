//! What read(2) gives for a group of events: pure, so that it is tested with
//! answers of kernels and processors that are not at hand.

use hopcost_model::protocol::EventReading;

use super::Event;

/// A group's counters at one moment: the layout of PERF_FORMAT_GROUP with
/// PERF_FORMAT_TOTAL_TIME_ENABLED and PERF_FORMAT_TOTAL_TIME_RUNNING, which is
/// the number of values, the two times, and the values, each of 8 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Time for which the group was switched on.
    pub enabled_ns: u64,
    /// Time for which it was counted.
    pub running_ns: u64,
    /// The values, in the order in which the events were opened.
    pub values: Vec<u64>,
}

/// Words before the values.
const HEADER: usize = 3;

/// Bytes of the answer for a group of this many events.
pub const fn bytes_of(members: usize) -> usize {
    8 * (HEADER + members)
}

/// Decodes an answer for a group of `members` events.
pub fn decode(answer: &[u8], members: usize) -> Result<Counts, String> {
    let want = bytes_of(members);
    if answer.len() < want {
        return Err(format!("the kernel's answer has {} bytes instead of {want}", answer.len()));
    }
    let (words, _) = answer.as_chunks::<8>();
    // Native byte order: it comes from the kernel of this machine.
    let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or(0);
    let (counted, enabled_ns, running_ns) = (next(), next(), next());
    if counted != members as u64 {
        return Err(format!("the kernel answered for {counted} events instead of {members}"));
    }
    Ok(Counts { enabled_ns, running_ns, values: (0..members).map(|_| next()).collect() })
}

/// The readings of what was counted between two moments. Raw values: where
/// events took turns (`running_ns` below `enabled_ns`), scaling is the reader's.
pub fn between(before: &Counts, now: &Counts, members: &[Event]) -> Vec<EventReading> {
    let enabled_ns = now.enabled_ns.saturating_sub(before.enabled_ns);
    let running_ns = now.running_ns.saturating_sub(before.running_ns);
    let reading = |(at, event): (usize, &Event)| {
        let of = |counts: &Counts| counts.values.get(at).copied().unwrap_or(0);
        if running_ns == 0 {
            return EventReading {
                enabled_ns,
                ..event.unavailable(if enabled_ns == 0 {
                    "never switched on while the thread ran"
                } else {
                    "never scheduled: more events than counters"
                })
            };
        }
        EventReading {
            event: event.word().to_owned(),
            value: Some(of(now).saturating_sub(of(before))),
            enabled_ns,
            running_ns,
            unavailable: None,
        }
    };
    members.iter().enumerate().map(reading).collect()
}
