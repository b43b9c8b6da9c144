//! What is particular to a load: how much of its rate was kept, and of what a response is made.

use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::raw::{RawLoad, RawTrial};
use hopcost_model::results::{LoadQuantiles, LoadResult};
use hopcost_stats::sample::{median, rank};

use crate::estimate::over_trials;
use crate::run::Run;
use crate::sums::total;
use crate::wake;

/// Share of the response's p99 that the sender may be late by itself.
pub const LAG_MAX: f64 = 0.10;
/// Messages beyond a quantile, without which it is none.
const BEYOND_MIN: f64 = 10.0;

/// The result of a case's measured trials; `None` unless they are loads.
pub fn result(run: &Run, case: &Case, trials: &[&RawTrial]) -> Option<LoadResult> {
    let loads: Vec<(&RawTrial, &RawLoad)> =
        trials.iter().filter_map(|trial| Some((*trial, trial.load.as_ref()?))).collect();
    if case.workload != Workload::Load || loads.is_empty() {
        return None;
    }
    let tick_ns = |trial: &RawTrial| run.raw.clock(trial).map(|clock| 1e9 / clock.ticks_per_second);
    let middle = |of: &dyn Fn(&RawTrial, &RawLoad) -> Option<f64>| {
        let values = loads.iter().filter_map(|(trial, load)| of(trial, load));
        median(&values.filter(|value| value.is_finite()).collect::<Vec<_>>())
    };
    let of_messages = |ticks: &dyn Fn(&RawTrial, &RawLoad) -> Vec<u32>| {
        let of = |(trial, load): &(&RawTrial, &RawLoad)| {
            let tick_ns = tick_ns(trial)?;
            Some(ticks(trial, load).into_iter().map(move |ticks| f64::from(ticks) * tick_ns))
        };
        quantiles(loads.iter().filter_map(of).flatten().collect())
    };
    let less = |all: &[u32], part: &[u32]| -> Vec<u32> {
        all.iter().zip(part).map(|(all, part)| all.saturating_sub(*part)).collect()
    };
    let offered = total(loads.iter().map(|(_, load)| load.offered));
    let delivered = total(loads.iter().map(|(_, load)| load.delivered));
    let dropped = total(loads.iter().map(|(trial, load)| dropped(trial, load)));
    let share = |n: u64| if offered == 0 { 0.0 } else { (n as f64 / offered as f64).min(1.0) };
    let received_per_s = |trial: &RawTrial, load: &RawLoad| {
        let per_s = load.delivered as f64 / (load.received_ticks as f64 * tick_ns(trial)?) * 1e9;
        Some(per_s).filter(|per_s| per_s.is_finite())
    };
    Some(LoadResult {
        rate: case.rate.unwrap_or(0),
        arrivals: case.arrivals,
        received_per_s: over_trials(
            loads.iter().filter_map(|(trial, load)| received_per_s(trial, load)).collect(),
            "median over trials of the messages received a second".to_owned(),
        ),
        achieved: middle(&|_, load| Some(achieved(load))),
        lost_share: share(offered.saturating_sub(delivered).saturating_sub(dropped)),
        dropped_share: share(dropped),
        lag: of_messages(&|_, load| load.lags.clone()),
        own_lag: of_messages(&|_, load| load.own_lags.clone().unwrap_or_default()),
        held_lag: of_messages(&|_, load| {
            load.own_lags.as_ref().map_or(Vec::new(), |own| less(&load.lags, own))
        }),
        own_late_share: middle(&|trial, load| lateness(trial, load)?.measured),
        service: of_messages(&|trial, load| less(&trial.samples, &load.lags)),
        generator_lag_p99_ns: middle(&|trial, load| {
            Some(load.generator_lag_p99_ticks as f64 * tick_ns(trial)?)
        }),
        clock_bound_ns: wake::clock_bound_ns(run, trials),
    })
}

/// The length of the schedule over the time until the last message was sent and the last one
/// received.
pub fn achieved(load: &RawLoad) -> f64 {
    let until = load.sent_ticks.max(load.received_ticks).max(1);
    (load.intended_ticks as f64 / until as f64).min(1.0)
}

/// How late the sender of a trial was by itself.
pub struct Lateness {
    /// Without the channel, p99: over the p99 of the responses.
    pub alone: f64,
    /// While it was measured: share of the messages, those late by more than [`LAG_MAX`] of the
    /// responses' p99. None where the sender did not tell.
    pub measured: Option<f64>,
}

/// The same of this one; none of a trial without responses.
pub fn lateness(trial: &RawTrial, load: &RawLoad) -> Option<Lateness> {
    let mut responses = trial.samples.clone();
    responses.sort_unstable();
    let p99 = responses.get(rank(responses.len(), 0.99).checked_sub(1)?)?;
    let p99 = f64::from((*p99).max(1));
    let is_late = |own: &&u32| f64::from(**own) > LAG_MAX * p99;
    let share = |own: &Vec<u32>| own.iter().filter(is_late).count() as f64 / own.len() as f64;
    Some(Lateness {
        alone: load.generator_lag_p99_ticks as f64 / p99,
        measured: load.own_lags.as_ref().filter(|own| !own.is_empty()).map(share),
    })
}

