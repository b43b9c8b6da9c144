//! One event over the ends of one role in one trial.

use hopcost_model::protocol::{EndCounters, EventReading};

use crate::sums::total;

/// Events that the ends know without the kernel's counters.
pub const ALWAYS: [&str; 3] = ["context-switches", "page-faults", "cpu-ns"];

/// A sum over ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// The sum, scaled where events took turns.
    pub value: f64,
    /// Smallest share of the time for which it was really counted, 0 to 1.
    pub share: f64,
}

/// The sum of an event over ends.
///
/// # Errors
/// In one line, why one of the ends could not count it.
pub fn sum(ends: &[&EndCounters], event: &str) -> Result<Counted, String> {
    let counted = counted(ends, event);
    match always(ends, event) {
        Some(value) if counted.is_err() => Ok(Counted { value, share: 1.0 }),
        _ => counted,
    }
}

fn counted(ends: &[&EndCounters], event: &str) -> Result<Counted, String> {
    let mut sum = Counted { value: 0.0, share: 1.0 };
    for end in ends {
        let reading = end.events.iter().find(|reading| reading.event == event);
        let one = scaled(reading.ok_or("it was not counted at every end")?)?;
        sum = Counted { value: sum.value + one.value, share: sum.share.min(one.share) };
    }
    if ends.is_empty() { Err("there is no such end".to_owned()) } else { Ok(sum) }
}

fn scaled(reading: &EventReading) -> Result<Counted, String> {
    let Some(value) = reading.value else {
        let reason = reading.unavailable.clone();
        return Err(reason.unwrap_or_else(|| "it was not counted, for no stated reason".to_owned()));
    };
    match (reading.enabled_ns, reading.running_ns) {
        (enabled, 0) if enabled > 0 => Err("it never got its turn on the counters".to_owned()),
        (enabled, running) if running < enabled => {
            let share = running as f64 / enabled as f64;
            Ok(Counted { value: value as f64 / share, share })
        }
        _ => Ok(Counted { value: value as f64, share: 1.0 }),
    }
}

/// What the ends know of an event without the kernel's counters (getrusage(2),
/// CLOCK_THREAD_CPUTIME_ID).
fn always(ends: &[&EndCounters], event: &str) -> Option<f64> {
    let sum = |of: fn(&EndCounters) -> [u64; 2]| total(ends.iter().flat_map(|end| of(end))) as f64;
    match event {
        "context-switches" => Some(sum(|end| [end.voluntary, end.involuntary])),
        "page-faults" => Some(sum(|end| [end.minor_faults, end.major_faults])),
        "cpu-ns" => Some(sum(|end| [end.thread_cpu_ns, 0])),
        _ => None,
    }
}
