//! How late the sender of a load was by itself, and which of its messages count.

use hopcost_model::protocol::ClockReading;
use hopcost_model::raw::{RawLoad, RawTrial};
use hopcost_stats::sample::rank;

/// Share of the response's p99 that the sender may be late by itself, and of the typical response that it
/// may be for a message that counts.
pub const LAG_MAX: f64 = 0.10;
/// A sender that reads its clock in a loop leaves it at most this many readings late.
const STAMPS: f64 = 4.0;
/// The most of a trial's messages that are left out.
pub const LEFT_OUT_MAX: f64 = 0.05;

/// How late the sender of a trial was without the channel, p99: over the p99 of the responses.
pub fn late_alone(trial: &RawTrial, load: &RawLoad) -> Option<f64> {
    Some(load.generator_lag_p99_ticks as f64 / response(trial, 0.99)?.max(1) as f64)
}

fn response(trial: &RawTrial, q: f64) -> Option<u64> {
    let mut responses = trial.samples.clone();
    let at = rank(responses.len(), q).checked_sub(1)?;
    Some(*responses.select_nth_unstable(at).1)
}

/// Which messages of a trial the sender sent in time, as far as it left its waits in time.
pub struct InTime {
    sent: Vec<bool>,
    /// The share of the others.
    pub late_share: f64,
}

/// The same of this trial; `None` where its sender does not report when it left its waits.
pub fn in_time(trial: &RawTrial, clock: &ClockReading) -> Option<InTime> {
    let own = trial.load.as_ref()?.own_lags.as_ref().filter(|own| !own.is_empty())?;
    let few_stamps = STAMPS * clock.stamp_p50_ns * clock.ticks_per_second / 1e9;
    let limit = few_stamps.max(LAG_MAX * response(trial, 0.5)? as f64);
    let sent: Vec<bool> = own.iter().map(|own| *own as f64 <= limit).collect();
    let late = sent.iter().filter(|in_time| !**in_time).count();
    Some(InTime { late_share: late as f64 / sent.len() as f64, sent })
}

/// These values of a trial's messages without those of messages that the sender by itself sent late: they
/// say nothing of the channel. All of them where more are late than may be left out.
pub fn counted(in_time: Option<&InTime>, of_messages: &[u64]) -> Vec<u64> {
    match in_time {
        Some(of) if of.late_share <= LEFT_OUT_MAX => {
            let counts = |(at, _): &(usize, &u64)| of.sent.get(*at) != Some(&false);
            of_messages.iter().enumerate().filter(counts).map(|(_, ticks)| *ticks).collect()
        }
        _ => of_messages.to_vec(),
    }
}
