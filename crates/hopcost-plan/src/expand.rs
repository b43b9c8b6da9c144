//! From a mechanism and what was asked for to cases, with every default filled in.
//!
//! The defaults, which docs/suites.md repeats:
//!
//! | key | where nothing is said |
//! |---|---|
//! | workload | the mechanism's first |
//! | payload | the mechanism's default; of a wake-up the least it has |
//! | fields, flows | [`FIELDS_DEFAULT`](crate::FIELDS_DEFAULT), 1 |
//! | ack | per-message |
//! | gap | [`GAP_NS`] |
//! | boundary | process, else thread, else inline, whichever it has |
//! | place | same-cpu and cross; for an inline boundary same-cpu, for a stream free |
//! | wait | the mechanism's first that makes sense in the placement |
//! | spin | [`SPIN_BUDGET_NS`] |
//! | idle-knob | none |
//! | sched | other |
//! | runtime | rust if it has the mechanism, else the first that has |
//! | parameters | the mechanism's defaults |

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::case::{
    Ack, Boundary, Case, IdleKnob, Placement, SPIN_BUDGET_NS, Sched, WaitKind, Waits, Workload,
};
use hopcost_model::mechanism::{Facts, Payload};

use crate::axes::{Axes, KEYS, Place};
use crate::error::{quote, unknown};
use crate::feasible::{Feasible, spins};
use crate::known::Known;
use crate::message::{Message, messages};
use crate::pattern::Target;

/// Cases that a plan may have: enough for any sweep, and a limit for a slip.
pub const CASES_MAX: u64 = 10_000;

/// The gap before a wake-up where nothing is said.
pub const GAP_NS: u64 = 1_000_000;

/// How two ends stand to each other.
struct Sides {
    boundary: Boundary,
    placement: Placement,
    waits: Waits,
}

/// A mechanism with a workload that was asked of it.
#[derive(Clone)]
pub(crate) struct Wanted {
    /// The mechanism.
    pub target: Target,
    /// The workload; it may not have it.
    pub workload: Workload,
}

impl Wanted {
    /// The workloads of a mechanism that are asked for: a name is asked for every
    /// one of them, a glob selects the mechanisms that have one. Where none is
    /// said, it is the first that the mechanism has, or `every` one.
    pub fn of(target: &Target, workloads: Option<&[Workload]>, every: bool) -> Vec<Wanted> {
        let has = target.facts.workloads;
        let unsaid = if every { has } else { &has[..has.len().min(1)] };
        let said = workloads.unwrap_or(unsaid).iter();
        said.filter(|workload| target.named || has.contains(workload))
            .map(|workload| Wanted { target: target.clone(), workload: *workload })
            .collect()
    }

    fn has_workload(&self) -> bool {
        self.target.facts.workloads.contains(&self.workload)
    }

    /// How many cases [`Wanted::cases`] makes: the product of its lists.
    pub fn count(&self, axes: &Axes, feasible: &Feasible) -> u64 {
        let facts = self.target.facts;
        let length = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let mut product = length(messages(facts, self.workload, axes).len());
        for parameter in facts.parameters {
            let values = axes.parameters.get(parameter.name).map_or(1, Vec::len);
            product = product.saturating_mul(length(values));
        }
        product = product.saturating_mul(length(axes.sched.as_ref().map_or(1, Vec::len)));
        fn said<T>(list: &Option<Vec<T>>) -> usize {
            list.as_ref().map_or(1, Vec::len)
        }
        for values in match self.workload {
            Workload::Wake => [said(&axes.gap), said(&axes.idle_knob)],
            Workload::Stream => [said(&axes.flows), said(&axes.ack)],
            Workload::Call | Workload::Roundtrip => [1, 1],
        } {
            product = product.saturating_mul(length(values));
        }
        if self.workload == Workload::Call {
            return product;
        }
        let sides = self.sides(axes, feasible).into_iter();
        let sides = sides.map(|side| length(budgets(axes, side.waits).len()));
        product.saturating_mul(sides.fold(0, u64::saturating_add))
    }

    /// The cases, in the order fields, payload, parameters, flows, ack, gap,
    /// boundary, wait, place, spin, idle-knob, sched: what is compared most often
    /// stands side by side.
    pub fn cases(&self, axes: &Axes, feasible: &Feasible) -> Vec<Case> {
        let mut cases = Vec::new();
        for message in messages(self.target.facts, self.workload, axes) {
            for parameters in parameter_sets(self.target.facts, axes) {
                for base in self.paced(axes, message, parameters) {
                    if self.workload == Workload::Call {
                        cases.push(base);
                    } else {
                        self.two_sided(axes, feasible, &base, &mut cases);
                    }
                }
            }
        }
        let knobs = match (&axes.idle_knob, self.workload) {
            (Some(said), Workload::Wake) => said.as_slice(),
            _ => &[IdleKnob::None],
        };
        let scheds = axes.sched.as_deref().unwrap_or(&[Sched::Other]);
        let mut all = Vec::new();
        for case in &cases {
            for (idle_knob, sched) in knobs.iter().flat_map(|k| scheds.iter().map(|s| (*k, *s))) {
                all.push(Case { idle_knob, sched, ..case.clone() });
            }
        }
        all
    }

