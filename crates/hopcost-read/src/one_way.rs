//! What is particular to a wake-up: the gap that was really slept, and how exactly
//! the clocks of both ends are known to agree; and to a load: how much of its rate was kept, and of what
//! a response is made.

use hopcost_model::{
    Arrivals, Case, EndCounters, Estimate, Rate, RawLoad, RawTrial, Role, Workload, document,
};
use hopcost_stats::sample::{median, rank};

use crate::estimate::over_trials;
use crate::run::Run;
use crate::sums::{Whose, total};
use crate::trial::{InTime, counted, in_time};

document! {
    /// What is particular to a wake-up. Its estimates are one-way times: the
    /// receiver's stamp minus the sender's, with the clocks' offset taken out.
    pub struct WakeResult {
        /// The gap asked for.
        pub gap_asked_ns: u64,
        /// Mean time from one notification to the next: median over trials. The gap
        /// really slept, with what the kernel's timer adds, is in it.
        pub gap_found_ns: Option<f64>,
        /// Largest error that the clocks' offset can put on every number of this
        /// case: the largest over its trials. 0 where both ends read one clock.
        pub clock_bound_ns: Option<f64>,
        /// Offset that was taken out (callee's clock minus caller's): median over trials.
        pub clock_offset_ns: Option<f64>,
        /// Largest change of the offset from before a trial to after it.
        pub clock_moved_ns: Option<f64>,
        /// Share of wake-ups that were deferred because the receiver was not yet
        /// waiting, 0 to 1.
        pub overrun_share: f64,
    }

    /// What is particular to a load. Its estimates are responses: received minus intended,
    /// of the messages that came.
    pub struct LoadResult {
        /// Messages a second that the schedule offers.
        pub rate: Rate,
        /// When they are to be sent.
        pub arrivals: Arrivals,
        /// Messages a second that were received, from the first intended time to the last
        /// receipt.
        pub received_per_s: Estimate,
        /// How long the schedule is over how long it took until the last message was sent and
        /// the last received, 0 to 1: median over trials. 1 where the rate was kept.
        pub achieved: Option<f64>,
        /// Share of the messages offered that did not come, 0 to 1, though the case drops none
        /// of them.
        pub lost_share: f64,
        /// Begin of the send minus intended: how long messages waited for the sender.
        pub lag: LoadQuantiles,
        /// Share of the messages for which the sender was late by itself by more than a tenth of
        /// the typical response: median over trials; `null` if the sender did not report it.
        pub own_late_share: Option<f64>,
        /// Received minus begin of the send.
        pub service: LoadQuantiles,
        /// Largest error that the clocks' offset can put on every response: the largest over
        /// the trials.
        pub clock_bound_ns: Option<f64>,
    }

    /// Quantiles of the messages of all trials together that count; `null` where fewer than ten of
    /// them are beyond.
    pub struct LoadQuantiles {
        /// Median.
        pub p50_ns: Option<f64>,
        /// 99th percentile.
        pub p99_ns: Option<f64>,
        /// 99.9th percentile.
        pub p999_ns: Option<f64>,
    }
}

/// The result of a case's measured trials; `None` unless they are wake-ups.
pub fn wake(run: &Run, case: &Case, trials: &[&RawTrial]) -> Option<WakeResult> {
    if case.workload != Workload::Wake || trials.is_empty() {
        return None;
    }
    let middle = |of: Ticks| median(each_ns(run, trials, of));
    let callers: Vec<&EndCounters> = trials.iter().filter_map(|trial| caller(trial)).collect();
    let overruns = total(callers.iter().map(|end| end.overruns));
    let count = total(callers.iter().map(|end| end.count));
    Some(WakeResult {
        gap_asked_ns: case.gap_ns.unwrap_or(0),
        gap_found_ns: middle(gap_ticks),
        clock_bound_ns: clock_bound_ns(run, trials),
        clock_offset_ns: middle(|trial| Some(trial.gates.first()?.offset_ticks as f64)),
        clock_moved_ns: greatest_ns(run, trials, moved_ticks),
        overrun_share: if count == 0 { 0.0 } else { (overruns as f64 / count as f64).min(1.0) },
    })
}

/// A value in ticks of a trial that has it.
type Ticks = fn(&RawTrial) -> Option<f64>;

