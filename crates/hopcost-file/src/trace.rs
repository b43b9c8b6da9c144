//! The events of a traced phase as stored: seven columns of 32-bit numbers, one after the other,
//! in one zlib stream.

use hopcost_model::trace::{TraceEvent, TraceKind, TraceThread};

use crate::samples;

/// Events that one trial may keep: what the buffers of the recorder hold, and more.
pub(crate) const EVENTS_MAX: usize = 1 << 20;

/// Numbers of an event: the two halves of the time since the event before, the lower first; CPU;
/// thread; what happened; what it happened with.
const COLUMNS: usize = 7;

/// A thread that is none of the ends' and not idle is its id and this.
const OTHER: u32 = 3;

fn word(thread: TraceThread) -> Result<u32, String> {
    Ok(match thread {
        TraceThread::Caller => 0,
        TraceThread::Callee => 1,
        TraceThread::Idle => 2,
        TraceThread::Other(id) => {
            id.checked_add(OTHER).ok_or_else(|| format!("no thread has the id {id}"))?
        }
    })
}

fn thread(word: u32) -> TraceThread {
    match word {
        0 => TraceThread::Caller,
        1 => TraceThread::Callee,
        2 => TraceThread::Idle,
        other => TraceThread::Other(other - OTHER),
    }
}

/// What happened, and with what: FORMAT.md lists the numbers.
fn words(kind: TraceKind) -> Result<[u32; 3], String> {
    use TraceKind as Kind;
    Ok(match kind {
        Kind::Stamp(number) => [0, number.into(), 0],
        Kind::SyscallEnter(number) => [1, number, 0],
        Kind::SyscallExit(number) => [2, number, 0],
        Kind::Waking(who) => [3, word(who)?, 0],
        Kind::Wakeup(who) => [4, word(who)?, 0],
        Kind::IpiSend { to_cpu } => [5, to_cpu, 0],
        Kind::RescheduleEntry => [6, 0, 0],
        Kind::RescheduleExit => [7, 0, 0],
        Kind::IdleEnter { state } => [8, state, 0],
        Kind::IdleExit => [9, 0, 0],
        Kind::Switch { from, to } => [10, word(from)?, word(to)?],
        Kind::SoftirqEntry(vector) => [11, vector, 0],
        Kind::SoftirqExit(vector) => [12, vector, 0],
        Kind::IrqEntry(number) => [13, number, 0],
        Kind::IrqExit(number) => [14, number, 0],
        Kind::NetDevQueue { bytes } => [15, bytes, 0],
        Kind::NetifReceive { bytes } => [16, bytes, 0],
        Kind::TimerExpire => [17, 0, 0],
        Kind::Migrate { who, to_cpu } => [18, word(who)?, to_cpu],
    })
}

/// `None` where no event is written so.
fn kind(words: [u32; 3]) -> Option<TraceKind> {
    use TraceKind as Kind;
    Some(match words {
        [0, number @ 0..=3, 0] => Kind::Stamp(number as u8),
        [1, number, 0] => Kind::SyscallEnter(number),
        [2, number, 0] => Kind::SyscallExit(number),
        [3, who, 0] => Kind::Waking(thread(who)),
        [4, who, 0] => Kind::Wakeup(thread(who)),
        [5, to_cpu, 0] => Kind::IpiSend { to_cpu },
        [6, 0, 0] => Kind::RescheduleEntry,
        [7, 0, 0] => Kind::RescheduleExit,
        [8, state, 0] => Kind::IdleEnter { state },
        [9, 0, 0] => Kind::IdleExit,
        [10, from, to] => Kind::Switch { from: thread(from), to: thread(to) },
        [11, vector, 0] => Kind::SoftirqEntry(vector),
        [12, vector, 0] => Kind::SoftirqExit(vector),
        [13, number, 0] => Kind::IrqEntry(number),
        [14, number, 0] => Kind::IrqExit(number),
        [15, bytes, 0] => Kind::NetDevQueue { bytes },
        [16, bytes, 0] => Kind::NetifReceive { bytes },
        [17, 0, 0] => Kind::TimerExpire,
        [18, who, to_cpu] => Kind::Migrate { who: thread(who), to_cpu },
        _ => return None,
    })
}