    /// The cases of one message that differ in what only a `wake` or only a
    /// `stream` has.
    fn paced(
        &self,
        axes: &Axes,
        message: Message,
        parameters: BTreeMap<String, String>,
    ) -> Vec<Case> {
        let base = Case {
            workload: self.workload,
            mechanism: self.target.mechanism.clone(),
            payload_bytes: message.payload_bytes,
            fields: message.fields,
            flows: None,
            ack: None,
            gap_ns: None,
            boundary: Boundary::Inline,
            placement: None,
            waits: None,
            spin_budget_ns: None,
            parameters,
            idle_knob: IdleKnob::None,
            sched: Sched::Other,
            runtimes: self.target.runtimes.clone(),
        };
        match self.workload {
            Workload::Call | Workload::Roundtrip => vec![base],
            Workload::Wake => {
                let gaps = axes.gap.as_deref().unwrap_or(&[GAP_NS]).iter();
                gaps.map(|gap| Case { gap_ns: Some(*gap), ..base.clone() }).collect()
            }
            Workload::Stream => {
                let flows = axes.flows.as_deref().unwrap_or(&[1]).iter();
                let acks = axes.ack.as_deref().unwrap_or(&[Ack::PerMessage]);
                flows
                    .flat_map(|flows| acks.iter().map(|ack| (Some(*flows), Some(*ack))))
                    .map(|(flows, ack)| Case { flows, ack, ..base.clone() })
                    .collect()
            }
        }
    }

    fn two_sided(&self, axes: &Axes, feasible: &Feasible, base: &Case, cases: &mut Vec<Case>) {
        for side in self.sides(axes, feasible) {
            for spin_budget_ns in budgets(axes, side.waits) {
                cases.push(Case {
                    boundary: side.boundary,
                    placement: Some(side.placement),
                    waits: Some(side.waits),
                    spin_budget_ns,
                    ..base.clone()
                });
            }
        }
    }

    /// Boundary, wait and placement; few, since the words on each axis are few.
    fn sides(&self, axes: &Axes, feasible: &Feasible) -> Vec<Sides> {
        let mut sides = Vec::new();
        for boundary in self.boundaries(axes) {
            let said = axes.wait.iter().flatten().copied().map(Some);
            let waits: Vec<_> = if axes.wait.is_some() { said.collect() } else { vec![None] };
            for wait in waits {
                for place in self.places(axes, boundary) {
                    let placement = feasible.cpus.precise(place);
                    // The default may differ between placements.
                    let waits = wait
                        .unwrap_or_else(|| default_waits(self.target.ends, boundary, placement));
                    sides.push(Sides { boundary, placement, waits });
                }
            }
        }
        sides
    }

    fn boundaries(&self, axes: &Axes) -> Vec<Boundary> {
        let has = self.target.facts.boundaries;
        axes.boundary.clone().unwrap_or_else(|| {
            if self.target.runtimes.are_mixed() {
                return vec![Boundary::Process];
            }
            let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
            let first = preferred.into_iter().find(|boundary| has.contains(boundary));
            vec![first.unwrap_or(Boundary::Inline)]
        })
    }

    fn places(&self, axes: &Axes, boundary: Boundary) -> Vec<Place> {
        axes.place.clone().unwrap_or_else(|| {
            if self.workload == Workload::Stream {
                return vec![Place::Named(Placement::Free)];
            }
            let mut places = vec![Place::Named(Placement::SameCpu)];
            // One row is enough to say that a mechanism has no such workload.
            if boundary != Boundary::Inline && self.has_workload() {
                places.push(Place::Cross);
            }
            places
        })
    }