/// What trials have in ticks, in nanoseconds.
fn each_ns(run: &Run, trials: &[&RawTrial], of: Ticks) -> Vec<f64> {
    let values = trials.iter().filter_map(|trial| Some(of(trial)? * run.raw.tick_ns(trial)?));
    values.filter(|ns| ns.is_finite()).collect()
}

fn greatest_ns(run: &Run, trials: &[&RawTrial], of: Ticks) -> Option<f64> {
    each_ns(run, trials, of).into_iter().max_by(f64::total_cmp)
}

/// The largest error of one-way times because of the clocks.
pub fn clock_bound_ns(run: &Run, trials: &[&RawTrial]) -> Option<f64> {
    greatest_ns(run, trials, bound_ticks)
}

/// The same of a typical trial: where its CPUs moved apart, a trial's clocks are compared less exactly.
pub fn typical_bound_ns(run: &Run, trials: &[&RawTrial]) -> Option<f64> {
    median(each_ns(run, trials, bound_ticks))
}

fn bound_ticks(trial: &RawTrial) -> Option<f64> {
    let bounds = trial.gates.iter().map(|gate| gate.bound_ticks as f64);
    // A bound that is smaller than what the offset moved by was not one.
    bounds.chain(moved_ticks(trial)).max_by(f64::total_cmp)
}

/// The end that notifies.
fn caller(trial: &RawTrial) -> Option<&EndCounters> {
    trial.ends.iter().find(|end| end.role == Role::Caller)
}

/// Mean ticks from one notification to the next.
fn gap_ticks(trial: &RawTrial) -> Option<f64> {
    let end = caller(trial).filter(|end| end.count > 1)?;
    Some(end.elapsed_ticks as f64 / (end.count - 1) as f64)
}

/// How far the offset was off the first gate's at any later one.
fn moved_ticks(trial: &RawTrial) -> Option<f64> {
    let (first, later) = trial.gates.split_first()?;
    let moved = later.iter().map(|gate| gate.offset_ticks.abs_diff(first.offset_ticks));
    Some(moved.max()? as f64)
}

/// Messages beyond a quantile, without which it is none.
const BEYOND_MIN: f64 = 10.0;

/// The result of a case's measured trials; `None` unless they are loads.
pub fn load(run: &Run, case: &Case, trials: &[&RawTrial]) -> Option<LoadResult> {
    let loads: Vec<(&RawTrial, &RawLoad)> =
        trials.iter().filter_map(|trial| Some((*trial, trial.load.as_ref()?))).collect();
    if case.workload != Workload::Load || loads.is_empty() {
        return None;
    }
    let middle = |of: &dyn Fn(&RawTrial, &RawLoad) -> Option<f64>| {
        let values = loads.iter().filter_map(|(trial, load)| of(trial, load));
        median(values.filter(|value| value.is_finite()))
    };
    let sent: Vec<_> = loads.iter().map(|(of, _)| in_time(of, run.raw.clock(of)?)).collect();
    let of_messages = |ticks: &dyn Fn(&RawTrial, &RawLoad) -> Vec<u64>| {
        let of = |((trial, load), sent): (&(&RawTrial, &RawLoad), &Option<InTime>)| {
            let tick_ns = run.raw.tick_ns(trial)?;
            let ticks = counted(sent.as_ref(), &ticks(trial, load));
            Some(ticks.into_iter().map(move |ticks| ticks as f64 * tick_ns))
        };
        quantiles(loads.iter().zip(&sent).filter_map(of).flatten().collect())
    };
    let less = |all: &[u64], part: &[u64]| -> Vec<u64> {
        all.iter().zip(part).map(|(all, part)| all.saturating_sub(*part)).collect()
    };
    let offered = total(loads.iter().map(|(_, load)| load.offered));
    let delivered = total(loads.iter().map(|(_, load)| load.delivered));
    let share = |n: u64| if offered == 0 { 0.0 } else { (n as f64 / offered as f64).min(1.0) };
    let received_per_s = |(trial, load): &(&RawTrial, &RawLoad)| {
        let took_ns = load.received_ticks as f64 * run.raw.tick_ns(trial)?;
        Some(load.delivered as f64 / took_ns * 1e9).filter(|per_s| per_s.is_finite())
    };
    Some(LoadResult {
        rate: case.rate.unwrap_or_default(),
        arrivals: case.arrivals,
        received_per_s: over_trials(loads.iter().filter_map(received_per_s).collect()),
        achieved: middle(&|_, load| Some(achieved(load))),
        lost_share: share(offered.saturating_sub(delivered)),
        lag: of_messages(&|_, load| load.lags.clone()),
        own_late_share: median(sent.iter().flatten().map(|of| of.late_share)),
        service: of_messages(&|trial, load| less(&trial.samples, &load.lags)),
        clock_bound_ns: clock_bound_ns(run, trials),
    })
}

