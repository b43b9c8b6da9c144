//! Where the time of a hop goes, by the traced phases of a run.

mod cut;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{Case, Contrast, Estimate, Leg, RawRun, Role, Segment, Trace, document};
use hopcost_stats::sample::{Sample, median, rank};

use crate::estimate::over_trials;
use crate::ratio::contrasts;
use cut::{Cut, Hop, cut};

document! {
    /// Where the time of a hop goes, of each case that was traced.
    #[derive(Default)]
    pub struct Explanation {
        /// The cases that were traced, in the order of the plan.
        pub cases: Vec<ExplainedCase>,
        /// The second case beside the first, by the median operations without events; absent of one case.
        pub untraced: Option<Contrast>,
        /// The segments of two cases, in the order of a hop.
        pub compared: Vec<ComparedSegment>,
    }

    /// A segment of two cases.
    pub struct ComparedSegment {
        /// Which.
        pub segment: Segment,
        /// What it takes, with its events, in the second case beside the first; `null` unless both have it.
        pub contrast: Option<Contrast>,
    }

    /// The segments of a case's round trips, or of its ways forth where the callee stamps. What is *typical* is a mean over the middle fifth of a trial's
    /// hops by their length: there the segments add up to the whole.
    pub struct ExplainedCase {
        /// Its id.
        pub case: String,
        /// Hops of all trials that were cut into segments.
        pub hops: u64,
        /// Those that were not, and why.
        pub left_out: Vec<LeftOutHops>,
        /// A typical hop, in nanoseconds.
        pub total_ns: Estimate,
        /// The median hop as traced.
        pub traced_p50_ns: Estimate,
        /// The same without events, in the phase right before.
        pub untraced_p50_ns: Estimate,
        /// Events of a hop, mean.
        pub events: f64,
        /// What one of them costs; `null` where it could not be measured.
        pub event_cost_ns: Option<f64>,
        /// The median hop as traced less what its events cost; without a point where that is not known.
        pub without_events_ns: Estimate,
        /// By how much that is off the median of hops without events, as a share of it.
        pub off: Option<f64>,
        /// How far events and stamps can be apart.
        pub clock_bound_ns: u64,
        /// Tracepoints that this kernel does not have.
        pub missing: Vec<String>,
        /// The segments, as they follow each other in a typical hop.
        pub segments: Vec<ExplainedSegment>,
    }

    /// Hops that were not cut into segments.
    pub struct LeftOutHops {
        /// Why.
        pub reason: String,
        /// How many.
        pub hops: u64,
    }

    /// A segment of a case's hops.
    pub struct ExplainedSegment {
        /// Which.
        pub segment: Segment,
        /// Of a typical hop: median over trials, with its interval; without a point where most typical hops do not
        /// have it and it is less than a hundredth of them.
        pub typical_ns: Estimate,
        /// Share of a typical hop, 0 to 1.
        pub share: f64,
        /// Median over the hops of a trial, median over trials; 0 where most hops do not have it.
        pub p50_ns: f64,
        /// The 99th percentile likewise.
        pub p99_ns: f64,
        /// Events within it, mean of typical hops: each costs `event_cost_ns` of it.
        pub events: f64,
        /// `typical_ns` less what they cost: below 0 where they cost more than it took. `null` unless these
        /// add up to a hop without events: `off` is 10 % at most.
        pub without_events_ns: Option<f64>,
    }
}

/// A typical hop is one of the middle fifth by length.
const TYPICAL: [f64; 2] = [0.4, 0.6];
/// Segments less their events may be off a hop without events by this share of it.
const OFF_MAX: f64 = 0.1;

/// A case that was traced.
struct Known<'a> {
    case: &'a Case,
    /// Its trials that have hops, by their round.
    trials: BTreeMap<u32, Traced<'a>>,
    left_out: BTreeMap<String, u64>,
    clock_bound_ns: u64,
    missing: BTreeSet<&'a str>,
}

/// A traced trial.
struct Traced<'a> {
    trace: &'a Trace,
    /// The shortest first.
    hops: Vec<Hop>,
}

/// What the traced phases of a run say; `None` of a run without any.
pub fn of_run(raw: &RawRun) -> Option<Explanation> {
    let cases = (0..).zip(&raw.plan.cases);
    let known = cases.filter_map(|(index, planned)| Known::of(raw, index, &planned.case));
    let known: Vec<Known> = known.collect();
    let (untraced, compared) = match known.as_slice() {
        [first, second] => (untraced(first, second), compared([first, second])),
        _ => (None, Vec::new()),
    };
    let cases: Vec<ExplainedCase> = known.iter().map(Known::explained).collect();
    (!cases.is_empty()).then_some(Explanation { cases, untraced, compared })
}

