//! From a mechanism and what was asked of it to cases, with every default filled in.
//!
//! The defaults that are not in [`AXES`], which docs/suites.md repeats:
//!
//! | key | default |
//! |---|---|
//! | workload | the mechanism's first |
//! | payload | the mechanism's default; of a wake-up the least it has |
//! | boundary | process, else thread, else inline, whichever it has; with --peer, host first |
//! | place | same-cpu and cross; for a host boundary pinned; for an inline boundary same-cpu, for a stream free, for a load cross |
//! | wait | the mechanism's first that makes sense in the placement |
//! | runtime | rust if it has the mechanism, else the first that has |
//! | parameters | the mechanism's defaults |

use std::borrow::Cow;

use hopcost_model::axis::{AXES, Axis, Of, Value};
use hopcost_model::case::{
    Boundary, Case, Ends, Placement, Runtime, Runtimes, WaitKind, Waits, Workload,
};
use hopcost_model::mechanism::Mechanism;
use hopcost_model::workload::DefaultPayload;

use crate::ask::{CASES_MAX, Pattern, Selector, Workloads, too_many};
use crate::catalog::{Catalog, supposed};
use crate::error::{quote, unknown};
use crate::feasible::{Feasible, spins, uneven};
use crate::values::{CROSS, Values, axis_keys};

/// A mechanism with a workload, in certain runtimes, and what was asked of it in all.
#[derive(Clone)]
pub(crate) struct Subject<'c> {
    /// The facts of the mechanism.
    pub mechanism: Cow<'c, Mechanism>,
    /// Its name with a test engine's argument (`sleep:1ms`).
    pub name: String,
    /// Named in full rather than matched by a glob.
    pub named: bool,
    /// The workload; it may not have it.
    pub workload: Workload,
    /// What the ends are written in.
    pub runtimes: Runtimes,
    /// What the ends play, by which their waits are chosen; the mechanism where that is not
    /// known.
    pub ends: Ends<Cow<'c, Mechanism>>,
    pub values: Values,
}

impl Catalog<'_> {
    /// What a selector selects, where these values are asked of it in all. A name is asked for
    /// every named workload, a glob selects the mechanisms that have one. If none
    /// is named, it is the first that the mechanism has.
    pub(crate) fn subjects<'c>(
        &'c self,
        selector: &Selector,
        values: &Values,
    ) -> Result<Vec<Subject<'c>>, String> {
        self.check(&selector.values)?;
        let said: Vec<Runtimes> = values.parsed("runtime").unwrap_or_default();
        let mut subjects = Vec::new();
        for pattern in &selector.mechanisms {
            for (mechanism, name) in self.of_pattern(pattern, &said)? {
                let named = matches!(pattern, Pattern::Name(_));
                let has = &mechanism.workloads;
                let workloads: Vec<Workload> = match &selector.workloads {
                    Workloads::First => has.iter().take(1).copied().collect(),
                    Workloads::Every => has.clone(),
                    Workloads::Named(all) => {
                        all.iter().copied().filter(|one| named || has.contains(one)).collect()
                    }
                };
                let default = || self.default_runtimes(name.split(':').next().unwrap_or(&name));
                let runtimes = said.first().cloned().or_else(default).unwrap_or_default();
                subjects.extend(workloads.into_iter().map(|workload| Subject {
                    name: name.clone(),
                    named,
                    workload,
                    runtimes: runtimes.clone(),
                    ends: Ends { caller: mechanism.clone(), callee: mechanism.clone() },
                    mechanism: mechanism.clone(),
                    values: values.clone(),
                }));
                // Each makes a case at least, and takes more than a kilobyte.
                if subjects.len() > CASES_MAX {
                    return Err(too_many(subjects.len()));
                }
            }
        }
        match (&selector.workloads, subjects.is_empty()) {
            (Workloads::Named(all), true) => {
                let words: Vec<&str> = all.iter().map(|workload| workload.word()).collect();
                Err(format!("no such mechanism has the workload {}", words.join(" or ")))
            }
            _ => Ok(subjects),
        }
    }

    /// A subject in each of the runtimes that are asked for, with what holds there. A
    /// name is asked for in every one of them; a glob selects what there is.
    pub(crate) fn in_runtimes<'c>(&'c self, subject: &Subject<'c>) -> Vec<Subject<'c>> {
        let ends = subject.values.parsed("runtime");
        let ends = ends.unwrap_or_else(|| vec![subject.runtimes.clone()]);
        ends.into_iter().filter_map(|ends| self.in_these(subject, ends)).collect()
    }

    fn in_these<'c>(&'c self, subject: &Subject<'c>, ends: Runtimes) -> Option<Subject<'c>> {
        let name = subject.name.split(':').next().unwrap_or(&subject.name);
        let own = self.mechanism_of(&ends, name);
        // A mechanism that no runtime here has takes any key: its case keeps its spelling.
        let own = own.or_else(|| self.mechanism(&Runtime::RUST, name)).map(Cow::Borrowed);
        let mechanism = own
            .or_else(|| self.representative(name, &[]))
            .unwrap_or_else(|| Cow::Owned(supposed(name, &subject.values)));
        let caller = self.played(&ends.caller, &ends.callee, name);
        let callee = self.played(&ends.callee, &ends.caller, name);
        if !subject.named {
            // A glob selects it if either end has something to play, or is absent.
            let plays = |runtime, part: Option<_>| part.is_some() || self.absent(runtime).is_some();
            let call = !subject.workload.has_two_ends() && ends.are_mixed();
            let selected = !call
                && mechanism.workloads.contains(&subject.workload)
                && plays(&ends.caller, caller)
                && plays(&ends.callee, callee);
            if !selected {
                return None;
            }
        }
        let or_own =
            |part: Option<&'c Mechanism>| part.map_or_else(|| mechanism.clone(), Cow::Borrowed);
        Some(Subject {
            ends: Ends { caller: or_own(caller), callee: or_own(callee) },
            mechanism,
            runtimes: ends,
            ..subject.clone()
        })
    }
}