/// The length of the schedule over the time until the last message was sent and the last one
/// received.
pub fn achieved(load: &RawLoad) -> f64 {
    let until = load.sent_ticks.max(load.received_ticks).max(1);
    (load.intended_ticks as f64 / until as f64).min(1.0)
}

/// The longest times in which a message of a trial was due and its sender did not leave its wait,
/// one was there and none was received, and one was due and none was sent; each with whose doing it
/// may be.
pub fn still_ticks(trial: &RawTrial, load: &RawLoad) -> [(u64, Whose); 3] {
    let mut due = 0u64;
    let messages = trial.samples.iter().zip(&load.lags).zip(&load.gaps);
    let messages = messages.map(|((response, lag), gap)| {
        due = due.saturating_add(*gap);
        (due, due.saturating_add(*lag), due.saturating_add(*response))
    });
    let messages: Vec<(u64, u64, u64)> = messages.collect();
    let longest = |mut steps: Vec<(u64, u64)>| {
        // Several senders' messages overtake each other.
        steps.sort_unstable_by_key(|(_, done)| *done);
        let mut before = 0;
        let steps = steps.into_iter().map(|(from, done)| {
            let began = from.max(std::mem::replace(&mut before, done));
            done.saturating_sub(began)
        });
        steps.max().unwrap_or(0)
    };
    let own = load.own_lags.iter().flatten().copied().max().unwrap_or(0);
    let sent = longest(messages.iter().map(|(due, sent, _)| (*due, *sent)).collect());
    let received = longest(messages.iter().map(|(_, sent, came)| (*sent, *came)).collect());
    [(own, Whose::End(Role::Caller)), (received, Whose::End(Role::Callee)), (sent, Whose::All)]
}

fn is_supported(messages: usize, q: f64) -> bool {
    messages as f64 * (1.0 - q) >= BEYOND_MIN - 1e-6
}

