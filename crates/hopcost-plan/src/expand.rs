//! From a mechanism and what was asked for to cases, with every default filled in.
//!
//! The defaults that are not in [`AXES`], which docs/suites.md repeats:
//!
//! | key | where nothing is said |
//! |---|---|
//! | workload | the mechanism's first |
//! | payload | the mechanism's default; of a wake-up the least it has |
//! | boundary | process, else thread, else inline, whichever it has; with --peer, host first |
//! | place | same-cpu and cross; for a host boundary pinned; for an inline boundary same-cpu, for a stream free, for a load cross |
//! | wait | the mechanism's first that makes sense in the placement |
//! | runtime | rust if it has the mechanism, else the first that has |
//! | parameters | the mechanism's defaults |

use std::borrow::Cow;
use std::collections::BTreeSet;

use hopcost_model::axis::{AXES, Axis, Of, Value};
use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Waits, Workload};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::workload::DefaultPayload;

use crate::asked::{Asked, axis_keys};
use crate::catalog::Catalog;
use crate::error::{quote, unknown};
use crate::feasible::{Feasible, spins, uneven};
use crate::selection::Selection;

impl Selection<'_> {
    /// How many cases [`Selection::cases`] makes: the product of its lists.
    pub fn count(&self, asked: &Asked, feasible: &Feasible) -> u64 {
        let length = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let said = |values: Option<&Vec<String>>| values.map_or(1, Vec::len);
        let parameters = self.mechanism.parameters.iter();
        let lists = parameters.map(|parameter| said(asked.parameters.get(&parameter.name)));
        let axes = AXES.iter().filter(|axis| self.varies(axis));
        let lists = lists.chain(axes.map(|axis| values(axis, asked).len()));
        let product = lists.fold(length(self.messages(asked).len()), |product, list| {
            product.saturating_mul(length(list))
        });
        if !self.workload.has_two_ends() {
            return product;
        }
        let sides = self.sides(asked, feasible).into_iter();
        let sides = sides.map(|side| length(budgets(asked, side.waits).len()));
        product.saturating_mul(sides.fold(0, u64::saturating_add))
    }

    /// The cases, in the order fields, payload, parameters and then that of the axes, but
    /// for the wait, which stands before the place: what is compared most often stands side
    /// by side.
    pub fn cases(&self, asked: &Asked, feasible: &Feasible) -> Vec<Case> {
        let mut cases: Vec<Case> = self.messages(asked);
        for parameter in &self.mechanism.parameters {
            let default = [parameter.default.clone()];
            let said = asked.parameters.get(&parameter.name).map_or(&default[..], Vec::as_slice);
            cases = each(cases, said, |case, value| {
                case.parameters.insert(parameter.name.clone(), value.clone());
            });
        }
        for axis in &AXES {
            if self.varies(axis) {
                let values = values(axis, asked);
                let with = |case: Case| {
                    // However much of nothing is written and compared, it is the same case.
                    let nothing = axis.key == "touch" && case.payload_bytes.unwrap_or(0) == 0;
                    let values = if nothing { &values[..values.len().min(1)] } else { &values[..] };
                    each(vec![case], values, |case, value| axis.set(case, value))
                };
                cases = cases.into_iter().flat_map(with).collect();
            } else if axis.key == "boundary" && self.workload.has_two_ends() {
                cases = each(cases, &self.sides(asked, feasible), |case, side| {
                    case.boundary = side.boundary;
                    case.placement = Some(side.placement);
                    case.waits = Some(side.waits);
                });
                let budgets = |case: Case| {
                    let budgets = case.waits.map_or(vec![None], |waits| budgets(asked, waits));
                    each(vec![case], &budgets, |case, budget| case.spin_budget_ns = *budget)
                };
                cases = cases.into_iter().flat_map(budgets).collect();
            }
        }
        cases
    }

    /// Whether the values of an axis depend on nothing else. The others make up the message
    /// and the sides, or are in the selection already.
    fn varies(&self, axis: &Axis) -> bool {
        let depends = axis.default.is_none() || axis.of == Of::SpinThenBlock;
        !depends && !matches!(axis.key, "fields" | "runtime") && axis.of.has(self.workload)
    }

    /// A case for each message that was asked for, or that is meant where none was.
    fn messages(&self, asked: &Asked) -> Vec<Case> {
        let case = Case { runtimes: self.runtimes.clone(), ..Case::new(self.workload, &self.name) };
        let of = |bytes: Option<u32>| Case { payload_bytes: bytes, ..case.clone() };
        let said = asked.numbers("payload");
        let payload = self.mechanism.payload;
        if self.workload != Workload::Stream {
            return match (payload, said) {
                (None, _) => vec![of(None)],
                (_, Some(said)) => said.into_iter().map(|bytes| of(Some(bytes))).collect(),
                (Some(range), None) => match self.workload.spec().payload {
                    DefaultPayload::OfMechanism => vec![of(Some(range.default))],
                    DefaultPayload::Least => vec![of(Some(range.min))],
                },
            };
        }
        let messages = |fields: u32| {
            let payloads = match (payload, asked.numbers("field"), &said) {
                (None, ..) => vec![None],
                (_, Some(said), _) => {
                    said.iter().map(|field| Some(field.saturating_mul(fields))).collect()
                }
                (_, None, Some(said)) => said.iter().copied().map(Some).collect(),
                (Some(range), None, None) => {
                    vec![Some((range.default / fields).max(1).saturating_mul(fields))]
                }
            };
            let with = move |case: Case| Case { fields: Some(fields), ..case };
            payloads.into_iter().map(|bytes| with(of(bytes))).collect::<Vec<_>>()
        };
        fields(asked).into_iter().flat_map(messages).collect()
    }

    /// Boundary, wait and placement; few, since the words on each axis are few.
    fn sides(&self, asked: &Asked, feasible: &Feasible) -> Vec<Side> {
        let mut sides = Vec::new();
        for boundary in self.boundaries(asked, feasible) {
            let waits: Vec<Option<Waits>> = match asked.get("wait") {
                Some(said) => said.iter().map(Value::waits).collect(),
                None => vec![None],
            };
            for wait in waits {
                for place in self.places(asked, boundary) {
                    let placement = feasible.cpus.precise(&place);
                    // The default may differ between placements.
                    let waits = wait.unwrap_or_else(|| self.default_waits(boundary, placement));
                    sides.push(Side { boundary, placement, waits });
                }
            }
        }
        sides
    }

    fn boundaries(&self, asked: &Asked, feasible: &Feasible) -> Vec<Boundary> {
        if let Some(said) = asked.get("boundary") {
            return said.iter().filter_map(Value::boundary).collect();
        }
        let has_host = self.mechanism.boundaries.contains(&Boundary::Host);
        if has_host && feasible.cpus.pairs.contains_key(&Placement::Pinned) {
            return vec![Boundary::Host];
        }
        if self.runtimes.are_mixed() {
            return vec![Boundary::Process];
        }
        let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
        let has = &self.mechanism.boundaries;
        let first = preferred.into_iter().find(|boundary| has.contains(boundary));
        vec![first.unwrap_or(Boundary::Inline)]
    }

    fn places(&self, asked: &Asked, boundary: Boundary) -> Vec<Value> {
        if let Some(said) = asked.get("place") {
            return said.to_vec();
        }
        if let Some(place) = self.workload.spec().place {
            return vec![Value::Place(place)];
        }
        if boundary == Boundary::Host {
            return vec![Value::Place(Placement::Pinned)];
        }
        // Its sender spins.
        if self.workload == Workload::Load {
            return vec![Value::Cross];
        }
        let mut places = vec![Value::Place(Placement::SameCpu)];
        // One row is enough to say that a mechanism has no such workload.
        if boundary != Boundary::Inline && self.has_workload() {
            places.push(Value::Cross);
        }
        places
    }

    /// Each end's first wait, unless the ends share a CPU and it has a later one that
    /// does not spin there.
    fn default_waits(&self, boundary: Boundary, placement: Placement) -> Waits {
        let one_cpu = placement == Placement::SameCpu && boundary != Boundary::Inline;
        let first = |mechanism: &Mechanism| {
            let mut kinds = mechanism.waits.iter().copied();
            let sensible = kinds.clone().find(|kind| !(one_cpu && spins(*kind)));
            sensible.or(kinds.next()).unwrap_or(WaitKind::Block)
        };
        Waits { caller: first(&self.ends.caller), callee: first(&self.ends.callee) }
    }

    /// The keys among these that mean something to its cases.
    pub fn applicable<'a>(&self, asked: &'a Asked) -> BTreeSet<&'a str> {
        let mechanism = &self.mechanism;
        let spins = || match asked.get("wait") {
            Some(said) => {
                let mut said = said.iter().filter_map(Value::waits);
                said.any(|waits| waits.any(WaitKind::SpinThenBlock))
            }
            None => mechanism.waits.first() == Some(&WaitKind::SpinThenBlock),
        };
        let by_field = self.workload == Workload::Stream && asked.get("field").is_some();
        let applies = |key: &&str| match Axis::of_key(key) {
            None => mechanism.parameter(key).is_some(),
            Some(axis) => {
                axis.of.has(self.workload)
                    && match axis.of {
                        Of::Payload => mechanism.payload.is_some() && !by_field,
                        Of::StreamPayload => mechanism.payload.is_some(),
                        Of::SpinThenBlock => spins(),
                        Of::Every | Of::Stream | Of::Wake | Of::Load | Of::TwoEnds => true,
                    }
            }
        };
        asked.keys().into_iter().filter(applies).collect()
    }

    /// A message that was asked for and cannot be. Where a glob selects the
    /// mechanism, it was not asked for of this one, and is a skipped case.
    pub fn bad_message(&self, asked: &Asked) -> Option<String> {
        let (payload, field) = (asked.numbers("payload"), asked.numbers("field"));
        let meant = self.workload == Workload::Stream
            && self.has_workload()
            && (self.named || field.is_some());
        let mut fields = fields(asked).into_iter().filter(|_| meant);
        match (field, payload) {
            (Some(sizes), _) => fields.find_map(|n| {
                let field = sizes.iter().find(|field| field.checked_mul(n).is_none())?;
                Some(format!(
                    "fields {n} of {field} bytes are over the {} bytes that any message may have",
                    u32::MAX
                ))
            }),
            (None, Some(payloads)) => {
                fields.find_map(|n| payloads.iter().find_map(|bytes| uneven(Some(*bytes), Some(n))))
            }
            (None, None) => None,
        }
    }

    /// A value that a parameter of this mechanism does not take.
    pub fn bad_parameter(&self, asked: &Asked) -> Option<String> {
        self.mechanism.parameters.iter().find_map(|parameter| {
            let said = asked.parameters.get(&parameter.name)?;
            let bad = said.iter().find(|value| !parameter.values.contains(value))?;
            let known: Vec<&str> = parameter.values.iter().map(String::as_str).collect();
            Some(unknown(&format!("value of `{}`", parameter.name), bad, &known))
        })
    }
}