impl Subject<'_> {
    /// Its cases, in the order fields, payload, parameters and then that of the axes, but
    /// for the wait, which stands before the place: what is compared most often stands side
    /// by side.
    pub fn cases(&self, feasible: &Feasible) -> Result<Vec<Case>, String> {
        let mut cases: Vec<Case> = self.messages();
        for parameter in &self.mechanism.parameters {
            let said = self.values.words(&parameter.name);
            let said = said.unwrap_or_else(|| vec![parameter.default.clone()]);
            cases = each(
                &cases,
                |_| said.clone(),
                |case, value| {
                    case.parameters.insert(parameter.name.clone(), value);
                },
            )?;
        }
        for axis in &AXES {
            if self.varies(axis) {
                cases = each(
                    &cases,
                    |case| self.values_of(axis, case),
                    |case, value| {
                        axis.set(case, &value);
                    },
                )?;
            } else if axis.key == "boundary" && self.workload.has_two_ends() {
                cases = each(
                    &cases,
                    |_| self.sides(feasible),
                    |case, side| {
                        case.boundary = side.boundary;
                        case.placement = Some(side.placement);
                        case.waits = Some(side.waits);
                    },
                )?;
            }
        }
        Ok(cases)
    }

    /// Whether the values of an axis are asked for by themselves. The others make up the message
    /// and the sides, or are in the subject already.
    fn varies(&self, axis: &Axis) -> bool {
        let is_elsewhere = axis.default().is_none() || matches!(axis.key, "fields" | "runtime");
        !is_elsewhere && axis.of.has(self.workload)
    }

    /// The values of an axis for a case, which has those of the axes before it.
    fn values_of(&self, axis: &Axis, case: &Case) -> Vec<Value> {
        let said = self.values.get(axis.key).map(<[_]>::to_vec);
        let mut values = said.unwrap_or_else(|| axis.default().into_iter().collect());
        let most = match axis.key {
            "spin" if !case.waits.is_some_and(|waits| waits.any(WaitKind::SpinThenBlock)) => 0,
            // However much of nothing is written and compared, it is the same case.
            "touch" if case.payload_bytes.unwrap_or(0) == 0 => 1,
            _ => values.len(),
        };
        values.truncate(most);
        values
    }

    /// A case for each message that was asked for, or that is meant where none was.
    fn messages(&self) -> Vec<Case> {
        let is_stream = self.workload == Workload::Stream;
        let case = Case { runtimes: self.runtimes.clone(), ..Case::new(self.workload, &self.name) };
        let payloads = |fields: u32| -> Vec<Option<u32>> {
            let Some(range) = self.mechanism.payload else { return vec![None] };
            let default = match self.workload.spec().payload {
                DefaultPayload::OfMechanism if is_stream => {
                    (range.default / fields).max(1).saturating_mul(fields)
                }
                DefaultPayload::OfMechanism => range.default,
                DefaultPayload::Least => range.min,
            };
            let field = self.values.numbers("field").filter(|_| is_stream);
            let by_field = field.map(|all| {
                all.into_iter().map(|field| field.saturating_mul(fields)).collect::<Vec<u32>>()
            });
            let said = by_field.or_else(|| self.values.numbers("payload"));
            said.unwrap_or_else(|| vec![default]).into_iter().map(Some).collect()
        };
        let fields = if is_stream { self.fields() } else { vec![1] };
        let messages = fields.into_iter().flat_map(|fields| {
            payloads(fields).into_iter().map(move |payload_bytes| (payload_bytes, fields))
        });
        let of = |(payload_bytes, fields)| Case {
            payload_bytes,
            fields: is_stream.then_some(fields),
            ..case.clone()
        };
        messages.map(of).collect()
    }

    fn fields(&self) -> Vec<u32> {
        let default = || Axis::of_key("fields")?.default()?.number();
        self.values.numbers("fields").unwrap_or_else(|| default().into_iter().collect())
    }

    /// Boundary, wait and placement; few, since the words on each axis are few.
    fn sides(&self, feasible: &Feasible) -> Vec<Side> {
        let waits = self.values.parsed("wait");
        let waits: Vec<Option<Waits>> =
            waits.map_or(vec![None], |said| said.into_iter().map(Some).collect());
        let mut sides = Vec::new();
        for boundary in self.boundaries(feasible) {
            for wait in &waits {
                for place in self.places(boundary) {
                    let placement = feasible.cpus.precise(&place);
                    // The default may differ between placements.
                    let waits = wait.unwrap_or_else(|| self.default_waits(boundary, placement));
                    sides.push(Side { boundary, placement, waits });
                }
            }
        }
        sides
    }

    fn boundaries(&self, feasible: &Feasible) -> Vec<Boundary> {
        if let Some(said) = self.values.parsed("boundary") {
            return said;
        }
        let has = &self.mechanism.boundaries;
        if has.contains(&Boundary::Host) && feasible.cpus.pairs.contains_key(&Placement::Pinned) {
            return vec![Boundary::Host];
        }
        if self.runtimes.are_mixed() {
            return vec![Boundary::Process];
        }
        let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
        let first = preferred.into_iter().find(|boundary| has.contains(boundary));
        vec![first.unwrap_or(Boundary::Inline)]
    }

    fn places(&self, boundary: Boundary) -> Vec<Value> {
        let place = |place: Placement| Value::word(place.word());
        if let Some(said) = self.values.get("place") {
            return said.to_vec();
        }
        if let Some(own) = self.workload.spec().place {
            return vec![place(own)];
        }
        if boundary == Boundary::Host {
            return vec![place(Placement::Pinned)];
        }
        // Its sender spins.
        if self.workload == Workload::Load {
            return vec![CROSS];
        }
        let mut places = vec![place(Placement::SameCpu)];
        // One row is enough to say that a mechanism has no such workload.
        if boundary != Boundary::Inline && self.has_workload() {
            places.push(CROSS);
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

    /// Whether the mechanism has the workload.
    fn has_workload(&self) -> bool {
        self.mechanism.workloads.contains(&self.workload)
    }

    /// Whether a key means something to its cases.
    pub fn means(&self, key: &str) -> bool {
        let mechanism = &self.mechanism;
        let Some(axis) = Axis::of_key(key) else { return mechanism.parameter(key).is_some() };
        let by_field = self.workload == Workload::Stream && self.values.has("field");
        // A payload that is laid over a field takes its place.
        self.values.has(key)
            && axis.of.has(self.workload)
            && match axis.of {
                Of::Payload => mechanism.payload.is_some() && !by_field,
                Of::StreamPayload => mechanism.payload.is_some(),
                Of::SpinThenBlock => match self.values.parsed::<Waits>("wait") {
                    Some(said) => said.iter().any(|waits| waits.any(WaitKind::SpinThenBlock)),
                    None => mechanism.waits.first() == Some(&WaitKind::SpinThenBlock),
                },
                Of::Every | Of::Stream | Of::Wake | Of::Load | Of::TwoEnds => true,
            }
    }

    /// A message that was asked for and cannot be. Where a glob selects the
    /// mechanism, it was not asked for of this one, and is a skipped case.
    pub fn bad_message(&self) -> Option<String> {
        let (payload, field) = (self.values.numbers("payload"), self.values.numbers("field"));
        let meant = self.workload == Workload::Stream
            && self.has_workload()
            && (self.named || field.is_some());
        let mut fields = self.fields().into_iter().filter(|_| meant);
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
    pub fn bad_parameter(&self) -> Option<String> {
        self.mechanism.parameters.iter().find_map(|parameter| {
            let said = self.values.words(&parameter.name)?;
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

/// Every case with each of its values, or as it is where it has none, up to as many as a plan may
/// have.
fn each<T>(
    cases: &[Case],
    values: impl Fn(&Case) -> Vec<T>,
    set: impl Fn(&mut Case, T),
) -> Result<Vec<Case>, String> {
    let mut all = Vec::new();
    for case in cases {
        let values = values(case);
        if values.is_empty() {
            all.push(case.clone());
        }
        for value in values {
            let mut case = case.clone();
            set(&mut case, value);
            all.push(case);
        }
        if all.len() > CASES_MAX {
            return Err(too_many(all.len()));
        }
    }
    Ok(all)
}

/// Why a key means nothing to any of these.
pub(crate) fn inapplicable(key: &str, subjects: &[Subject], catalog: &Catalog) -> String {
    let first = subjects.first();
    let name = quote(first.map_or("the cases selected", |subject| &subject.name));
    let first = match first.map(|subject| &subject.runtimes) {
        Some(runtimes) if !runtimes.are_rust() => format!("{name} in {runtimes}"),
        _ => name,
    };
    let Some(axis) = Axis::of_key(key) else {
        return match catalog.known().find(|mechanism| mechanism.parameter(key).is_some()) {
            Some(owner) => format!("`{key}` is a parameter of {}, not of {first}", owner.name),
            None => {
                let own = subjects.iter().flat_map(|one| &one.mechanism.parameters);
                let mut known: Vec<&str> = axis_keys().collect();
                known.extend(own.map(|parameter| parameter.name.as_str()));
                known.dedup();
                unknown("key", key, &known)
            }
        };
    };
    let other = if key == "field" { "payload" } else { "field" };
    let is_replaced = |one: &Subject| {
        one.workload == Workload::Stream && one.mechanism.payload.is_some() && one.values.has(other)
    };
    let what = match axis.of {
        Of::Payload | Of::StreamPayload if subjects.iter().any(is_replaced) => {
            return format!("`{key}` has no effect, since `{other}` says how large a message is");
        }
        Of::Payload => "a mechanism with a payload",
        Of::Stream | Of::StreamPayload => "a stream",
        Of::Wake => "a wake-up",
        Of::Load => "a load",
        Of::TwoEnds => "a case with two ends",
        Of::SpinThenBlock => "an end that waits by spin-then-block",
        Of::Every => "another case",
    };
    format!("only {what} has `{key}`; leave it out, or ask for one")
}