/// Whether the segments of a case add up to a hop without events, once what these cost is taken off.
pub fn adds_up(case: &ExplainedCase) -> bool {
    case.off.is_some_and(|off| off.abs() <= OFF_MAX)
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun, index: u32, case: &'a Case) -> Option<Self> {
        let (trials, left_out, missing) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut known = Self { case, trials, left_out, clock_bound_ns: 0, missing };
        let is_one_way = case.workload.is_stamped_by(Role::Callee);
        let last = if is_one_way { Leg::Forth } else { Leg::Back };
        let own = raw.trials.iter().filter(|trial| trial.case == index && trial.error.is_none());
        let traces = own.filter_map(|trial| Some((trial, trial.trace.as_ref()?)));
        let mut is_traced = false;
        for (trial, trace) in traces {
            is_traced = true;
            known.clock_bound_ns = known.clock_bound_ns.max(trace.clock_bound_ns);
            known.missing.extend(trace.missing.iter().map(String::as_str));
            let Cut { mut hops, left_out } = cut(trace, last);
            for (reason, n) in left_out {
                let sum = known.left_out.entry(reason).or_default();
                *sum = sum.saturating_add(n);
            }
            hops.sort_by_key(|hop| hop.total_ns);
            if !hops.is_empty() {
                known.trials.insert(trial.round, Traced { trace, hops });
            }
        }
        is_traced.then_some(known)
    }

    /// A value of each trial that has it, by its round.
    fn by_round(&self, of: impl Fn(&Traced) -> Option<f64>) -> BTreeMap<u32, f64> {
        self.trials.iter().filter_map(|(round, trial)| Some((*round, of(trial)?))).collect()
    }

    /// A value of each trial, over trials.
    fn over(&self, of: impl Fn(&Traced) -> Option<f64>) -> Estimate {
        over_trials(self.trials.values().filter_map(of).collect())
    }

    /// A value of each trial, median over trials.
    fn median(&self, of: impl Fn(&Traced) -> f64) -> f64 {
        median(self.trials.values().map(of)).unwrap_or(0.0)
    }

    /// Its segments, as they begin one after another in typical hops.
    fn segments(&self) -> Vec<Segment> {
        let mut begins: BTreeMap<Segment, (f64, f64)> = BTreeMap::new();
        let hops = self.trials.values().flat_map(Traced::typical);
        for (segment, part) in hops.flat_map(|hop| &hop.parts) {
            let (sum_ns, n) = begins.entry(*segment).or_default();
            (*sum_ns, *n) = (*sum_ns + part.begins_ns as f64, *n + 1.0);
        }
        let mut segments: Vec<(f64, Segment)> =
            begins.into_iter().map(|(segment, (sum_ns, n))| (sum_ns / n, segment)).collect();
        segments.sort_by(|a, b| a.0.total_cmp(&b.0));
        segments.into_iter().map(|(_, segment)| segment).collect()
    }

    /// A value of its typical hops: the mean over the middle half of the trials by their typical hop, the same
    /// of each value, so that segments add up to the whole as medians would not.
    fn typical(&self, of: &dyn Fn(&Hop) -> f64) -> Estimate {
        let mut trials: Vec<&Traced> = self.trials.values().collect();
        trials.sort_by(|a, b| a.mean(length_ns).total_cmp(&b.mean(length_ns)));
        let outside = trials.len() / 4;
        let middle = &trials[outside..trials.len() - outside];
        let point = middle.iter().map(|trial| trial.mean(of)).sum::<f64>() / middle.len() as f64;
        let all = self.over(|trial| Some(trial.mean(of)));
        let (low, high) = (all.low.map(|low| low.min(point)), all.high.map(|high| high.max(point)));
        Estimate { point: all.point.map(|_| point), low, high, ..all }
    }

    fn explained(&self) -> ExplainedCase {
        let untraced_p50_ns = self.over(|trial| trial.untraced_p50_ns());
        let without_events_ns =
            self.over(|trial| Some(trial.p50_ns() - trial.mean(events) * trial.event_cost_ns()?));
        let both = without_events_ns.point.zip(untraced_p50_ns.point.filter(|ns| *ns > 0.0));
        let hops = self.trials.values().map(|trial| trial.hops.len() as u64);
        let left_out = self.left_out.iter();
        let mut explained = ExplainedCase {
            case: self.case.id(),
            hops: hops.fold(0, u64::saturating_add),
            left_out: left_out
                .map(|(reason, hops)| LeftOutHops { reason: reason.clone(), hops: *hops })
                .collect(),
            total_ns: self.typical(&length_ns),
            traced_p50_ns: self.over(|trial| Some(trial.p50_ns())),
            untraced_p50_ns,
            events: self.median(|trial| trial.mean(events)),
            event_cost_ns: median(self.trials.values().filter_map(Traced::event_cost_ns)),
            without_events_ns,
            off: both.map(|(without_ns, untraced_ns)| without_ns / untraced_ns - 1.0),
            clock_bound_ns: self.clock_bound_ns,
            missing: self.missing.iter().map(|what| (*what).to_owned()).collect(),
            segments: Vec::new(),
        };
        let segments = self.segments().into_iter();
        explained.segments = segments.map(|segment| self.segment(segment, &explained)).collect();
        explained
    }

    fn segment(&self, segment: Segment, explained: &ExplainedCase) -> ExplainedSegment {
        let cost_ns = explained.event_cost_ns.filter(|_| adds_up(explained));
        let whole_ns = explained.total_ns.point.filter(|ns| *ns > 0.0);
        let own = |hop: &Hop| hop.parts.get(&segment).copied().unwrap_or_default();
        let own_ns = |hop: &Hop| own(hop).ns as f64;
        let mut typical_ns = self.typical(&own_ns);
        let has = |hop: &Hop| f64::from(u8::from(hop.parts.contains_key(&segment)));
        let is_little =
            typical_ns.point.zip(whole_ns).is_some_and(|(own, whole)| own < whole / 100.0);
        if is_little && self.median(|trial| trial.mean(has)) < 0.5 {
            typical_ns = Estimate { point: None, low: None, high: None, ..typical_ns };
        }
        let at = |q: f64| self.median(|trial| trial.quantile(q, |hop| own(hop).ns));
        let events = self.median(|trial| trial.mean(|hop| own(hop).events.into()));
        ExplainedSegment {
            segment,
            share: whole_ns.zip(typical_ns.point).map_or(0.0, |(whole, own)| own / whole),
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            events,
            without_events_ns: typical_ns.point.zip(cost_ns).map(|(ns, cost)| ns - events * cost),
            typical_ns,
        }
    }
}

