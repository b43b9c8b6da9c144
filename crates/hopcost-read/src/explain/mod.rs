//! Where the time of a hop goes, by the traced phases of a run.

mod cut;
mod difference;
mod tail;
mod traced;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::Case;
use hopcost_model::raw::RawRun;
use hopcost_model::results::{
    DifferencePart, Estimate, EventsCost, ExplainedCase, ExplainedDifference, ExplainedSegment,
    Explanation, LeftOutHops, Leg, Segment, SegmentByGap, SegmentDifference, SegmentKind,
    TracedDifference,
};
use hopcost_model::workload::StampedBy;
use hopcost_stats::sample::median;

use crate::estimate::over_trials;
use crate::ratio::paired;
use cut::{Cut, Hop, cut};
use difference::made_of;
use traced::{Counted, Traced, middle_half, ns};

/// A case that was traced.
struct Known<'a> {
    case: &'a Case,
    /// Its trials that have hops, by their round.
    trials: BTreeMap<u32, Traced<'a>>,
    left_out: BTreeMap<String, u64>,
    clock_bound_ns: u64,
    missing: BTreeSet<&'a str>,
}

/// What the traced phases of a run say; `None` of a run without any.
pub fn of_run(raw: &RawRun) -> Option<Explanation> {
    let cases = (0..).zip(&raw.plan.cases);
    let known = cases.filter_map(|(index, planned)| Known::of(raw, index, planned.known()?));
    let known: Vec<Known> = known.collect();
    let quantile = raw.plan.explanation().and_then(|plan| plan.tail);
    let cases: Vec<ExplainedCase> = known.iter().map(|known| known.explained(quantile)).collect();
    let events = match cases.iter().all(adds_up) {
        true => EventsCost::TakenOff,
        false => EventsCost::Included,
    };
    let difference = match known.as_slice() {
        [first, second] => difference(first, second, events),
        _ => None,
    };
    let by_gap = if known.len() > 2 { by_gap(&known) } else { Vec::new() };
    (!cases.is_empty()).then_some(Explanation { cases, difference, by_gap })
}

/// Segments less their events may be off a hop without events by this share of it.
const OFF_MAX: f64 = 0.1;

