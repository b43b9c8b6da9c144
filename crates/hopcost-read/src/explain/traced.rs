//! The hops of a traced trial, and the typical ones among them.

use hopcost_model::case::Role;
use hopcost_model::protocol::{TRACE_CPU, TRACE_OPERATIONS, TRACE_STEAL};
use hopcost_model::raw::RawTrial;
use hopcost_model::results::{Segment, SegmentKind};
use hopcost_model::trace::Trace;
use hopcost_stats::sample::{Sample, median, rank};

use super::cut::{Hop, Part, at};
use super::on_cpu::OnCpu;

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
    /// Of a stream, whose one hop is the CPU time of the whole phase.
    stream: Option<Stream>,
}

/// A traced stream.
struct Stream {
    messages: f64,
    /// Messages that a phase has besides, of which the kernel's account is too.
    uncounted: u64,
    switches: [u64; 2],
}

/// What the kernel counted of each end, where it did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted {
    /// CPU time of its thread in the phase without events, in nanoseconds.
    untraced_ns: [Option<u64>; 2],
    /// Operations of that phase.
    untraced: Option<u64>,
    /// CPU time in the traced phase.
    traced_ns: [Option<u64>; 2],
    /// Steal on both CPUs in that phase.
    pub steal_ns: Option<u64>,
}

impl Counted {
    pub fn of(trial: &RawTrial) -> Self {
        let value = |end: Role, event: &str| {
            let own = trial.ends.iter().find(|own| own.role == end)?;
            own.events.iter().find(|reading| reading.event == event)?.value
        };
        let both = |event: &str| [Role::Caller, Role::Callee].map(|end| value(end, event));
        let [untraced_ns, traced_ns] = TRACE_CPU.map(both);
        let steal = both(TRACE_STEAL).into_iter().flatten().reduce(u64::saturating_add);
        let untraced = value(Role::Caller, TRACE_OPERATIONS);
        Self { untraced_ns, untraced, traced_ns, steal_ns: steal }
    }

    /// CPU time of both ends in the traced phase.
    pub fn cpu_ns(&self) -> Option<u64> {
        let [caller, callee] = self.traced_ns;
        Some(caller?.saturating_add(callee?))
    }
}

impl<'a> Traced<'a> {
    pub fn of(trace: &'a Trace, mut hops: Vec<Hop>, counted: Counted) -> Self {
        hops.sort_by_key(|hop| hop.total_ns);
        let [from, to] = TYPICAL.map(|q| rank(hops.len(), q) - 1);
        Self { trace, hops, typical: from..to + 1, counted, stream: None }
    }

    /// A phase of a stream, which has so many messages that are not counted.
    pub fn of_stream(trace: &'a Trace, sum: OnCpu, uncounted: u64, counted: Counted) -> Self {
        let stream =
            Stream { messages: trace.operations.max(1) as f64, uncounted, switches: sum.switches };
        let stream = Some(stream);
        Self { trace, hops: vec![sum.hop], typical: 0..1, counted, stream }
    }

    /// Hops, or messages of a stream.
    pub fn operations(&self) -> u64 {
        if self.stream.is_some() { self.trace.operations } else { self.hops.len() as u64 }
    }

    fn messages(&self) -> f64 {
        self.stream.as_ref().map_or(1.0, |stream| stream.messages)
    }

    /// Of a stream: switches away from an end, a message.
    pub fn switches(&self, end: Role) -> f64 {
        let all = self.stream.as_ref().map_or(0, |stream| stream.switches[at(end)]);
        all as f64 / self.messages()
    }

    /// Of a stream: the kernel's account of an end, a message, while traced and without events.
    pub fn accounts_ns(&self, end: Role) -> [Option<f64>; 2] {
        let Counted { untraced_ns, untraced, traced_ns, .. } = self.counted;
        let Some(stream) = &self.stream else { return [None; 2] };
        [(traced_ns, Some(self.trace.operations)), (untraced_ns, untraced)].map(|(ns, messages)| {
            let messages = messages?.saturating_add(stream.uncounted).max(1);
            Some(ns[at(end)]? as f64 / messages as f64)
        })
    }