    /// The keys among these that mean something to its cases.
    pub fn applicable<'a>(&self, axes: &'a Axes) -> BTreeSet<&'a str> {
        let facts = self.target.facts;
        let second = self.workload != Workload::Call;
        let stream = self.workload == Workload::Stream;
        let spins = axes.wait.iter().flatten().any(|waits| waits.any(WaitKind::SpinThenBlock))
            || (axes.wait.is_none()
                && facts.waits.first().is_some_and(|w| w.wait == WaitKind::SpinThenBlock));
        axes.keys()
            .into_iter()
            .filter(|key| match *key {
                "payload" => facts.payload != Payload::None && !(stream && axes.field.is_some()),
                "field" => stream && facts.payload != Payload::None,
                "fields" | "flows" | "ack" => stream,
                "gap" | "idle-knob" => self.workload == Workload::Wake,
                "boundary" | "place" | "wait" => second,
                "spin" => second && spins,
                "sched" | "runtime" => true,
                parameter => facts.parameter(parameter).is_some(),
            })
            .collect()
    }

    /// A message that was asked for and cannot be. Where a glob selects the
    /// mechanism, it was not asked for of this one, and is a skipped case.
    pub fn bad_message(&self, axes: &Axes) -> Option<String> {
        let asked = self.workload == Workload::Stream
            && self.has_workload()
            && (self.target.named || axes.field.is_some());
        asked.then(|| crate::message::mistake(axes)).flatten()
    }

    /// A value that a parameter of this mechanism does not take.
    pub fn bad_parameter(&self, axes: &Axes) -> Option<(String, String)> {
        self.target.facts.parameters.iter().find_map(|parameter| {
            let said = axes.parameters.get(parameter.name)?;
            let bad = said.iter().find(|value| !parameter.values.contains(&value.as_str()))?;
            let what = format!("value of `{}`", parameter.name);
            Some((parameter.name.to_owned(), unknown(&what, bad, parameter.values)))
        })
    }
}

fn budgets(axes: &Axes, waits: Waits) -> Vec<Option<u64>> {
    match &axes.spin {
        _ if !waits.any(WaitKind::SpinThenBlock) => vec![None],
        None => vec![Some(SPIN_BUDGET_NS)],
        Some(said) => said.iter().copied().map(Some).collect(),
    }
}

fn parameter_sets(facts: &Facts, axes: &Axes) -> Vec<BTreeMap<String, String>> {
    let mut sets = vec![BTreeMap::new()];
    for parameter in facts.parameters {
        let default = [parameter.default.to_owned()];
        let values = axes.parameters.get(parameter.name).map_or(&default[..], Vec::as_slice);
        sets = sets
            .iter()
            .flat_map(|set| {
                values.iter().map(|value| {
                    let mut next = set.clone();
                    next.insert(parameter.name.to_owned(), value.clone());
                    next
                })
            })
            .collect();
    }
    sets
}

/// Each end's first wait, unless the ends share a CPU and it has a later one that
/// does not spin there.
fn default_waits(ends: [&Facts; 2], boundary: Boundary, placement: Placement) -> Waits {
    let one_cpu = placement == Placement::SameCpu && boundary != Boundary::Inline;
    let [caller, callee] = ends.map(|facts| {
        let mut kinds = facts.waits.iter().map(|facts| facts.wait);
        let sensible = kinds.clone().find(|kind| !(one_cpu && spins(*kind)));
        sensible.or(kinds.next()).unwrap_or(WaitKind::Block)
    });
    Waits { caller, callee }
}

/// Why a key means nothing to any of the mechanisms selected.
pub(crate) fn inapplicable(key: &str, wanted: &[Wanted], known: &Known) -> String {
    let first = wanted.first().map(|wanted| &wanted.target);
    let name = quote(first.map_or("the cases selected", |target| target.mechanism.as_str()));
    let first = match first.map(|target| &target.runtimes) {
        Some(runtimes) if !runtimes.are_rust() => format!("{name} in {runtimes}"),
        _ => name,
    };
    match key {
        "payload" if wanted.iter().any(|w| w.target.facts.payload != Payload::None) => {
            "`payload` has no effect, since `field` says how large a message is".to_owned()
        }
        "payload" => format!("{first} carries no payload; leave `payload` out"),
        "field" if wanted.iter().any(|w| w.workload == Workload::Stream) => {
            "`field` has no effect, since `payload` says how large a message is".to_owned()
        }
        "field" | "fields" | "flows" | "ack" => {
            format!("only a stream has `{key}`; write stream/MECHANISM or leave it out")
        }
        "gap" | "idle-knob" => {
            format!("only a wake-up has `{key}`; write wake/MECHANISM or leave it out")
        }
        "boundary" | "place" | "wait" => {
            format!("a call has no second party, so `{key}` says nothing of it; leave it out")
        }
        "spin" => "`spin` is the budget of wait=spin-then-block; ask for that wait too".to_owned(),
        _ => match known.facts().into_iter().find(|facts| facts.parameter(key).is_some()) {
            Some(owner) => {
                format!("`{key}` is a parameter of {}, not of {first}", owner.name)
            }
            None => {
                let own = wanted.iter().flat_map(|w| w.target.facts.parameters).map(|p| p.name);
                let mut known: Vec<&str> = KEYS.iter().copied().chain(own).collect();
                known.dedup();
                unknown("key", key, &known)
            }
        },
    }
}