/// How two ends stand to each other.
struct Side {
    boundary: Boundary,
    placement: Placement,
    waits: Waits,
}

/// Every case with every value.
fn each<T>(cases: Vec<Case>, values: &[T], set: impl Fn(&mut Case, &T)) -> Vec<Case> {
    let with = |case: &Case, value: &T| {
        let mut case = case.clone();
        set(&mut case, value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(|value| with(case, value))).collect()
}

fn values<'a>(axis: &'a Axis, asked: &'a Asked) -> Cow<'a, [Value]> {
    match asked.get(axis.key) {
        Some(said) => Cow::Borrowed(said),
        None => Cow::Owned(axis.default.clone().into_iter().collect()),
    }
}

fn fields(asked: &Asked) -> Vec<u32> {
    let default = || Axis::of_key("fields")?.default.as_ref()?.number();
    asked.numbers("fields").unwrap_or_else(|| default().into_iter().collect())
}

fn budgets(asked: &Asked, waits: Waits) -> Vec<Option<u64>> {
    let Some(spin) = Axis::of_key("spin").filter(|_| waits.any(WaitKind::SpinThenBlock)) else {
        return vec![None];
    };
    values(spin, asked).iter().map(Value::number).collect()
}

/// Why a key means nothing to any of the mechanisms selected.
pub(crate) fn inapplicable(key: &str, selections: &[Selection], catalog: &Catalog) -> String {
    let first = selections.first();
    let name = quote(first.map_or("the cases selected", |selection| &selection.name));
    let first = match first.map(|selection| &selection.runtimes) {
        Some(runtimes) if !runtimes.are_rust() => format!("{name} in {runtimes}"),
        _ => name,
    };
    let has_no_effect =
        |other: &str| format!("`{key}` has no effect, since `{other}` says how large a message is");
    match Axis::of_key(key).map(|axis| axis.of) {
        Some(Of::Payload) if selections.iter().any(|s| s.mechanism.payload.is_some()) => {
            has_no_effect("field")
        }
        Some(Of::Payload) => format!("{first} carries no payload; leave `{key}` out"),
        Some(Of::StreamPayload) if selections.iter().any(|s| s.workload == Workload::Stream) => {
            has_no_effect("payload")
        }
        Some(Of::Stream | Of::StreamPayload) => {
            format!("only a stream has `{key}`; write stream/MECHANISM or leave it out")
        }
        Some(Of::Wake) => {
            format!("only a wake-up has `{key}`; write wake/MECHANISM or leave it out")
        }
        Some(Of::Load) => {
            format!("only a load has `{key}`; write load/MECHANISM or leave it out")
        }
        Some(Of::TwoEnds) => {
            format!("a call has no second party, so `{key}` says nothing of it; leave it out")
        }
        Some(Of::SpinThenBlock) => {
            format!("`{key}` is the budget of wait=spin-then-block; ask for that wait too")
        }
        Some(Of::Every) => format!("`{key}` says nothing of {first}; leave it out"),
        None => match catalog.known().find(|mechanism| mechanism.parameter(key).is_some()) {
            Some(owner) => format!("`{key}` is a parameter of {}, not of {first}", owner.name),
            None => {
                let own = selections.iter().flat_map(|s| &s.mechanism.parameters);
                let mut known: Vec<&str> = axis_keys().collect();
                known.extend(own.map(|parameter| parameter.name.as_str()));
                known.dedup();
                unknown("key", key, &known)
            }
        },
    }
}
