//! One event over the ends of one role, or over all ends, in one trial.

use hopcost_model::protocol::EventReading;
use hopcost_model::raw::RawTrial;

use crate::sums::{Whose, cpu_ns, switches, total};

/// Events that are known without the kernel's counters.
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
pub fn sum(trial: &RawTrial, whose: Whose, event: &str) -> Result<Counted, String> {
    let counted = counted(trial, whose, event);
    match always(trial, whose, event) {
        Some(value) if counted.is_err() => Ok(Counted { value, share: 1.0 }),
        _ => counted,
    }
}

fn counted(trial: &RawTrial, whose: Whose, event: &str) -> Result<Counted, String> {
    let mut sum = Counted { value: 0.0, share: 1.0 };
    if whose.ends(trial).next().is_none() {
        return Err("there is no such end".to_owned());
    }
    for end in whose.ends(trial) {
        let reading = end.events.iter().find(|reading| reading.event == event);
        let one = scaled(reading.ok_or("it was not counted at every end")?)?;
        sum = Counted { value: sum.value + one.value, share: sum.share.min(one.share) };
    }
    Ok(sum)
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

/// What is known of an event without the kernel's counters (getrusage(2), the CPU clocks of
/// threads and processes, /proc).
fn always(trial: &RawTrial, whose: Whose, event: &str) -> Option<f64> {
    let count = match event {
        "context-switches" => switches(trial, whose),
        "page-faults" => {
            total(whose.ends(trial).flat_map(|end| [end.minor_faults, end.major_faults]))
        }
        "cpu-ns" => cpu_ns(trial, whose),
        _ => return None,
    };
    Some(count as f64)
}
