//! Whether the times that workers say can be true: against their own samples, and against the
//! time that a phase took from outside.

use hopcost_model::{EndCounters, Role, Stamp};

/// How much faster than hopcost's a worker's clock may run.
const CLOCKS_AGREE: f64 = 1.001;
/// What two clocks and their reading may be apart besides.
const SLACK_NS: f64 = 100_000.0;
/// What a phase may take besides its samples.
pub const UNCOVERED_NS: f64 = 20e6;
/// The same of a worker of another runtime, which may have to collect or to compile
/// between the command and the first operation.
pub const FOREIGN_UNCOVERED_NS: f64 = 200e6;
/// The same where it was not warmed up yet.
pub const COLD_UNCOVERED_NS: f64 = 300e6;

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
        let (said_ns, outside_ns) = (ticks as f64 / self.ticks_per_ns, self.outside_ns as f64);
        if said_ns <= outside_ns * CLOCKS_AGREE + SLACK_NS {
            return Ok(());
        }
        Err(format!(
            "{what} {:.1} ms, but the phase took {:.1} ms, seen from outside",
            said_ns / 1e6,
            outside_ns / 1e6
        ))
    }

    /// Refuses much fewer ticks than the phase took: less than this share of it, but for what
    /// a worker may spend on getting ready.
    pub fn covered(&self, ticks: u64, share: f64, spare_ns: f64, what: &str) -> Result<(), String> {
        let (said_ns, outside_ns) = (ticks as f64 / self.ticks_per_ns, self.outside_ns as f64);
        if said_ns >= outside_ns * share - spare_ns {
            return Ok(());
        }
        Err(format!(
            "{what} only {:.1} ms of a phase of {:.1} ms, seen from outside",
            said_ns / 1e6,
            outside_ns / 1e6
        ))
    }
}

/// Whether the durations that a caller's worker handed over, with `in_flight` operations at once, are
/// those it speaks of, and cover the phase but for `besides_ns`. False where they cover little of it
/// because the kernel gave the CPUs to others for `waited_ns`, which is no lie.
pub fn durations(
    phase: Measure,
    stamp: Stamp,
    caller: &EndCounters,
    ticks: &[u64],
    in_flight: u32,
    (besides_ns, waited_ns): (f64, u64),
) -> Result<bool, String> {
    let sum: u128 = ticks.iter().map(|&t| u128::from(t)).sum();
    let elapsed = u128::from(caller.elapsed_ticks);
    if !(elapsed..=elapsed * u128::from(in_flight)).contains(&sum) {
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
    let covered =
        |besides_ns| phase.covered(caller.elapsed_ticks, least, besides_ns, "the samples cover");
    match covered(besides_ns) {
        Ok(()) => Ok(true),
        Err(_) => covered(besides_ns + waited_ns as f64).map(|()| false),
    }
}

/// Whether a reply of a worker of another runtime is about the operations that each of its callers was
/// asked for, which are `all` together.
pub fn foreign(phase: Measure, ends: &[EndCounters], count: u64, all: u64) -> Result<(), String> {
    if let Some(caller) = ends.iter().find(|end| end.role == Role::Caller && end.lost == 0) {
        let what = format!("says that {count} operations took");
        phase.holds(caller.elapsed_ticks, &what)?;
        phase.covered(caller.elapsed_ticks, 0.5, COLD_UNCOVERED_NS, &what)?;
    }
    // What a load lost is no part of what came; an exchange that lost a message was done.
    let did = |end: &EndCounters| match end.role {
        Role::Caller => end.count == count,
        Role::Callee => end.count.saturating_add(end.lost) == all,
    };
    match ends.iter().find(|end| !did(end)) {
        None => Ok(()),
        Some(end) => Err(format!(
            "was asked for {count} operations and reports that its {} did {}",
            end.role, end.count
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lies_are_found_out() {
        let in_flight = |in_flight, (elapsed_ticks, max_ticks), outside_ns, waited_ns| {
            let end = EndCounters { max_ticks, elapsed_ticks, ..EndCounters::default() };
            let phase = Measure { outside_ns, ticks_per_ns: 2.0 };
            let ticks = [60_000_000, 40_000_000];
            durations(phase, Stamp::Each, &end, &ticks, in_flight, (UNCOVERED_NS, waited_ns))
        };
        let waited = |said, outside_ns, waited_ns| in_flight(1, said, outside_ns, waited_ns);
        let honest = (100_000_000, 60_000_000);
        assert_eq!(waited(honest, 51_000_000, 40_000_000), Ok(true));
        assert!(waited((99_000_000, 60_000_000), 51_000_000, 0).is_err());
        assert!(waited((100_000_000, 50_000_000), 51_000_000, 0).is_err());
        assert!(waited(honest, 30_000_000, 0).is_err());
        assert_eq!(in_flight(2, (60_000_000, 60_000_000), 31_000_000, 0), Ok(true));
        assert!(in_flight(2, (49_000_000, 60_000_000), 31_000_000, 0).is_err());
        assert!(waited(honest, 900_000_000, 0).is_err());
        // 50 ms of samples in 252 ms, of which others had the CPUs for 90.
        assert_eq!(waited(honest, 252_000_000, 90_000_000), Ok(false));
        assert!(waited(honest, 252_000_000, 50_000_000).is_err());
    }
}