    /// What one of its events costs, where that is known.
    pub fn event_cost_ns(&self) -> Option<f64> {
        self.trace.event_cost_ns.filter(|cost_ns| cost_ns.is_finite())
    }

    /// Of a stream: the kernel's account of both ends, a message, while traced and without events.
    fn accounts_of_both_ns(&self) -> [Option<f64>; 2] {
        let [caller, callee] = [Role::Caller, Role::Callee].map(|end| self.accounts_ns(end));
        [0, 1].map(|phase| Some(caller[phase]? + callee[phase]?))
    }

    /// The median hop as traced; of a stream the kernel's account, which alone can be held against that of
    /// another phase.
    pub fn traced_p50_ns(&self) -> Option<f64> {
        match self.stream {
            Some(_) => self.accounts_of_both_ns()[0],
            None => Some(self.quantile(0.5, |hop| hop.total_ns)),
        }
    }

    /// The same of its operations without events.
    pub fn untraced_p50_ns(&self) -> Option<f64> {
        if self.stream.is_some() {
            return self.accounts_of_both_ns()[1];
        }
        let all_ns = self.trace.untraced_ns.iter().map(|ns| f64::from(*ns));
        median(&all_ns.collect::<Vec<_>>())
    }

    /// The same as traced, less what its events cost.
    pub fn without_events_ns(&self) -> Option<f64> {
        let traced_ns = self.traced_p50_ns()?;
        // Where what events show is nearer to the kernel's account without softirqs and interrupts than with
        // them, it does not count these for the thread that they interrupt (CONFIG_IRQ_TIME_ACCOUNTING).
        let is_apart =
            |of: Segment| matches!(of.kind, SegmentKind::Softirq | SegmentKind::Interrupt);
        let all_ns = self.mean(|hop| hop.total_ns as f64);
        let bare_ns = self.mean(|hop| sum(hop, |of| !is_apart(of), |part| part.ns as f64));
        let counts_all =
            self.stream.is_none() || (all_ns - traced_ns).abs() <= (bare_ns - traced_ns).abs();
        let own = |of: Segment| counts_all || !is_apart(of);
        let events = self.mean(|hop| sum(hop, own, |part| part.events.into()));
        Some(traced_ns - events * self.event_cost_ns()?)
    }

    pub fn typical(&self) -> &[Hop] {
        &self.hops[self.typical.clone()]
    }

    /// A value of its typical hops, mean; of a stream, of a message.
    pub fn mean(&self, of: impl Fn(&Hop) -> f64) -> f64 {
        mean(self.typical(), of) / self.messages()
    }

    /// A quantile of its hops; of a stream, the mean message.
    pub fn quantile(&self, q: f64, of: impl Fn(&Hop) -> u64) -> f64 {
        let values = self.hops.iter().map(|hop| of(hop) as f64 / self.messages()).collect();
        Sample::new(values).map_or(0.0, |sample| sample.quantile(q))
    }
}

/// Of so many things the middle half by a value, from one on. Means over these add up, as medians do not.
pub fn middle_half<T>(mut all: Vec<(f64, T)>) -> Vec<T> {
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n, outside) = (all.len(), all.len() / 4);
    all.into_iter().take(n - outside).skip(outside).map(|(_, one)| one).collect()
}

/// A value of those parts of a hop that count, together.
fn sum(hop: &Hop, counts: impl Fn(Segment) -> bool, of: impl Fn(&Part) -> f64) -> f64 {
    hop.parts.iter().filter(|(segment, _)| counts(**segment)).map(|(_, part)| of(part)).sum()
}

/// What a segment takes in a hop.
pub fn ns(hop: &Hop, segment: Segment) -> u64 {
    hop.parts.get(&segment).map_or(0, |part| part.ns)
}

/// A value of hops, mean.
pub fn mean(hops: &[Hop], of: impl Fn(&Hop) -> f64) -> f64 {
    hops.iter().map(of).sum::<f64>() / hops.len().max(1) as f64
}