/// Whether the segments of a case add up to a hop without events, once what these cost is taken off.
pub fn adds_up(case: &ExplainedCase) -> bool {
    case.off.is_some_and(|off| off.abs() <= OFF_MAX)
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun, index: u32, case: &'a Case) -> Option<Self> {
        let (trials, left_out, missing) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut known = Self { case, trials, left_out, clock_bound_ns: 0, missing };
        let own = raw.trials.iter().filter(|trial| trial.case == index && trial.error.is_none());
        let traces = own.filter_map(|trial| Some((trial, trial.trace.as_ref()?)));
        let mut is_traced = false;
        for (trial, trace) in traces {
            is_traced = true;
            known.clock_bound_ns = known.clock_bound_ns.max(trace.clock_bound_ns);
            known.missing.extend(trace.missing.iter().map(String::as_str));
            let counted = Counted::of(trial);
            let Cut { hops, left_out } = cut(trace, last(case));
            let traced = (!hops.is_empty()).then(|| Traced::of(trace, hops, counted));
            for (reason, n) in left_out {
                let sum = known.left_out.entry(reason).or_default();
                *sum = sum.saturating_add(n);
            }
            known.trials.extend(traced.map(|traced| (trial.round, traced)));
        }
        is_traced.then_some(known)
    }

    /// A value of each trial, over trials.
    fn over(&self, estimand: &str, of: impl Fn(&Traced) -> Option<f64>) -> Estimate {
        over_trials(self.trials.values().filter_map(of).collect(), estimand.to_owned())
    }

    /// A value of each trial, median over trials.
    fn median(&self, of: impl Fn(&Traced) -> f64) -> f64 {
        median(&self.trials.values().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
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

    /// What a segment takes in a typical hop.
    fn typical_ns(&self, segment: Segment) -> Estimate {
        let estimand = "mean over the same trials of the segment in the trial's typical hops";
        self.typical(estimand, &|hop| ns(hop, segment) as f64)
    }

    /// A value of its typical hops: a mean over the same trials of each, so that segments add up to the whole.
    fn typical(&self, estimand: &str, of: &dyn Fn(&Hop) -> f64) -> Estimate {
        let hop_ns = |hop: &Hop| hop.total_ns as f64;
        let by_length = self.trials.values().map(|trial| (trial.mean(hop_ns), trial)).collect();
        let trials: Vec<&Traced> = middle_half(by_length);
        let all = self.over(estimand, |trial| Some(trial.mean(of)));
        let sum = trials.iter().map(|trial| trial.mean(of)).sum::<f64>();
        holding(all, sum / trials.len().max(1) as f64)
    }

    /// The median hop of each trial less its events, over trials.
    fn without_events(&self) -> Estimate {
        let estimand = "median over trials of the trial's median hop less what its events cost";
        self.over(estimand, |trial| trial.without_events_ns())
    }

    fn explained(&self, quantile: Option<f64>) -> ExplainedCase {
        let estimand = "mean over the middle half of the trials of the trial's typical hops (the middle fifth by length)";
        let total_ns = self.typical(estimand, &|hop| hop.total_ns as f64);
        let whole_ns = total_ns.point.filter(|ns| *ns > 0.0);
        let untraced_p50_ns = self
            .over("median over trials of the trial's median operation without events", |trial| {
                trial.untraced_p50_ns()
            });
        let without_events_ns = self.without_events();
        let both = without_events_ns.point.zip(untraced_p50_ns.point.filter(|ns| *ns > 0.0));
        let off = both.map(|(without_ns, untraced_ns)| without_ns / untraced_ns - 1.0);
        let costs: Vec<f64> = self.trials.values().filter_map(Traced::event_cost_ns).collect();
        let event_cost_ns = median(&costs);
        let mut begins_ns = 0.0;
        let segment = |segment: Segment| {
            let typical_ns = self.typical_ns(segment);
            let point_ns = typical_ns.point.unwrap_or(0.0);
            let from_ns = begins_ns;
            begins_ns += point_ns;
            let at = |q: f64| self.median(|trial| trial.quantile(q, |hop| ns(hop, segment)));
            let written = |hop: &Hop| hop.parts.get(&segment).map_or(0, |part| part.events).into();
            ExplainedSegment {
                segment,
                begins_ns: from_ns,
                typical_ns,
                share: whole_ns.map_or(0.0, |whole_ns| point_ns / whole_ns),
                p50_ns: at(0.5),
                p99_ns: at(0.99),
                events: self.median(|trial| trial.mean(written)),
                without_events_ns: None,
            }
        };
        let segments = self.segments().into_iter().map(segment).collect();
        let mut explained = ExplainedCase {
            case: self.case.id(),
            gap_ns: self.case.gap_ns,
            hops: self
                .trials
                .values()
                .map(|trial| trial.hops.len() as u64)
                .fold(0, u64::saturating_add),
            left_out: (self.left_out.iter())
                .map(|(reason, hops)| LeftOutHops { reason: reason.clone(), hops: *hops })
                .collect(),
            total_ns,
            traced_p50_ns: self.over("median over trials of the trial's median hop", |trial| {
                Some(trial.traced_p50_ns())
            }),
            untraced_p50_ns,
            events: self.median(|trial| trial.mean(events)),
            event_cost_ns,
            without_events_ns,
            off,
            clock_bound_ns: self.clock_bound_ns,
            missing: self.missing.iter().map(|what| (*what).to_owned()).collect(),
            segments,
            tail: quantile.and_then(|q| tail::of(&self.trials.values().collect::<Vec<_>>(), q)),
        };
        if let Some(cost_ns) = event_cost_ns.filter(|_| adds_up(&explained)) {
            for of in &mut explained.segments {
                of.without_events_ns = of.typical_ns.point.map(|ns| ns - of.events * cost_ns);
            }
        }
        explained
    }

    /// A value of the typical hops of each trial, by its round: of their parts, each with its segment
    /// and its time.
    fn by_round(&self, counts: &dyn Fn(Segment) -> bool, events: EventsCost) -> BTreeMap<u32, f64> {
        let of = |(round, trial): (&u32, &Traced)| {
            let cost_ns = match events {
                EventsCost::TakenOff => trial.event_cost_ns()?,
                EventsCost::Included => 0.0,
            };
            let part = |part: &cut::Part| part.ns as f64 - f64::from(part.events) * cost_ns;
            let own = |hop: &Hop| {
                let own = hop.parts.iter().filter(|(segment, _)| counts(**segment));
                own.map(|(_, of)| part(of)).sum()
            };
            Some((*round, trial.mean(own)))
        };
        self.trials.iter().filter_map(of).collect()
    }

    fn untraced_by_round(&self) -> BTreeMap<u32, f64> {
        let of = |(round, trial): (&u32, &Traced)| Some((*round, trial.untraced_p50_ns()?));
        self.trials.iter().filter_map(of).collect()
    }
}

/// An estimate with another point, which its interval holds too.
fn holding(of: Estimate, point: f64) -> Estimate {
    let (low, high) = (of.low.map(|low| low.min(point)), of.high.map(|high| high.max(point)));
    Estimate { point: of.point.map(|_| point), low, high, ..of }
}

/// Whether the intervals of two estimates meet; `None` where one has none.
fn meet(one: &Estimate, other: &Estimate) -> Option<bool> {
    let ends = |of: &Estimate| of.low.zip(of.high);
    let (one, other) = ends(one).zip(ends(other))?;
    Some(one.0 <= other.1 && other.0 <= one.1)
}

/// Events of a hop.
fn events(hop: &Hop) -> f64 {
    hop.parts.values().map(|part| part.events).sum::<u32>().into()
}

/// The way after which a hop of a case is over.
fn last(case: &Case) -> Leg {
    match case.workload.spec().stamped_by {
        StampedBy::BothEnds => Leg::Forth,
        StampedBy::Caller => Leg::Back,
    }
}

/// The work that a segment is part of.
fn work(of: Segment) -> &'static str {
    match of.kind {
        SegmentKind::User => "user space",
        SegmentKind::Send | SegmentKind::Receive | SegmentKind::Softirq => {
            "the send and receive paths"
        }
        SegmentKind::Queue => "queues",
        SegmentKind::WakeUp | SegmentKind::Ipi | SegmentKind::IdleExit => "waking",
        SegmentKind::Switch => "the switch",
        SegmentKind::Unseparated => "waking, the switch and receiving together",
        SegmentKind::Interrupt | SegmentKind::OtherTask => "interrupts and other tasks",
    }
}

