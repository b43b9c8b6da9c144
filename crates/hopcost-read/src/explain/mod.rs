//! Where the time of a hop goes: of the trials that have a traced phase, or by differences between cases.

mod ablation;
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
    DifferencePart, Estimate, ExplainedCase, ExplainedDifference, ExplainedSegment, Explanation,
    LeftOutHops, Leg, Segment, SegmentByGap, SegmentDifference, SegmentKind,
};
use hopcost_model::workload::StampedBy;
use hopcost_stats::sample::median;

use crate::estimate::over_trials;
use crate::ratio::paired;
use cut::{Cut, Hop, cut};
use difference::made_of;
use traced::{Traced, ns};

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
    let difference = match known.as_slice() {
        [first, second] => difference(first, second),
        _ => None,
    };
    let by_gap = if known.len() > 2 { by_gap(&known) } else { Vec::new() };
    let cases: Vec<ExplainedCase> = known.iter().map(|known| known.explained(quantile)).collect();
    if let Some(plan) = raw.plan.ablation() {
        let (ablation, difference) = ablation::of(raw, plan);
        return Some(Explanation { cases, ablation: Some(ablation), difference, by_gap });
    }
    (!cases.is_empty()).then_some(Explanation { cases, ablation: None, difference, by_gap })
}

impl<'a> Known<'a> {
    fn of(raw: &'a RawRun, index: u32, case: &'a Case) -> Option<Self> {
        let (trials, left_out, missing) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut known = Self { case, trials, left_out, clock_bound_ns: 0, missing };
        let own = raw.trials.iter().filter(|trial| trial.case == index && trial.error.is_none());
        let traces = own.filter_map(|trial| Some((trial.round, trial.trace.as_ref()?)));
        let mut is_traced = false;
        for (round, trace) in traces {
            is_traced = true;
            let Cut { hops, left_out } = cut(trace, last(case));
            for (reason, n) in left_out {
                let sum = known.left_out.entry(reason).or_default();
                *sum = sum.saturating_add(n);
            }
            known.clock_bound_ns = known.clock_bound_ns.max(trace.clock_bound_ns);
            known.missing.extend(trace.missing.iter().map(String::as_str));
            if !hops.is_empty() {
                known.trials.insert(round, Traced::of(trace, hops));
            }
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
        self.over("median over trials of the segment's mean in the trial's typical hops", |trial| {
            Some(trial.mean(|hop| ns(hop, segment) as f64))
        })
    }

    fn explained(&self, quantile: Option<f64>) -> ExplainedCase {
        let total_ns = self.over(
            "median over trials of the mean of the trial's typical hops (the middle fifth by length)",
            |trial| Some(trial.mean(|hop| hop.total_ns as f64)),
        );
        let whole_ns = total_ns.point.filter(|ns| *ns > 0.0);
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
            }
        };
        let segments = self.segments().into_iter().map(segment).collect();
        let written = |hop: &Hop| hop.parts.values().map(|part| part.events).sum::<u32>().into();
        let costs = self.trials.values().filter_map(|trial| trial.trace.event_cost_ns);
        let costs: Vec<f64> = costs.filter(|cost| cost.is_finite()).collect();
        ExplainedCase {
            case: self.case.id(),
            gap_ns: self.case.gap_ns,
            hops: self.trials.values().map(|trial| trial.hops.len() as u64).sum(),
            left_out: (self.left_out.iter())
                .map(|(reason, hops)| LeftOutHops { reason: reason.clone(), hops: *hops })
                .collect(),
            total_ns,
            traced_p50_ns: self.over("median over trials of the trial's median hop", |trial| {
                Some(trial.quantile(0.5, |hop| hop.total_ns))
            }),
            untraced_p50_ns: self.over(
                "median over trials of the trial's median operation without events",
                |trial| {
                    median(
                        &trial.trace.untraced_ns.iter().map(|ns| (*ns).into()).collect::<Vec<_>>(),
                    )
                },
            ),
            events: self.median(|trial| trial.mean(written)),
            event_cost_ns: median(&costs),
            clock_bound_ns: self.clock_bound_ns,
            missing: self.missing.iter().map(|what| (*what).to_owned()).collect(),
            segments,
            tail: quantile.and_then(|q| tail::of(&self.trials.values().collect::<Vec<_>>(), q)),
        }
    }

    /// A value of the typical hops of each trial, by its round.
    fn by_round(&self, of: &dyn Fn(&Hop) -> f64) -> BTreeMap<u32, f64> {
        self.trials.iter().map(|(round, trial)| (*round, trial.mean(of))).collect()
    }
}

/// The way after which a hop of a case is over.
fn last(case: &Case) -> Leg {
    match case.workload.spec().stamped_by {
        StampedBy::BothEnds => Leg::Forth,
        StampedBy::Caller => Leg::Back,
    }
}

/// The work that a segment is part of.
fn work(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::User => "user space",
        SegmentKind::Send | SegmentKind::Receive | SegmentKind::Softirq => {
            "the send and receive paths"
        }
        SegmentKind::WakeUp | SegmentKind::Ipi | SegmentKind::IdleExit => "waking",
        SegmentKind::Switch => "the switch",
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
fn difference(first: &Known, second: &Known) -> Option<ExplainedDifference> {
    let pairs = |of: &dyn Fn(&Hop) -> f64| paired(&first.by_round(of), &second.by_round(of));
    let of = |of: &dyn Fn(&Hop) -> f64| {
        let differences = pairs(of).into_iter().map(|(_, first, second)| second - first);
        let estimand = "median over rounds of the second's typical hop less the first's";
        over_trials(differences.collect(), estimand.to_owned())
    };
    let segments = aligned([first, second]);
    let of_segment = |segment: &Segment| {
        let value = |hop: &Hop| ns(hop, *segment) as f64;
        let all = pairs(&value);
        let side = |of: fn(&(u32, f64, f64)) -> f64| {
            median(&all.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
        };
        SegmentDifference {
            segment: *segment,
            first_ns: side(|pair| pair.1),
            second_ns: side(|pair| pair.2),
            ns: of(&value),
        }
    };
    let kinds = segments.iter().map(|segment| work(segment.kind)).collect::<BTreeSet<_>>();
    let of_work = |what: &str| {
        let is_it = |(segment, _): &(&Segment, &cut::Part)| work(segment.kind) == what;
        let value =
            |hop: &Hop| hop.parts.iter().filter(is_it).map(|(_, part)| part.ns as f64).sum::<f64>();
        DifferencePart { what: what.to_owned(), ns: of(&value) }
    };
    let parts = kinds.into_iter().map(of_work).collect();
    let total_ns = of(&|hop| hop.total_ns as f64);
    let segments = segments.iter().map(of_segment).collect();
    made_of([first.case, second.case], total_ns, parts, segments)
}
