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

use hopcost_model::{
    AXES, Axis, Boundary, Case, Ends, Mechanism, Of, Placement, Runtimes, Value, WaitKind, Waits,
    Workload,
};

use crate::ask::{CASES_MAX, CROSS, Pattern, Selector, Values, axis_keys, too_many};
use crate::catalog::{Catalog, supposed};
use crate::error::{quote, unknown};
use crate::feasible::{Feasible, spins, uneven};

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
                let asked = selector.workloads.iter();
                let mut workloads: Vec<Workload> =
                    asked.copied().filter(|one| named || has.contains(one)).collect();
                if !selector.says_workload() {
                    workloads.extend(has.first());
                }
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
        if subjects.is_empty() && selector.says_workload() {
            let words: Vec<&str> = selector.workloads.iter().map(|one| one.word()).collect();
            return Err(format!("no such mechanism has the workload {}", words.join(" or ")));
        }
        Ok(subjects)
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
        let own = self.mechanism_of(&ends, name).map(Cow::Borrowed);
        // A mechanism that no runtime here has takes any key: its case keeps its spelling.
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
        let case = Case { runtimes: self.runtimes.clone(), ..Case::new(self.workload, &self.name) };
        let (message, others) = AXES.iter().partition::<Vec<&Axis>, _>(|axis| is_of_message(axis));
        let mut cases = vec![case];
        // The payload is a multiple of the fields.
        for axis in message.into_iter().rev() {
            cases = self.on_axis(cases, axis, feasible)?;
        }
        for parameter in &self.mechanism.parameters {
            let said = self.values.parsed::<String>(&parameter.name);
            let said = said.unwrap_or_else(|| vec![parameter.default.clone()]);
            cases = each(
                cases,
                |_| said.clone(),
                |case, value| {
                    case.parameters.insert(parameter.name.clone(), value);
                },
            )?;
        }
        for axis in others {
            let key = match axis.key {
                "place" => "wait",
                "wait" => "place",
                key => key,
            };
            if let Some(axis) = Axis::of_key(key) {
                cases = self.on_axis(cases, axis, feasible)?;
            }
        }
        let several = cases.iter_mut().filter(|case| case.connections > 1);
        for case in several.filter(|_| !self.values.has("wait")) {
            case.waits = case.waits.map(|waits| Waits { callee: WaitKind::Epoll, ..waits });
        }
        // A payload was not asked for of each mechanism that a glob selects, and is a skipped case.
        let is_asked = (self.named || self.values.has("field")) && self.has_workload();
        match cases.iter().filter(|_| is_asked).find_map(bad_message) {
            Some(why) => Err(why),
            None => Ok(cases),
        }
    }

    /// Each case with each of the values on an axis.
    fn on_axis(
        &self,
        cases: Vec<Case>,
        axis: &Axis,
        feasible: &Feasible,
    ) -> Result<Vec<Case>, String> {
        if !axis.is_part() || !axis.of.has(self.workload) || axis.key == "runtime" {
            return Ok(cases);
        }
        let set = |case: &mut Case, value: Value| match axis.key {
            "place" => {
                case.placement = Some(feasible.cpus.precise(&value));
                // The default may differ between placements.
                case.waits = case.waits.or_else(|| Some(self.default_waits(case)));
            }
            _ => axis.set(case, &value),
        };
        each(cases, |case| self.values_of(axis, case, feasible), set)
    }

    /// The values of an axis for a case, which has those of the axes before it.
    fn values_of(&self, axis: &Axis, case: &Case, feasible: &Feasible) -> Vec<Value> {
        // Of a glob, those that have it.
        let has = self.named || self.mechanism.has(axis);
        let said = self.values.get(axis.key).filter(|_| has).map(<[_]>::to_vec);
        let default = || match axis.key {
            "boundary" => vec![self.boundary(feasible)],
            "place" => self.places(case.boundary),
            _ => axis.default().into_iter().collect(),
        };
        if axis.key == "payload" {
            return self.payloads(case.fields);
        }
        let mut values = said.unwrap_or_else(default);
        let most = match axis.key {
            "spin" if !case.waits.is_some_and(|waits| waits.any(WaitKind::SpinThenBlock)) => 0,
            // However much of nothing is written and compared, it is the same case.
            "touch" if case.payload_bytes.unwrap_or(0) == 0 => 1,
            _ => values.len(),
        };
        values.truncate(most);
        values
    }

    /// The payloads that were asked for, of a message or of its fields, or the one that is meant where
    /// none was; none where the mechanism carries none.
    fn payloads(&self, fields: Option<u32>) -> Vec<Value> {
        let Some(range) = self.mechanism.payload else { return Vec::new() };
        let default = match fields {
            _ if self.workload.spec().is_least => range.min,
            Some(n) => (range.default / n).max(1).saturating_mul(n),
            None => range.default,
        };
        let field = self.values.parsed::<u32>("field").zip(fields);
        let by_field =
            field.map(|(field, n)| field.iter().map(|size| size.saturating_mul(n)).collect());
        let said: Option<Vec<u32>> = by_field.or_else(|| self.values.parsed("payload"));
        let bytes = said.unwrap_or_else(|| vec![default]).into_iter();
        bytes.map(|bytes| Value::Number(bytes.into())).collect()
    }

    fn boundary(&self, feasible: &Feasible) -> Value {
        let has = &self.mechanism.boundaries;
        let preferred = [Boundary::Process, Boundary::Thread, Boundary::Inline];
        let first = match () {
            () if has.contains(&Boundary::Host)
                && feasible.cpus.pairs.contains_key(&Placement::Pinned) =>
            {
                Boundary::Host
            }
            () if self.runtimes.are_mixed() => Boundary::Process,
            () => *preferred.iter().find(|one| has.contains(one)).unwrap_or(&Boundary::Inline),
        };
        Value::word(first.word())
    }

    fn places(&self, boundary: Boundary) -> Vec<Value> {
        let place = |place: Placement| Value::word(place.word());
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
    fn default_waits(&self, case: &Case) -> Waits {
        let one_cpu =
            case.placement == Some(Placement::SameCpu) && case.boundary != Boundary::Inline;
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
                Of::Declared | Of::Roundtrip => mechanism.has(axis),
                Of::Every | Of::Stream | Of::Wake | Of::Load | Of::TwoEnds => true,
            }
    }

    /// A value that a parameter of this mechanism does not take.
    pub fn bad_parameter(&self) -> Option<String> {
        self.mechanism.parameters.iter().find_map(|parameter| {
            let said = self.values.parsed::<String>(&parameter.name)?;
            let bad = said.iter().find(|value| !parameter.values.contains(value))?;
            let known: Vec<&str> = parameter.values.iter().map(String::as_str).collect();
            Some(unknown(&format!("value of `{}`", parameter.name), bad, &known))
        })
    }
}

