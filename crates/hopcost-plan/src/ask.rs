//! What is asked for: the command line as it was written, and selectors, the one language for saying
//! which cases are meant, on the command line, in suites and in published tables.
//!
//! ```text
//! [workload/]mechanisms[?key=v1,v2&key=…]
//! roundtrip/pipe,tcp?payload=64,4KiB&place=same-cpu,cross&wait=block
//! ```

use std::collections::BTreeMap;

use hopcost_model::axis::{Axis, Kind, Unit};
use hopcost_model::case::{Case, Placement, Workload};
use serde::Deserialize;

use crate::error::{Origin, Result, quote};
use crate::values::{Values, suggest};

/// What the user asked for. An empty list means the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ask {
    pub suite: Option<SuiteSource>,
    /// Selectors: `[workload/]mechanism[?key=v1,v2&key=…]`.
    pub selectors: Vec<String>,
    /// The options that give values on an axis, by its key; comma lists.
    pub axes: BTreeMap<&'static str, Vec<String>>,
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--budget`, in nanoseconds.
    pub budget_ns: Option<u64>,
    /// `--measure`: aimed length of a trial's measured phase, in nanoseconds.
    pub measure_ns: Option<u64>,
    /// `--operations`: exact operations of a trial with two ends; of a stream,
    /// messages of a flow at most.
    pub operations: Option<u64>,
    /// `--seed`, or a fresh one.
    pub seed: u64,
    /// `--cpus`: the caller's, then the callee's; one alone is for `same-cpu`.
    pub cpus: Vec<u32>,
}

/// A suite's or a claims file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSource {
    /// Its name, for errors.
    pub file: String,
    pub text: String,
}

impl Ask {
    /// Its selectors. Whether their mechanisms exist is seen later.
    pub(crate) fn parsed_selectors(&self) -> Result<Vec<Selector>> {
        let parse = |text: &String| Selector::parse_at(text, Origin::selector(text));
        self.selectors.iter().map(parse).collect()
    }

    /// Its options.
    pub(crate) fn options(&self) -> Result<Values> {
        let mut options = Values::default();
        for (key, lists) in self.axes.iter().filter(|(_, lists)| !lists.is_empty()) {
            let set = options.set(key, &lists.join(","));
            set.map_err(|message| Origin::option(&format!("--{key}")).error(message))?;
        }
        Ok(options)
    }
}

/// Cases that a plan may have: enough for any sweep, and a limit for a slip.
pub const CASES_MAX: usize = 10_000;

/// The error of a plan with more cases than that.
pub(crate) fn too_many(cases: usize) -> String {
    format!("this makes {cases} cases or more; a plan has at most {CASES_MAX}, so shorten a list")
}

/// Longest selector, in bytes.
const LENGTH_MAX: usize = 64 * 1024;
/// A parsed selector.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Selector {
    /// None: the first that each mechanism has.
    pub(crate) workloads: Vec<Workload>,
    pub(crate) mechanisms: Vec<Pattern>,
    pub(crate) values: Values,
    /// Where it stands.
    pub(crate) origin: Origin,
}

impl Selector {
    /// Parses a selector. Whether its mechanisms and parameters exist is seen
    /// when it is expanded.
    ///
    /// # Errors
    /// In one line, what is wrong with it.
    pub fn parse(text: &str) -> Result<Selector, String> {
        if text.len() > LENGTH_MAX {
            return Err(format!("longer than {LENGTH_MAX} bytes; write a suite file instead"));
        }
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        // A slash may also belong to a test engine's argument (`fault:a/b`).
        let (workloads, mechanisms) = match path.split_once('/') {
            Some((list, mechanisms)) if !list.contains(':') => (workloads(list)?, mechanisms),
            _ => (Vec::new(), path),
        };
        let mechanisms = Pattern::parse(mechanisms)?;
        // The spelling of a case has times in nanoseconds, without their unit.
        let is_case = text.parse::<Case>().is_ok_and(|case| case.id() == text);
        let mut values = Values::default();
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let Some((key, list)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("{} is not key=value", quote(pair)));
            };
            if values.has(key) {
                let key = quote(key);
                return Err(format!("{key} is given twice; separate its values by commas"));
            }
            let is_time = Axis::of_key(key)
                .is_some_and(|axis| matches!(axis.kind, Kind::Number(Unit::Time, ..)));
            match is_time && is_case {
                true => values.set(key, &format!("{list}ns"))?,
                false => values.set(key, list)?,
            }
        }
        Ok(Selector { workloads, mechanisms, values, origin: Origin::selector(text) })
    }

    /// The same with where it stands.
    pub(crate) fn parse_at(text: &str, origin: Origin) -> Result<Selector> {
        match Self::parse(text) {
            Ok(selector) => Ok(Selector { origin, ..selector }),
            Err(message) => Err(origin.error(message)),
        }
    }

    /// Whether it means a mechanism, given with a test engine's argument, and a workload,
    /// whatever its keys.
    pub(crate) fn chooses(&self, workload: Workload, mechanism: &str, hidden: bool) -> bool {
        let has = self.workloads.is_empty() || self.workloads.contains(&workload);
        has && self.mechanisms.iter().any(|pattern| pattern.matches(mechanism, hidden))
    }

    /// Whether a case is one that it means, `cross` being any two CPUs.
    pub fn fits(&self, case: &Case) -> bool {
        self.selects(case, false, &|placement| placement.is_two_cpu())
    }

    /// The same where `cross` is what `is_cross` says, and where the mechanism may be a test
    /// engine.
    pub(crate) fn selects(
        &self,
        case: &Case,
        hidden: bool,
        is_cross: &dyn Fn(Placement) -> bool,
    ) -> bool {
        self.chooses(case.workload, &case.mechanism, hidden) && self.values.admit(case, is_cross)
    }

    /// Whether it says what is to be done with the mechanism.
    pub fn says_workload(&self) -> bool {
        !self.workloads.is_empty()
    }

    /// Whether it says what the ends are to be written in.
    pub fn says_runtime(&self) -> bool {
        self.values.has("runtime")
    }
}

impl TryFrom<String> for Selector {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

fn workloads(list: &str) -> Result<Vec<Workload>, String> {
    list.split(',').map(|text| text.trim().parse().map_err(suggest)).collect()
}

/// One name or glob of mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {
    /// Exactly this mechanism, argument included; an unknown one is an error.
    Name(String),
    /// Every listed mechanism that matches, `*` standing for any characters.
    Glob(String),
}

impl Pattern {
    /// Those of a comma list of names and globs.
    fn parse(text: &str) -> Result<Vec<Pattern>, String> {
        let patterns = text.split(',').map(|one| match one.contains('*') && !one.contains(':') {
            true => Ok(Pattern::Glob(one.to_owned())),
            false if one.is_empty() => {
                Err("a mechanism's name is empty; write for instance roundtrip/pipe".to_owned())
            }
            // A test engine's argument may hold any character.
            false => Ok(Pattern::Name(one.to_owned())),
        });
        let patterns = patterns.collect::<Result<Vec<_>, String>>()?;
        if patterns.len() > CASES_MAX {
            return Err(too_many(patterns.len()));
        }
        Ok(patterns)
    }

    /// Whether it means a mechanism, given with its argument: test engines answer only to
    /// their name.
    pub fn matches(&self, mechanism: &str, hidden: bool) -> bool {
        match self {
            Pattern::Name(text) => *text == mechanism,
            Pattern::Glob(glob) => !hidden && is_match(glob, mechanism),
        }
    }
}

/// Whether a glob stands for a whole name.
fn is_match(glob: &str, name: &str) -> bool {
    let (start, rest) = glob.split_once('*').unwrap_or((glob, ""));
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut left) = name.strip_prefix(start) else { return false };
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stands_for_whole_names() {
        for (glob, names, others) in [
            ("*", &["", "pipe"][..], &[][..]),
            ("unix-*", &["unix-stream", "unix-"], &["unix", "a-unix-stream"]),
            ("*-stream", &["unix-stream"], &["unix-streams"]),
            ("*i*e*", &["pipe"], &["epi"]),
            ("*ab*abc", &["ababdabc", "ababc"], &["ababdab", "abc"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
        ] {
            assert!(names.iter().all(|name| is_match(glob, name)), "{glob}");
            assert!(!others.iter().any(|name| is_match(glob, name)), "{glob}");
        }
        let many = "*a".repeat(100);
        assert!(!is_match(&many, &"a".repeat(99)) && is_match(&many, &"a".repeat(10_000)));
    }
}
