//! A mechanism with a workload that was asked of it, in certain runtimes.

use std::borrow::Cow;

use hopcost_model::case::{Case, Ends, Runtime, Runtimes, Workload};
use hopcost_model::mechanism::Mechanism;

use crate::asked::Asked;
use crate::catalog::{Catalog, supposed};
use crate::error::{nearest, quote, unknown};
use crate::select::{CASES_MAX, Pattern, Selector, too_many};
use crate::shipped::SHIPPED;

/// A mechanism with a workload, in certain runtimes.
#[derive(Clone)]
pub(crate) struct Selection<'c> {
    /// What is said of the mechanism.
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
}

impl<'c> Selection<'c> {
    /// The first workload of a mechanism, in the runtimes where nothing else is said.
    fn of(mechanism: Cow<'c, Mechanism>, name: &str, named: bool, runtimes: Runtimes) -> Self {
        Self {
            name: name.to_owned(),
            named,
            workload: mechanism.workloads.first().copied().unwrap_or(Workload::Roundtrip),
            runtimes,
            ends: Ends { caller: mechanism.clone(), callee: mechanism.clone() },
            mechanism,
        }
    }

    /// The mechanisms that a pattern means, for the runtimes that were said.
    pub fn of_pattern(
        pattern: &Pattern,
        catalog: &'c Catalog,
        said: Option<&[Runtimes]>,
    ) -> Result<Vec<Self>, String> {
        let runtimes = |name: &str| {
            let first = said.and_then(|said| said.first().cloned());
            first.or_else(|| catalog.default_runtimes(name)).unwrap_or_default()
        };
        match pattern {
            Pattern::Name(text) => {
                let bare = text.split(':').next().unwrap_or(text);
                let Some(mechanism) = catalog.representative(bare, said) else {
                    return Err(unknown_mechanism(bare, catalog));
                };
                check_argument(&mechanism, text)?;
                Ok(vec![Self::of(mechanism, text, true, runtimes(bare))])
            }
            Pattern::Glob(text, _) => {
                let all = catalog.all_within(said.unwrap_or(&[Runtimes::RUST])).into_iter();
                let found: Vec<Self> = all
                    .filter(|mechanism| pattern.matches(&mechanism.name, mechanism.hidden()))
                    .map(|mechanism| {
                        let name = &mechanism.name;
                        Self::of(Cow::Borrowed(mechanism), name, false, runtimes(name))
                    })
                    .collect();
                match found.is_empty() {
                    true => Err(format!(
                        "no mechanism matches {}; `hopcost list` shows them all",
                        quote(text)
                    )),
                    false => Ok(found),
                }
            }
        }
    }

    /// What a selector selects, of the runtimes that are said in all. A name is asked for
    /// every workload that is said, a glob selects the mechanisms that have one. Where none
    /// is said, it is the first that the mechanism has, or every one.
    pub fn of_selector(
        selector: &Selector,
        catalog: &'c Catalog,
        workloads: Option<&[Workload]>,
        said: Option<&[Runtimes]>,
    ) -> Result<Vec<Self>, String> {
        catalog.check(said.unwrap_or_default())?;
        let workloads = selector.workloads.as_deref().or(workloads);
        let mut selections = Vec::new();
        for pattern in &selector.mechanisms {
            for found in Self::of_pattern(pattern, catalog, said)? {
                let has = &found.mechanism.workloads;
                let unsaid = if selector.every_workload { has } else { &has[..has.len().min(1)] };
                let asked = workloads.unwrap_or(unsaid).iter();
                let asked = asked.filter(|workload| found.named || has.contains(workload));
                let with = |workload: &Workload| Self { workload: *workload, ..found.clone() };
                selections.extend(asked.map(with));
                // Each makes a case at least, and takes more than a kilobyte.
                let n = u64::try_from(selections.len()).unwrap_or(u64::MAX);
                if n > CASES_MAX {
                    return Err(too_many(n));
                }
            }
        }
        if selections.is_empty() {
            let words: Vec<&str> = workloads.iter().copied().flatten().map(|w| w.word()).collect();
            return Err(format!("no such mechanism has the workload {}", words.join(" or ")));
        }
        Ok(selections)
    }

    /// Whether it is what a pattern means.
    pub fn matches(&self, pattern: &Pattern) -> bool {
        pattern.matches(&self.name, self.mechanism.hidden())
    }

    /// Whether a selector means it, whatever its keys.
    pub fn is_chosen(&self, selector: &Selector) -> bool {
        selector.chooses(self.workload, &self.name, self.mechanism.hidden())
    }

    /// Whether the mechanism has the workload.
    pub fn has_workload(&self) -> bool {
        self.mechanism.workloads.contains(&self.workload)
    }

    /// The mechanism in each of the runtimes that are asked for, with what holds there. A
    /// name is asked for in every one of them, whoever has it; a glob selects what there is.
    pub fn in_runtimes(&self, asked: &Asked, catalog: &'c Catalog) -> Result<Vec<Self>, String> {
        let said = asked.runtimes();
        catalog.check(said.as_deref().unwrap_or_default())?;
        let ends = said.unwrap_or_else(|| vec![self.runtimes.clone()]);
        Ok(ends.into_iter().filter_map(|ends| self.in_these(ends, asked, catalog)).collect())
    }

