//! The hops of a traced trial, and the typical ones among them.

use hopcost_model::case::Role;
use hopcost_model::protocol::{TRACE_CPU, TRACE_STEAL};
use hopcost_model::raw::RawTrial;
use hopcost_model::results::Segment;
use hopcost_model::trace::Trace;
use hopcost_stats::sample::{Sample, median, rank};

use super::cut::Hop;

/// A typical hop is one of the middle fifth by length.
const TYPICAL: [f64; 2] = [0.4, 0.6];

/// A traced trial.
pub struct Traced<'a> {
    pub trace: &'a Trace,
    /// Its hops, the shortest first.
    pub hops: Vec<Hop>,
    /// The typical ones among them.
    typical: std::ops::Range<usize>,
    /// What the kernel counted beside the phase.
    pub counted: Counted,
}

/// What the kernel counted in the traced phase, where it did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// CPU time of both ends.
    pub cpu_ns: Option<u64>,
    /// Steal on both CPUs.
    pub steal_ns: Option<u64>,
}

impl Counted {
    pub fn of(trial: &RawTrial) -> Self {
        let both = |event: &str| {
            [Role::Caller, Role::Callee].map(|end| {
                let own = trial.ends.iter().find(|own| own.role == end)?;
                own.events.iter().find(|reading| reading.event == event)?.value
            })
        };
        let [caller, callee] = both(TRACE_CPU);
        Self {
            cpu_ns: caller.zip(callee).map(|(caller, callee)| caller.saturating_add(callee)),
            steal_ns: both(TRACE_STEAL).into_iter().flatten().reduce(u64::saturating_add),
        }
    }
}

impl<'a> Traced<'a> {
    pub fn of(trace: &'a Trace, mut hops: Vec<Hop>, counted: Counted) -> Self {
        hops.sort_by_key(|hop| hop.total_ns);
        let [from, to] = TYPICAL.map(|q| rank(hops.len(), q) - 1);
        Self { trace, hops, typical: from..to + 1, counted }
    }

    /// What one of its events costs, where that is known.
    pub fn event_cost_ns(&self) -> Option<f64> {
        self.trace.event_cost_ns.filter(|cost_ns| cost_ns.is_finite())
    }

    /// The median hop as traced.
    pub fn traced_p50_ns(&self) -> f64 {
        self.quantile(0.5, |hop| hop.total_ns)
    }

    /// The same of its operations without events.
    pub fn untraced_p50_ns(&self) -> Option<f64> {
        let all_ns = self.trace.untraced_ns.iter().map(|ns| f64::from(*ns));
        median(&all_ns.collect::<Vec<_>>())
    }

    /// The same as traced, less what its events cost.
    pub fn without_events_ns(&self) -> Option<f64> {
        let events = |hop: &Hop| hop.parts.values().map(|part| part.events).sum::<u32>().into();
        Some(self.traced_p50_ns() - self.mean(events) * self.event_cost_ns()?)
    }

    pub fn typical(&self) -> &[Hop] {
        &self.hops[self.typical.clone()]
    }

    /// A value of its typical hops, mean.
    pub fn mean(&self, of: impl Fn(&Hop) -> f64) -> f64 {
        mean(self.typical(), of)
    }

    /// A quantile of its hops.
    pub fn quantile(&self, q: f64, of: impl Fn(&Hop) -> u64) -> f64 {
        let values = self.hops.iter().map(|hop| of(hop) as f64).collect();
        Sample::new(values).map_or(0.0, |sample| sample.quantile(q))
    }
}

/// Of so many things the middle half by a value, from one on. Means over these add up, as medians do not.
pub fn middle_half<T>(mut all: Vec<(f64, T)>) -> Vec<T> {
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n, outside) = (all.len(), all.len() / 4);
    all.into_iter().take(n - outside).skip(outside).map(|(_, one)| one).collect()
}

/// What a segment takes in a hop.
pub fn ns(hop: &Hop, segment: Segment) -> u64 {
    hop.parts.get(&segment).map_or(0, |part| part.ns)
}

/// A value of hops, mean.
pub fn mean(hops: &[Hop], of: impl Fn(&Hop) -> f64) -> f64 {
    hops.iter().map(of).sum::<f64>() / hops.len().max(1) as f64
}