fn quantiles(mut all: Vec<f64>) -> LoadQuantiles {
    all.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| is_supported(all.len(), q).then(|| all[rank(all.len(), q) - 1]);
    LoadQuantiles { p50_ns: at(0.5), p99_ns: at(0.99), p999_ns: at(0.999) }
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Code, Severity, Statistic};
    use hopcost_stats::rng::Rng;

    use crate::testing::{
        Builder, LOAD, TrialBuilder, WAKE, estimate, found, noisy, read, severity,
    };

    #[test]
    fn the_gap_and_the_clocks() {
        let raw = Builder::new()
            .case(WAKE, 7, |round, t| {
                t.wake(&noisy(100, round), 1_001_000 + u64::from(round));
                t.gates(40, 15, 100);
                if round == 3 {
                    t.gates(60, 130, 55);
                    t.raw.ends[0].overruns = 7;
                }
            })
            .build();
        let wake = read(&raw).results[0].wake.clone().unwrap();
        assert_eq!(wake.gap_asked_ns, 1_000_000);
        assert!((wake.gap_found_ns.unwrap() - 1_001_003.0).abs() < 1e-6, "{wake:?}");
        assert_eq!(wake.clock_offset_ns, Some(40.0));
        assert_eq!(wake.clock_moved_ns, Some(130.0));
        assert_eq!(wake.clock_bound_ns, Some(130.0), "no less than an offset moved by");
        assert!((wake.overrun_share - 0.01).abs() < 1e-12);
    }

    #[test]
    fn what_the_clocks_leave_open_is_part_of_the_interval() {
        let of = |bound: u64| {
            let make = |round: u32, t: &mut TrialBuilder| {
                t.wake(&noisy(2_000, round), 1_000_000);
                t.gates(0, 0, bound);
            };
            let raw = Builder::new().baseline(WAKE).case(WAKE, 8, make);
            raw.case(&WAKE.replace("pipe", "futex"), 8, make).read()
        };
        let (exact, bounded) = (of(0), of(100));
        let all =
            [Statistic::P50, Statistic::P99, Statistic::Min, Statistic::Mean, Statistic::Stdev];
        for statistic in all {
            let (exact, bounded) = (estimate(&exact, statistic), estimate(&bounded, statistic));
            assert_eq!(exact.point, bounded.point);
            assert_eq!(exact.low.map(|ns| ns - 100.0), bounded.low, "{statistic:?}");
            assert_eq!(exact.high.map(|ns| ns + 100.0), bounded.high, "{statistic:?}");
        }
        assert_eq!(estimate(&of(5_000), Statistic::P50).low, Some(0.0), "no time is negative");
        let ratio = |results: &crate::results::Results| results.results[1].ratio.clone().unwrap();
        let (exact, bounded) = (ratio(&exact), ratio(&bounded));
        assert!(bounded.low < exact.low && bounded.high > exact.high, "{bounded:?} {exact:?}");
        assert!((bounded.high.unwrap() - exact.high.unwrap() * (31.0 / 29.0)).abs() < 0.01);
    }

    #[test]
    fn a_wake_up_has_its_own_statistics() {
        let make = |round: u32, t: &mut TrialBuilder| t.wake(&noisy(100, round), 9);
        let many = Builder::new().case(WAKE, 8, make).read();
        let p95 = estimate(&many, Statistic::P95);
        assert!(p95.pooled && p95.point.is_some(), "100 samples are too few for a p95: {p95:?}");
        let stdev = estimate(&many, Statistic::Stdev);
        assert!(stdev.low < stdev.point && stdev.point < stdev.high, "{stdev:?}");
        assert!(stdev.pooled && estimate(&many, Statistic::Mean).pooled);
        assert_eq!(estimate(&many, Statistic::P99).point, None, "800 samples are too few");
    }

    fn run(make: impl Fn(u32, &mut TrialBuilder)) -> crate::results::Results {
        read(&Builder::new().case(LOAD, 8, make).build())
    }

    #[test]
    fn more_may_be_lost_than_comes() {
        let results = run(|_, t| {
            t.load(&vec![100; 1000], 2_000);
            let raw = &mut t.raw;
            raw.samples.truncate(300);
            (raw.samples_taken, raw.operations) = (300, 300);
            let load = raw.load.as_mut().unwrap();
            (load.delivered, load.lags, load.own_lags) = (300, vec![100; 300], None);
            (raw.ends[1].count, raw.ends[1].lost) = (300, 700);
        });
        let case = &results.results[0];
        assert_eq!((case.n_failed, case.load.as_ref().map(|of| of.lost_share)), (0, Some(0.7)));
    }

    #[test]
    fn a_response_is_what_the_message_waited_and_what_the_channel_took() {
        // Nine of ten wait 100 ns, one 10,000; the channel takes 2,000.
        let lags: Vec<u32> = (0..1000).map(|i| if i % 10 == 0 { 10_000 } else { 100 }).collect();
        let results = run(|_, t| t.load(&lags, 2_000));
        let load = results.results[0].load.clone().unwrap();
        assert_eq!((load.lag.p50_ns, load.lag.p99_ns), (Some(100.0), Some(10_000.0)));
        assert_eq!((load.service.p50_ns, load.service.p99_ns), (Some(2_000.0), Some(2_000.0)));
        assert_eq!(load.own_late_share, Some(0.0));
        let estimates = results.results[0].estimates.as_ref().unwrap();
        assert_eq!(estimates.headline_ns(), Some(2_100.0));
        assert_eq!(load.lost_share, 0.0);
        // The last message came 2,000 ns after the schedule of 100 ms had ended.
        assert_eq!(load.achieved, Some(1e8 / (1e8 + 2e3)));
        assert!((load.received_per_s.point.unwrap() - 10_000.0).abs() < 1.0, "{load:?}");
    }

    #[test]
    fn a_rate_that_was_missed_and_a_loss_make_a_load_invalid() {
        let with = |bad: u32, change: fn(&mut TrialBuilder)| {
            run(move |round, t| {
                t.load(&[100; 1000], 2_000);
                if round < bad {
                    change(t);
                }
            })
        };
        let missed = |t: &mut TrialBuilder| {
            let load = t.raw.load.as_mut().unwrap();
            load.sent_ticks = load.intended_ticks * 102 / 100;
        };
        assert_eq!(severity(&with(0, missed), Code::RateMissed), None);
        assert_eq!(severity(&with(1, missed), Code::RateMissed), Some(Severity::Note));
        assert_eq!(severity(&with(2, missed), Code::RateMissed), Some(Severity::Suspect));
        assert_eq!(severity(&with(4, missed), Code::RateMissed), Some(Severity::Invalid));
        let untold = |t: &mut TrialBuilder| t.raw.load.as_mut().unwrap().own_lags = None;
        let results = with(8, untold);
        assert_eq!(found(&results, Code::GeneratorLate), None);
        let load = results.results[0].load.as_ref().unwrap();
        assert_eq!(load.own_late_share, None);
        let lost = |t: &mut TrialBuilder| {
            t.raw.load.as_mut().unwrap().delivered -= 1;
            t.raw.ends[1].lost = 1;
        };
        assert_eq!(severity(&with(1, lost), Code::Lost), Some(Severity::Invalid));
    }

    #[test]
    fn messages_that_a_sender_sent_late_are_left_out_and_too_many_make_a_load_invalid() {
        // `late` of 2000 messages take 9,000 ns instead of 2,000, and their sender was late by `own` ns.
        let of = |late: usize, own: u64| {
            let results = run(move |_, t| {
                let lag = |at| if at < late { 7_300 } else { 300 };
                t.load(&(0..2000).map(lag).collect::<Vec<u32>>(), 1_700);
                t.raw.load.as_mut().unwrap().own_lags.as_mut().unwrap()[..late].fill(own);
            });
            let case = &results.results[0];
            let p99 = case.estimates.as_ref().unwrap().get(Statistic::P99).unwrap().point;
            let lag_p99 = case.load.as_ref().unwrap().lag.p99_ns;
            (severity(&results, Code::GeneratorLate), p99, lag_p99)
        };
        let (note, short, long) = (Some(Severity::Note), Some(2_000.0), Some(9_000.0));
        assert_eq!(of(100, 201), (note, short, Some(300.0)), "left out");
        assert_eq!(
            of(101, 201),
            (Some(Severity::Invalid), long, Some(7_300.0)),
            "5 % are too many"
        );
        assert_eq!(of(100, 200), (None, long, Some(7_300.0)), "a tenth of the median is in time");
        assert_eq!(of(20, 201), (None, short, Some(300.0)), "1 % is not worth a note");
        let untold = |alone: u64| {
            run(move |_, t| {
                t.load(&[300; 1000], 1_700);
                let load = t.raw.load.as_mut().unwrap();
                (load.own_lags, load.generator_lag_p99_ticks) = (None, alone);
            })
        };
        let found = [201, 200].map(|alone| severity(&untold(alone), Code::GeneratorLate));
        assert_eq!(found, [Some(Severity::Suspect), None]);
    }

    #[test]
    fn how_trials_of_loads_depend_on_each_other_is_estimated_from_all_of_them() {
        let cases = (1..=8).map(|rate| LOAD.replace("rate=10000", &format!("rate={rate}0000")));
        let builder = cases.fold(Builder::new().yardstick(), |builder, id| {
            let seed =
                100 * id.len() as u64 + u64::from(id.as_bytes()[id.find("rate=").unwrap() + 5]);
            builder.case(&id, 9, move |round, t| {
                let noise = libm::exp(0.05 * Rng::new(1000 * seed + u64::from(round)).normal());
                t.load(&vec![(2_000.0 * noise) as u32; 2000], 0);
            })
        });
        let mut raw = builder.build();
        raw.trials.iter_mut().for_each(|trial| trial.started_ns *= 10);
        for case in read(&raw).results {
            let p50 = case.shown().unwrap();
            // With the dependence of its own nine trials the widest is far wider.
            let wide = p50.high.unwrap() / p50.low.unwrap();
            assert!((1.03..1.35).contains(&wide), "{} {p50:?}", case.id);
        }
    }
}
