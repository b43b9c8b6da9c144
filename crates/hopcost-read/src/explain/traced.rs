//! The hops of a traced trial, and the typical ones among them.

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
}

impl<'a> Traced<'a> {
    pub fn of(trace: &'a Trace, mut hops: Vec<Hop>) -> Self {
        hops.sort_by_key(|hop| hop.total_ns);
        let [from, to] = TYPICAL.map(|q| rank(hops.len(), q) - 1);
        Self { trace, hops, typical: from..to + 1 }
    }

    /// What one of its events costs, where that is known.
    pub fn event_cost_ns(&self) -> Option<f64> {
        self.trace.event_cost_ns.filter(|cost_ns| cost_ns.is_finite())
    }

    /// The median of its round trips without events.
    pub fn untraced_p50_ns(&self) -> Option<f64> {
        let all_ns = self.trace.untraced_ns.iter().map(|ns| f64::from(*ns));
        median(&all_ns.collect::<Vec<_>>())
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