/// Packs events.
///
/// # Errors
/// In words, if they are too many, not in time order, or of a thread that cannot be.
pub(crate) fn pack(events: &[TraceEvent]) -> Result<Vec<u8>, String> {
    if events.len() > EVENTS_MAX {
        return Err(format!("{} events, more than {EVENTS_MAX}", events.len()));
    }
    let mut columns = vec![0; events.len() * COLUMNS];
    let mut before_ns = 0;
    for (at, event) in events.iter().enumerate() {
        let since =
            event.at_ns.checked_sub(before_ns).ok_or("events that are not in time order")?;
        before_ns = event.at_ns;
        let [what, with, and] = words(event.kind)?;
        let thread = word(event.thread)?;
        let row = [since as u32, (since >> 32) as u32, event.cpu, thread, what, with, and];
        for (column, number) in row.into_iter().enumerate() {
            columns[column * events.len() + at] = number;
        }
    }
    Ok(samples::pack_words(&columns))
}

/// Unpacks events.
///
/// # Errors
/// In words, as of [`samples::unpack_words`], and for what is no event.
pub(crate) fn unpack(blob: &[u8]) -> Result<Vec<TraceEvent>, String> {
    let columns = samples::unpack_words(blob, EVENTS_MAX * COLUMNS)?;
    let count = columns.len() / COLUMNS;
    if count * COLUMNS != columns.len() {
        return Err(format!("holds {} numbers, and an event is {COLUMNS}", columns.len()));
    }
    let mut at_ns = 0u64;
    let event = |at: usize| {
        let [low, high, cpu, who, what, with, and] =
            std::array::from_fn(|column| columns[column * count + at]);
        let later_ns = at_ns.checked_add(u64::from(high) << 32 | u64::from(low));
        at_ns = later_ns
            .filter(|at_ns| i64::try_from(*at_ns).is_ok())
            .ok_or("its time is out of range")?;
        let kind = kind([what, with, and]).ok_or("no event is written so")?;
        Ok(TraceEvent { at_ns, cpu, thread: thread(who), kind })
    };
    let events = (0..count).map(event).collect::<Result<Vec<_>, &str>>();
    events.map_err(|why| format!("has a broken event: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_is_read() {
        let mut read = Vec::new();
        for what in 0..40 {
            for (with, and) in [(0, 0), (3, 0), (4, 0), (u32::MAX, 0), (0, 7), (7, u32::MAX)] {
                if let Some(kind) = kind([what, with, and]) {
                    assert_eq!(words(kind).unwrap(), [what, with, and]);
                    read.push(what);
                }
            }
        }
        read.dedup();
        assert_eq!(read, (0..=18).collect::<Vec<_>>());
        assert_eq!((kind([0, 4, 0]), kind([9, 1, 0]), kind([5, 1, 1])), (None, None, None));
        let late = |at_ns| {
            let (cpu, thread) = (0, TraceThread::Idle);
            TraceEvent { at_ns, cpu, thread, kind: TraceKind::IdleExit }
        };
        let events = [late(7), late(7), late(u64::MAX >> 1)];
        assert_eq!(unpack(&pack(&events).unwrap()).unwrap(), events);
        let over = pack(&[late(u64::MAX)]).unwrap();
        assert!(unpack(&over).unwrap_err().contains("time"));
        assert!(pack(&[late(7), late(6)]).unwrap_err().contains("order"));
        let nobody = TraceEvent { thread: TraceThread::Other(u32::MAX), ..late(0) };
        assert!(pack(&[nobody]).unwrap_err().contains("4294967295"));
        assert!(unpack(&samples::pack_words(&[9; COLUMNS * 2])).is_err());
        assert!(unpack(&samples::pack_words(&[0; COLUMNS + 1])).unwrap_err().contains("8 numbers"));
    }
}
