//! Throughput of one trial, by the receivers' clock.

use hopcost_model::case::Role;
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::RawTrial;
use hopcost_stats::sample::median;

use crate::sums::total;

/// What a trial of a stream moved in which time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Bits of all flows over the time from the first byte of any to the last byte
    /// of any.
    pub aggregate_gbps: f64,
    /// Bits of a flow over its own time: median over flows.
    pub per_flow_gbps: f64,
    /// Messages of all flows over the same time as `aggregate_gbps`.
    pub messages_per_s: f64,
    /// Its inverse, in nanoseconds.
    pub ns_per_message: f64,
    /// Mean number of messages of a flow in flight, by Little's law: messages a
    /// second at the senders times their mean latency. Absent without latencies.
    pub little_outstanding: Option<f64>,
}

/// The rates of a trial; `None` unless each receiver says what it got and when.
pub fn rates(raw: &RawTrial, ticks_per_second: f64) -> Option<Rates> {
    let of = |role: Role| raw.ends.iter().filter(move |end| end.role == role);
    let callees: Vec<&EndCounters> = of(Role::Callee).collect();
    let stamped = |end: &&EndCounters| end.first_tick > 0 && end.elapsed_ticks > 0 && end.bytes > 0;
    if callees.is_empty() || !callees.iter().all(stamped) || raw.operations == 0 {
        return None;
    }
    let tick_ns = 1e9 / ticks_per_second;
    let first = callees.iter().map(|end| end.first_tick).min()?;
    let last = callees.iter().map(|end| end.first_tick.saturating_add(end.elapsed_ticks)).max()?;
    let span_ns = (last - first) as f64 * tick_ns;
    let bytes = total(callees.iter().map(|end| end.bytes)) as f64;
    // Bits per nanosecond are gigabits (10⁹ bits) per second.
    let of_flow =
        |end: &&EndCounters| end.bytes as f64 * 8.0 / (end.elapsed_ticks as f64 * tick_ns);
    let messages = raw.operations as f64;
    let found = Rates {
        aggregate_gbps: bytes * 8.0 / span_ns,
        per_flow_gbps: median(callees.iter().map(of_flow))?,
        messages_per_s: messages / span_ns * 1e9,
        ns_per_message: span_ns / messages,
        little_outstanding: little(raw, &of(Role::Caller).collect::<Vec<_>>()),
    };
    let finite = [found.aggregate_gbps, found.messages_per_s, found.ns_per_message];
    finite.iter().all(|value| value.is_finite() && *value > 0.0).then_some(found)
}

/// Messages of all flows over the sum of their times, times the mean latency: what the flows had
/// in flight, weighted by their times. The mean of the flows' own rates would not do, because a
/// slow flow's rate counts as much as a fast one's and its latencies are longer.
fn little(raw: &RawTrial, callers: &[&EndCounters]) -> Option<f64> {
    if raw.samples.is_empty() || callers.iter().any(|end| end.elapsed_ticks == 0) {
        return None;
    }
    let messages = total(callers.iter().map(|end| end.count)) as f64;
    let elapsed = total(callers.iter().map(|end| end.elapsed_ticks)) as f64;
    let latency = raw.samples.iter().map(|t| *t as f64).sum::<f64>() / raw.samples.len() as f64;
    (!callers.is_empty()).then(|| messages / elapsed * latency)
}
