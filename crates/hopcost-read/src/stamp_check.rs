//! The same exchanges by two clocks: what their end points leave open.

use hopcost_model::raw::RawTrial;
use hopcost_stats::sample::median;

use crate::run::Run;
use crate::sums::lost;

/// The exchanges of a measured phase as both ends timed them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spans {
    /// By the callee's clock, from its first message to its last.
    pub by_callee_ns: f64,
    /// The same span by the caller's clock, at most: all of its exchanges.
    pub caller_most_ns: f64,
    /// At least: without its first and its last exchange, somewhere within which the
    /// callee's span begins and ends.
    pub caller_least_ns: f64,
    /// Most likely: a message comes halfway through a typical exchange. An end may be far
    /// longer than that; the last answer lets the other end of one CPU clear away first.
    pub caller_likely_ns: f64,
}

impl Spans {
    /// Those of a trial; `None` without a check, or where an exchange was lost, whose
    /// time no sample has.
    pub fn of(run: &Run, trial: &RawTrial) -> Option<Self> {
        let check = trial.stamp_check.filter(|c| c.exchanges > 0 && c.stamped_ns > 0.0)?;
        let tick_ns = 1e9 / run.raw.clock(trial)?.ticks_per_second;
        let exchanges = check.exchanges as f64;
        // The caller's time is stored scaled to as many exchanges as the callee's has.
        let all_ns = check.stamped_by_caller_ns * (exchanges + 1.0) / exchanges;
        // Of samples that were thinned at random the ends are not known to be there.
        let whole = trial.samples.len() as u64 == trial.samples_taken;
        let ends = trial.samples.first().zip(trial.samples.last()).filter(|_| whole);
        let ends_ticks = match ends {
            Some((first, last)) => *first as f64 + *last as f64,
            None => 2.0 * trial.samples_max_ticks as f64,
        };
        let ticks: Vec<f64> = trial.samples.iter().map(|ticks| *ticks as f64).collect();
        let typical_ticks = median(&ticks)?.min(ends_ticks);
        (lost(trial) == 0 && all_ns.is_finite() && ends_ticks.is_finite()).then_some(Self {
            by_callee_ns: check.stamped_ns,
            caller_most_ns: all_ns,
            caller_least_ns: all_ns - ends_ticks * tick_ns,
            caller_likely_ns: all_ns - (ends_ticks - typical_ticks) * tick_ns,
        })
    }

    /// The caller's clock over the callee's less one, the end points being where they most
    /// likely are.
    pub fn disagreement(self) -> f64 {
        self.caller_likely_ns / self.by_callee_ns - 1.0
    }

    /// Whether the clocks run apart by more than this share, wherever the end points are.
    pub fn are_apart(self, share: f64) -> bool {
        let allowed = share * self.by_callee_ns;
        self.by_callee_ns > self.caller_most_ns + allowed
            || self.by_callee_ns < self.caller_least_ns - allowed
    }
}

#[cfg(test)]
mod tests {
    use hopcost_model::raw::{RawRun, StampCheck};

    use super::*;
    use crate::testing::{Builder, MECHANISMS, PIPE};

    fn spans(change: impl Fn(&mut RawTrial)) -> Option<Spans> {
        let mut raw: RawRun = Builder::new()
            .case(&format!("{PIPE}&runtime=python:rust"), 1, |_, t| {
                let mut samples = vec![1000; 100];
                (samples[0], samples[99]) = (40_000, 2000);
                t.each(&samples);
                // 140 µs in all, of which 99 of 100 exchanges are stored.
                t.raw.stamp_check = Some(StampCheck {
                    exchanges: 99,
                    stamped_ns: 100_000.0,
                    stamped_by_caller_ns: 140_000.0 * 0.99,
                    bare_before_ns: 1.0,
                    bare_after_ns: 1.0,
                });
            })
            .build();
        change(&mut raw.trials[0]);
        Spans::of(&Run::new(&raw, &MECHANISMS), &raw.trials[0])
    }

    #[test]
    fn the_first_exchange_and_the_last_may_be_long() {
        let found = spans(|_| ()).unwrap();
        assert!((found.caller_most_ns - 140_000.0).abs() < 1e-6, "{found:?}");
        assert!((found.caller_least_ns - 98_000.0).abs() < 1e-6);
        assert!((found.disagreement() + 0.01).abs() < 1e-9, "98 µs and 1 µs of the two ends");
        assert!(!found.are_apart(0.0));
        let of = |ns: f64| Spans { by_callee_ns: ns, ..found }.are_apart(0.01);
        assert_eq!([97_200.0, 97_000.0, 141_400.0, 141_500.0].map(of), [false, true, false, true]);
    }

    #[test]
    fn what_is_not_known_is_allowed_for() {
        let thinned = spans(|trial| trial.samples_taken = 500).unwrap();
        assert!((thinned.caller_least_ns - 60_000.0).abs() < 1e-6, "twice the longest");
        assert_eq!(spans(|trial| trial.ends[0].lost = 1), None);
        assert_eq!(spans(|trial| trial.stamp_check = None), None);
    }
}