/// Whether an axis says what a message is, which comes before the mechanism's parameters.
fn is_of_message(axis: &Axis) -> bool {
    matches!(axis.key, "payload" | "fields")
}

/// Why a message cannot be that was asked for.
fn bad_message(case: &Case) -> Option<String> {
    match (case.payload_bytes, case.fields) {
        (Some(u32::MAX), Some(n @ 2..)) => Some(format!(
            "fields {n} make a message of {} bytes or more, and no message may be so long",
            u32::MAX
        )),
        (payload_bytes, fields) => uneven(payload_bytes, fields),
    }
}

/// Every case with each of its values, or as it is where it has none, up to as many as a plan may
/// have.
fn each<T>(
    cases: Vec<Case>,
    values: impl Fn(&Case) -> Vec<T>,
    set: impl Fn(&mut Case, T),
) -> Result<Vec<Case>, String> {
    let mut all = Vec::new();
    for case in cases {
        let values = values(&case);
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
        Of::Declared | Of::Roundtrip => {
            let mut known = catalog.known().filter(|mechanism| mechanism.has(axis));
            let owner = known.next().map_or("no mechanism", |mechanism| &mechanism.name);
            return format!("`{key}` is an axis of {owner} and its like, not of {first}");
        }
        Of::TwoEnds => "a case with two ends",
        Of::SpinThenBlock => "an end that waits by spin-then-block",
        Of::Every => "another case",
    };
    format!("only {what} has `{key}`; leave it out, or ask for one")
}
