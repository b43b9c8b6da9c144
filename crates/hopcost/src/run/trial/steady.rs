//! Runtimes that compile while they run are warmed up until nothing changes any
//! more; and where one end is in Rust, its clock tells what the stamps of the other cost.

use std::time::{Duration, Instant};

use hopcost_model::case::{Role, Workload};
use hopcost_model::protocol::{Phase, Stamp};
use hopcost_model::raw::{RawTrial, StampCheck};

use super::spec::{Clocks, Failure};
use super::workers::{Ran, TrialWorkers};
use crate::run::pace::{self, Pace};

/// Aimed length of one part of such a warm-up.
const PART_NS: f64 = 40_000_000.0;
/// It is over when this many parts in a row agree this well.
const PARTS_AGREE: usize = 4;
const AGREE: f64 = 1.05;
/// It is over after this long or this many parts in any case; whether what was measured then was
/// steady is for the reader of the run to judge.
const TIME_MAX: Duration = Duration::from_millis(2_000);
const PARTS_MAX: usize = 60;

/// Warms up in parts until they agree, and sets the pace by the last of them; what an
/// operation took in each, in nanoseconds.
pub fn warm_up(workers: &mut TrialWorkers<'_>, pace: &mut Pace) -> Result<Vec<f64>, Failure> {
    let started = Instant::now();
    let mut parts: Vec<f64> = Vec::new();
    while parts.len() < PARTS_MAX && started.elapsed() < TIME_MAX && !agree(&parts) {
        let count = pace.count_of(PART_NS);
        let ran = workers.phase(Phase::WarmUp, count, Stamp::Batch { n: count }, None)?;
        parts.push(pace.correct(count, ran.ends.first().map_or(0, |end| end.elapsed_ticks)));
    }
    Ok(parts)
}

/// Whether the last parts agree.
fn agree(parts: &[f64]) -> bool {
    let Some(last) = parts.len().checked_sub(PARTS_AGREE).map(|from| &parts[from..]) else {
        return false;
    };
    let (least, most) =
        last.iter().fold((f64::MAX, 0.0f64), |(low, high), &x| (low.min(x), high.max(x)));
    most <= least * AGREE
}

/// Exchanges of a phase without stamps at least, for a difference to say anything.
const BARE_MIN: u64 = 100;

/// Measures; where the caller is of another runtime and the callee in Rust, between
/// two phases of as many exchanges without stamps.
pub fn measure(
    workers: &mut TrialWorkers<'_>,
    trial: &mut RawTrial,
    clocks: Clocks<'_>,
    stamp: Stamp,
    count: u64,
) -> Result<Ran, Failure> {
    let spec = &workers.spec.clone();
    let checks = spec.case.workload == Workload::Roundtrip
        && spec.workers.foreign(Role::Caller).is_some()
        && spec.workers.foreign(Role::Callee).is_none()
        && stamp == Stamp::Each
        && count >= BARE_MIN;
    if !checks {
        return workers.phase(Phase::Measure, count, stamp, None);
    }
    let bare = |workers: &mut TrialWorkers<'_>| {
        workers.phase(Phase::Pilot, count, Stamp::Batch { n: count }, None)
    };
    let before = bare(workers)?;
    let ran = workers.phase(Phase::Measure, count, stamp, None)?;
    let after = bare(workers)?;
    let by_callee = |ran: &Ran| {
        let callee = ran.ends.iter().find(|end| end.role == Role::Callee);
        let ticks = callee.map_or(0, |end| end.elapsed_ticks);
        ticks as f64 / pace::ticks_per_ns(&spec.case, clocks.callee)
    };
    // The callee's two stamps hold one exchange less than the caller's.
    let exchanges = count - 1;
    let by_caller = ran.ends.first().map_or(0, |end| end.elapsed_ticks) as f64;
    let by_caller_ns = by_caller / pace::ticks_per_ns(&spec.case, clocks.caller);
    trial.stamp_check = Some(StampCheck {
        exchanges,
        stamped_ns: by_callee(&ran),
        stamped_by_caller_ns: by_caller_ns * exchanges as f64 / count as f64,
        bare_before_ns: by_callee(&before),
        bare_after_ns: by_callee(&after),
    });
    Ok(ran)
}

#[cfg(test)]
mod tests {
    use super::agree;

    #[test]
    fn parts_agree_when_the_last_four_do() {
        assert!(!agree(&[1.0, 1.0, 1.0]));
        assert!(agree(&[9.0, 1.0, 1.04, 1.0, 1.02]));
        assert!(!agree(&[1.0, 1.0, 1.06, 1.0]));
    }
}
