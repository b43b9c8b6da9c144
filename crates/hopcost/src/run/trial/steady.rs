//! Runtimes that compile while they run are warmed up until nothing changes any more.

use std::time::{Duration, Instant};

use hopcost_model::protocol::{Phase, Stamp};

use super::spec::Failure;
use super::workers::TrialWorkers;
use crate::run::pace::Pace;

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