    fn in_these(&self, ends: Runtimes, asked: &Asked, catalog: &'c Catalog) -> Option<Self> {
        let name = self.name.split(':').next().unwrap_or(&self.name);
        let own = catalog.mechanism_of(&ends, name);
        // What nobody here has may take any key: its case is spelled as it was said.
        let own = own.or_else(|| catalog.mechanism(&Runtime::RUST, name)).map(Cow::Borrowed);
        let mechanism = own
            .or_else(|| catalog.representative(name, None))
            .unwrap_or_else(|| Cow::Owned(supposed(name, asked)));
        let caller = catalog.played_by_caller(&ends, name);
        let callee = catalog.played_by_callee(&ends, name);
        if !self.named {
            // A glob selects it if either end has something to play, or is absent.
            let plays =
                |runtime, part: Option<_>| part.is_some() || catalog.absent(runtime).is_some();
            let call = !self.workload.has_two_ends() && ends.are_mixed();
            let selected = !call
                && mechanism.workloads.contains(&self.workload)
                && plays(&ends.caller, caller)
                && plays(&ends.callee, callee);
            if !selected {
                return None;
            }
        }
        let or_own =
            |part: Option<&'c Mechanism>| part.map_or_else(|| mechanism.clone(), Cow::Borrowed);
        Some(Selection {
            ends: Ends { caller: or_own(caller), callee: or_own(callee) },
            mechanism,
            runtimes: ends,
            ..self.clone()
        })
    }
}

/// The cases of a mechanism in several runtimes, so that those that differ in
/// nothing but the runtime stand side by side.
pub(crate) fn side_by_side(lists: &[Vec<Case>]) -> impl Iterator<Item = Case> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned()))
}

/// Words that other tools have for a workload.
const OTHER_WORDS: [(&str, Workload); 8] = [
    ("ping", Workload::Roundtrip),
    ("pingpong", Workload::Roundtrip),
    ("ping-pong", Workload::Roundtrip),
    ("latency", Workload::Roundtrip),
    ("rtt", Workload::Roundtrip),
    ("throughput", Workload::Stream),
    ("bandwidth", Workload::Stream),
    ("iperf", Workload::Stream),
];

/// What to write for a word that is the name of something else than a mechanism.
fn of_another_kind(name: &str, catalog: &Catalog) -> Option<String> {
    let is_suite = SHIPPED.iter().any(|(suite, _)| *suite == name);
    if is_suite {
        return Some(format!("{} is a suite; write hopcost run --suite {name}", quote(name)));
    }
    let other = OTHER_WORDS.iter().find(|(word, _)| *word == name).map(|(_, workload)| *workload);
    if let Some(workload) = name.parse().ok().or(other) {
        let first = catalog.known().find(|mechanism| mechanism.workloads.contains(&workload));
        let example = first.map_or("MECHANISM", |mechanism| &mechanism.name);
        return Some(format!(
            "{} is what is done with a mechanism; write hopcost run {workload}/{example}, or \
             hopcost run '{workload}/*' for every one",
            quote(name)
        ));
    }
    let is_runtime = catalog.check(&[Runtimes::both(name.parse().ok()?)]).is_ok();
    is_runtime.then(|| {
        format!("{} is a runtime; write hopcost run MECHANISM --runtime {name}", quote(name))
    })
}

fn unknown_mechanism(name: &str, catalog: &Catalog) -> String {
    if let Some(message) = of_another_kind(name, catalog) {
        return message;
    }
    let listed = catalog.names();
    if nearest(name, &listed).is_some() {
        return unknown("mechanism", name, &listed);
    }
    let suites: Vec<&str> = SHIPPED.iter().map(|(suite, _)| *suite).collect();
    if let Some(suite) = nearest(name, &suites) {
        let name = quote(name);
        return format!("unknown mechanism {name}; did you mean hopcost run --suite {suite}?");
    }
    let mut message = format!("unknown mechanism {}; `hopcost list` shows them all", quote(name));
    let absent = catalog.absentees();
    if !absent.is_empty() {
        message.push_str(&format!(" but those of {}, which are not here", absent.join(", ")));
    }
    message
}

/// Only test engines have an argument, and some of them need theirs.
fn check_argument(mechanism: &Mechanism, text: &str) -> Result<(), String> {
    let argument = text.split_once(':').map(|(_, argument)| argument);
    match mechanism.here.argument {
        _ if !mechanism.hidden() && argument.is_some() => {
            Err(format!("{} takes no argument after a colon", quote(&mechanism.name)))
        }
        Some(wanted) if !(wanted.fits)(argument) => {
            Err(format!("{} is not a test engine: write {}", quote(text), wanted.form))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mechanisms_that_are_named_again_and_again_are_refused_before_they_take_gigabytes() {
        let mechanisms = (0..100).map(|n| supposed(&format!("m{n}"), &Asked::default()));
        let catalog = Catalog::new(mechanisms.collect(), &Vec::new);
        let of = |text: &str| {
            let selector = Selector::parse(text)?;
            Selection::of_selector(&selector, &catalog, None, None).map(|found| found.len())
        };
        let ten = "{*,*,*,*,*,*,*,*,*,*}";
        assert_eq!(of(&format!("{ten}{{,,,,,,,,,}}")), Ok(10_000));
        for many in [
            format!("{ten}{{,,,,,,,,,}},m0"),
            [&*format!("{ten}{{,,,,,,,,,}}{{,,,,,,,,,}}"); 12].join(","),
        ] {
            assert!(of(&many).unwrap_err().contains("at most 10000"), "{many}");
        }
    }
}