impl Traced<'_> {
    /// What one of its events costs, where that is known.
    fn event_cost_ns(&self) -> Option<f64> {
        self.trace.event_cost_ns.filter(|cost_ns| cost_ns.is_finite())
    }

    /// The median of its operations without events.
    fn untraced_p50_ns(&self) -> Option<f64> {
        median(self.trace.untraced_ns.iter().map(|ns| *ns as f64))
    }

    /// The median hop as traced.
    fn p50_ns(&self) -> f64 {
        self.quantile(0.5, |hop| hop.total_ns)
    }

    fn typical(&self) -> &[Hop] {
        let [from, to] = TYPICAL.map(|q| rank(self.hops.len(), q) - 1);
        &self.hops[from..=to]
    }

    /// A value of its typical hops, mean.
    fn mean(&self, of: impl Fn(&Hop) -> f64) -> f64 {
        let hops = self.typical();
        hops.iter().map(of).sum::<f64>() / hops.len() as f64
    }

    fn quantile(&self, q: f64, of: impl Fn(&Hop) -> u64) -> f64 {
        let values = self.hops.iter().map(|hop| of(hop) as f64).collect();
        Sample::new(values).map_or(0.0, |sample| sample.quantile(q))
    }
}

fn length_ns(hop: &Hop) -> f64 {
    hop.total_ns as f64
}

/// Events of a hop.
fn events(hop: &Hop) -> f64 {
    hop.parts.values().map(|part| part.events).sum::<u32>().into()
}

/// The second case beside the first, without events.
fn untraced(first: &Known, second: &Known) -> Option<Contrast> {
    let [first, second] = [first, second].map(|of| of.by_round(|trial| trial.untraced_p50_ns()));
    contrasts(&[(&second, &first)], 1).pop().flatten()
}

/// The segments of both cases in one order: what only the second has stands behind what is before it there.
fn compared([first, second]: [&Known; 2]) -> Vec<ComparedSegment> {
    let mut segments = first.segments();
    let mut place = 0;
    for segment in second.segments() {
        match segments.iter().position(|one| *one == segment) {
            Some(at) => place = at + 1,
            None => {
                segments.insert(place, segment);
                place += 1;
            }
        }
    }
    let times = |known: &Known, segment: &Segment| {
        let own = |hop: &Hop| hop.parts.get(segment).map_or(0, |part| part.ns) as f64;
        known.by_round(|trial| Some(trial.mean(own)))
    };
    let both = |segment| (times(second, segment), times(first, segment));
    let both: Vec<_> = segments.iter().map(both).collect();
    let pairs: Vec<_> = both.iter().map(|(second, first)| (second, first)).collect();
    let compared = segments.into_iter().zip(contrasts(&pairs, pairs.len()));
    compared.map(|(segment, contrast)| ComparedSegment { segment, contrast }).collect()
}
