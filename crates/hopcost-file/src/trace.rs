//! The events of a traced phase as stored: JSON in a zlib stream.

use hopcost_model::TraceEvent;

use crate::samples::{unzlib, zlib};

/// Events that one trial may keep: what the buffers of the recorder hold, and more.
const EVENTS_MAX: usize = 1 << 20;

/// Bytes of an event at most.
const EVENT_MAX_BYTES: usize = 160;

/// Packs events.
///
/// # Errors
/// In words, if they are too many or their times cannot be.
pub(crate) fn pack(events: &[TraceEvent]) -> Result<Vec<u8>, String> {
    check(events)?;
    serde_json::to_vec(events).map(zlib).map_err(|error| error.to_string())
}

/// The JSON of packed events.
pub(crate) fn json(blob: &[u8]) -> Result<Vec<u8>, String> {
    unzlib(blob, EVENTS_MAX * EVENT_MAX_BYTES)
}

/// Reads events.
///
/// # Errors
/// In words, for what [`pack`] would not have packed.
pub(crate) fn read(json: &[u8]) -> Result<Vec<TraceEvent>, String> {
    let events: Vec<TraceEvent> =
        serde_json::from_slice(json).map_err(|error| format!("holds no events ({error})"))?;
    check(&events)?;
    Ok(events)
}

fn check(events: &[TraceEvent]) -> Result<(), String> {
    let last_ns = events.last().map_or(0, |event| event.at_ns);
    match events.len() {
        n if n > EVENTS_MAX => Err(format!("holds {n} events, more than {EVENTS_MAX}")),
        _ if !events.is_sorted_by_key(|event| event.at_ns) => {
            Err("holds events that are not in time order".to_owned())
        }
        _ if i64::try_from(last_ns).is_err() => Err("holds a time that is out of range".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopcost_model::{TraceKind, TraceThread};

    #[test]
    fn only_what_is_packed_is_read() {
        let (caller, other) = (TraceThread::Caller, TraceThread::Other(u32::MAX));
        let kind = TraceKind::Switch { from: caller, to: other };
        let at = |at_ns| TraceEvent { at_ns, cpu: u32::MAX, thread: other, kind };
        let last = at(u64::MAX >> 1);
        assert!(serde_json::to_string(&last).unwrap().len() < EVENT_MAX_BYTES);
        let events = [at(7), at(7), last];
        assert_eq!(read(&json(&pack(&events).unwrap()).unwrap()).unwrap(), events);
        for (events, why) in [([at(7), at(6)], "order"), ([at(0), at(u64::MAX)], "out of range")] {
            assert!(pack(&events).unwrap_err().contains(why));
            assert!(read(&serde_json::to_vec(&events).unwrap()).unwrap_err().contains(why));
        }
        assert!(read(b"[7]").unwrap_err().contains("holds no events"));
    }
}