/// Messages that the sender did not send, or the receiver threw away, because the case says so.
fn dropped(trial: &RawTrial, load: &RawLoad) -> u64 {
    let of = |role| trial.ends.iter().filter(move |end| end.role == role);
    let unsent = load.offered.saturating_sub(total(of(Role::Caller).map(|end| end.count)));
    unsent.saturating_add(total(of(Role::Callee).map(|end| end.overruns)))
}

fn quantiles(mut all: Vec<f64>) -> LoadQuantiles {
    all.sort_unstable_by(f64::total_cmp);
    let at = |q: f64| {
        let supported = all.len() as f64 * (1.0 - q) >= BEYOND_MIN - 1e-6;
        supported.then(|| all[rank(all.len(), q) - 1])
    };
    LoadQuantiles { p50_ns: at(0.5), p99_ns: at(0.99), p999_ns: at(0.999) }
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, TrialBuilder, read};

    const LOAD: &str = "load/pipe?payload=64&rate=10000&boundary=process&place=same-llc&wait=block";

    fn run(make: impl Fn(u32, &mut TrialBuilder)) -> hopcost_model::results::Results {
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
        assert_eq!((load.own_lag.p99_ns, load.held_lag.p99_ns), (Some(0.0), Some(10_000.0)));
        assert_eq!(load.own_late_share, Some(0.0));
        let estimates = results.results[0].estimates.as_ref().unwrap();
        assert_eq!(estimates.headline_ns(), Some(2_100.0));
        assert_eq!((load.lost_share, load.dropped_share), (0.0, 0.0));
        // The last message came 2,000 ns after the schedule of 100 ms had ended.
        assert_eq!(load.achieved, Some(1e8 / (1e8 + 2e3)));
        assert!((load.received_per_s.point.unwrap() - 10_000.0).abs() < 1.0, "{load:?}");
    }

    fn severity(make: impl Fn(u32, &mut TrialBuilder), code: Code) -> Option<Severity> {
        run(make).findings.iter().find(|found| found.code == code).map(|found| found.severity)
    }

    #[test]
    fn a_rate_that_was_missed_a_late_generator_and_a_loss_make_a_load_invalid() {
        let with = |bad: u32, change: fn(&mut TrialBuilder)| {
            move |round: u32, t: &mut TrialBuilder| {
                t.load(&[100; 1000], 2_000);
                if round < bad {
                    change(t);
                }
            }
        };
        let missed = |t: &mut TrialBuilder| {
            let load = t.raw.load.as_mut().unwrap();
            load.sent_ticks = load.intended_ticks * 102 / 100;
        };
        assert_eq!(severity(with(0, missed), Code::RateMissed), None);
        assert_eq!(severity(with(1, missed), Code::RateMissed), Some(Severity::Note));
        assert_eq!(severity(with(2, missed), Code::RateMissed), Some(Severity::Suspect));
        assert_eq!(severity(with(4, missed), Code::RateMissed), Some(Severity::Invalid));
        let late = |t: &mut TrialBuilder| {
            t.raw.load.as_mut().unwrap().generator_lag_p99_ticks = 211;
        };
        assert_eq!(severity(with(8, late), Code::GeneratorLate), Some(Severity::Invalid));
        let exact = |t: &mut TrialBuilder| {
            t.raw.load.as_mut().unwrap().generator_lag_p99_ticks = 209;
        };
        assert_eq!(severity(with(8, exact), Code::GeneratorLate), None);
        // 10 of 1000 are not more than 1 %.
        let own = |messages: usize, ticks: u32| {
            move |round: u32, t: &mut TrialBuilder| {
                t.load(&[300; 1000], 2_000);
                let own = t.raw.load.as_mut().unwrap().own_lags.as_mut().unwrap();
                own[..if round < 4 { messages } else { 0 }].fill(ticks);
            }
        };
        assert_eq!(severity(own(11, 231), Code::GeneratorLate), Some(Severity::Invalid));
        assert_eq!(severity(own(10, 231), Code::GeneratorLate), None);
        assert_eq!(severity(own(11, 230), Code::GeneratorLate), None);
        let untold = |t: &mut TrialBuilder| t.raw.load.as_mut().unwrap().own_lags = None;
        assert_eq!(severity(with(8, untold), Code::GeneratorLate), None);
        let results = run(with(8, untold));
        let load = results.results[0].load.as_ref().unwrap();
        assert_eq!(
            (load.own_late_share, load.own_lag.p50_ns, load.held_lag.p50_ns),
            (None, None, None)
        );
        let lost = |t: &mut TrialBuilder| {
            t.raw.load.as_mut().unwrap().delivered -= 1;
            t.raw.ends[1].lost = 1;
        };
        assert_eq!(severity(with(1, lost), Code::Lost), Some(Severity::Invalid));
    }
}