/// The segments of several cases in one order: what only a later one has stands behind what is before it there.
fn aligned<'a>(all: impl IntoIterator<Item = &'a Known<'a>>) -> Vec<Segment> {
    let mut segments = Vec::new();
    for known in all {
        let mut place = 0;
        for segment in known.segments() {
            match segments.iter().position(|one| *one == segment) {
                Some(at) => place = at + 1,
                None => {
                    segments.insert(place, segment);
                    place += 1;
                }
            }
        }
    }
    segments
}

/// What each segment takes in each of several cases that differ by their gap.
fn by_gap(all: &[Known]) -> Vec<SegmentByGap> {
    let of = |segment| SegmentByGap {
        segment,
        typical_ns: all.iter().map(|known| known.typical_ns(segment)).collect(),
    };
    aligned(all).into_iter().map(of).collect()
}

/// The second less the first; `None` without a round that both have.
fn difference(first: &Known, second: &Known, events: EventsCost) -> Option<ExplainedDifference> {
    let pairs = |counts: &dyn Fn(Segment) -> bool| {
        paired(&first.by_round(counts, events), &second.by_round(counts, events))
    };
    let whole = pairs(&|_| true);
    let by_difference = whole.iter().map(|(round, a, b)| (b - a, *round)).collect();
    let typical: BTreeSet<u32> = middle_half(by_difference).into_iter().collect();
    // A mean over the same rounds of each part, so that parts add up to the whole.
    let side = |pairs: &[(u32, f64, f64)], of: fn(&(u32, f64, f64)) -> f64| {
        let own = pairs.iter().filter(|(round, ..)| typical.contains(round));
        own.map(of).sum::<f64>() / typical.len().max(1) as f64
    };
    let of = |pairs: &[(u32, f64, f64)]| {
        let differences = pairs.iter().map(|(_, first, second)| second - first);
        let estimand =
            "mean over the middle half of the rounds of the second's typical hop less the first's";
        let all = over_trials(differences.collect(), estimand.to_owned());
        holding(all, side(pairs, |(_, first, second)| second - first))
    };
    let segments = aligned([first, second]);
    let of_segment = |segment: &Segment| {
        let all = pairs(&|one| one == *segment);
        let ns = of(&all);
        SegmentDifference {
            segment: *segment,
            first_ns: side(&all, |pair| pair.1),
            second_ns: side(&all, |pair| pair.2),
            ns,
        }
    };
    let kinds = segments.iter().map(|segment| work(*segment)).collect::<BTreeSet<_>>();
    let of_work = |what: &str| DifferencePart {
        what: what.to_owned(),
        ns: of(&pairs(&|one| work(one) == what)),
    };
    let parts = kinds.into_iter().map(of_work).collect();
    let total_ns = of(&whole);
    let untraced = [first, second].map(Known::untraced_by_round);
    let untraced = paired(&untraced[0], &untraced[1]).into_iter().map(|(_, a, b)| b - a);
    let estimand =
        "median over rounds of the second's median operation without events less the first's";
    let untraced_ns = over_trials(untraced.collect(), estimand.to_owned());
    let agrees = meet(&total_ns, &untraced_ns);
    let segments = segments.iter().map(of_segment).collect();
    let traced = TracedDifference { events, untraced_ns, agrees };
    let mut difference = made_of([first.case, second.case], total_ns, traced, parts, segments)?;
    if events == EventsCost::Included {
        difference.says.insert_str(0, "While traced, ");
    }
    Some(difference)
}
