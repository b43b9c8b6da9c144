//! Selectors, the one language for saying which cases are meant: on the command line, in
//! suites and in published tables.
//!
//! ```text
//! [workload/]mechanisms[?key=v1,v2&key=…]
//! roundtrip/{pipe,tcp}?payload=64,4KiB&place=same-cpu,cross&wait=block
//! ```

use hopcost_model::axis::{Axis, Kind};
use hopcost_model::case::{Case, Placement, Workload, decode};
use serde::Deserialize;

use crate::asked::{Asked, suggest};
use crate::error::quote;
use crate::glob::Glob;

/// Cases that a plan may have: enough for any sweep, and a limit for a slip.
pub const CASES_MAX: u64 = 10_000;

/// What is said of more.
pub(crate) fn too_many(cases: u64) -> String {
    format!("this makes {cases} cases or more; a plan has at most {CASES_MAX}, so shorten a list")
}

/// Longest selector, in bytes.
const LENGTH_MAX: usize = 64 * 1024;
/// Alternatives that one pattern may have after `{a,b}` is written out.
const ALTERNATIVES_MAX: usize = 1000;
/// Braces that one pattern may have: each is one more copy of every alternative.
const BRACES_MAX: usize = 50;
/// Bytes that a glob may have: far more than any name.
const GLOB_MAX: usize = 200;

/// A parsed selector.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Selector {
    /// The workloads asked for; the first that a mechanism has where none is.
    pub(crate) workloads: Option<Vec<Workload>>,
    /// Whether every workload of a mechanism is asked for (`*/pipe`).
    pub(crate) every_workload: bool,
    pub(crate) mechanisms: Vec<Pattern>,
    pub(crate) asked: Asked,
}

impl Selector {
    /// Of its parts.
    pub(crate) fn of(
        workloads: Option<Vec<Workload>>,
        mechanisms: Vec<Pattern>,
        asked: Asked,
    ) -> Self {
        Selector { workloads, every_workload: false, mechanisms, asked }
    }

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
        let (workload, mechanisms) = split_workload(path);
        let workloads = match workload {
            None | Some("*") => None,
            Some(list) => Some(parse_workloads(list)?),
        };
        let mechanisms = Pattern::parse(mechanisms)?;
        // The spelling of a case has times in nanoseconds, without their unit.
        let is_case = text.parse::<Case>().is_ok_and(|case| case.id() == text);
        let mut asked = Asked::default();
        let mut seen: Vec<&str> = Vec::new();
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let Some((key, list)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("{} is not key=value", quote(pair)));
            };
            if seen.contains(&key) {
                let key = quote(key);
                return Err(format!("{key} is given twice; separate its values by commas"));
            }
            seen.push(key);
            let is_time =
                Axis::of_key(key).is_some_and(|axis| matches!(axis.kind, Kind::Time { .. }));
            match is_time && is_case {
                true => asked.set(key, &format!("{list}ns"))?,
                false => asked.set(key, list)?,
            }
        }
        asked.check()?;
        Ok(Selector { workloads, every_workload: workload == Some("*"), mechanisms, asked })
    }

    /// Whether it means a mechanism, given with a test engine's argument, and a workload,
    /// whatever its keys.
    pub(crate) fn chooses(&self, workload: Workload, mechanism: &str, hidden: bool) -> bool {
        self.workloads.as_ref().is_none_or(|all| all.contains(&workload))
            && self.mechanisms.iter().any(|pattern| pattern.matches(mechanism, hidden))
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
        self.chooses(case.workload, &case.mechanism, hidden) && self.asked.admit(case, is_cross)
    }

    /// Whether it says what is to be done with the mechanism.
    pub fn says_workload(&self) -> bool {
        self.workloads.is_some()
    }

    /// Whether it says what the ends are to be written in.
    pub fn says_runtime(&self) -> bool {
        self.asked.get("runtime").is_some()
    }
}

impl TryFrom<String> for Selector {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

/// Workloads of a comma list.
pub(crate) fn parse_workloads(list: &str) -> Result<Vec<Workload>, String> {
    let known: Vec<&str> = Workload::ALL.iter().map(|workload| workload.word()).collect();
    list.split(',')
        .map(|text| text.trim().parse().map_err(|error| suggest(error, &known)))
        .collect()
}

/// The workload stands before the first slash, unless that slash belongs to a
/// test engine's argument (`replay:/tmp/file`).
fn split_workload(path: &str) -> (Option<&str>, &str) {
    match path.split_once('/') {
        Some((workload, mechanisms)) if !workload.contains(':') => (Some(workload), mechanisms),
        _ => (None, path),
    }
}

/// One name or glob of mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Pattern {
    /// Exactly this mechanism, argument included; an unknown one is an error.
    Name(String),
    /// Every listed mechanism that matches.
    Glob(String, Glob),
}

impl Pattern {
    /// Those of a comma list of names, globs and `{a,b}`.
    pub fn parse(text: &str) -> Result<Vec<Pattern>, String> {
        let mut patterns = Vec::new();
        for part in split_commas(text) {
            // A test engine's argument may hold any character, so nothing is
            // expanded behind a colon.
            if part.contains(':') {
                patterns.push(Pattern::Name(name(part)?));
                continue;
            }
            for alternative in expand_braces(part)? {
                patterns.push(Pattern::one(&alternative)?);
            }
            let n = u64::try_from(patterns.len()).unwrap_or(u64::MAX);
            if n > CASES_MAX {
                return Err(too_many(n));
            }
        }
        Ok(patterns)
    }

    fn one(text: &str) -> Result<Pattern, String> {
        if !text.contains(['*', '[', ']', '!', '\\']) {
            return Ok(Pattern::Name(name(text)?));
        }
        if text.len() > GLOB_MAX {
            return Err(format!("{} is longer than any mechanism's name", quote(text)));
        }
        let glob =
            Glob::new(text).map_err(|wrong| format!("{} is not a glob: {wrong}", quote(text)))?;
        Ok(Pattern::Glob(text.to_owned(), glob))
    }

    pub fn text(&self) -> &str {
        match self {
            Pattern::Name(text) | Pattern::Glob(text, _) => text,
        }
    }

    /// Whether it means a mechanism, given with its argument: test engines answer only to
    /// their name.
    pub fn matches(&self, mechanism: &str, hidden: bool) -> bool {
        match self {
            Pattern::Name(text) => *text == mechanism,
            Pattern::Glob(_, glob) => !hidden && glob.is_match(mechanism),
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("a mechanism's name is empty; write for instance roundtrip/pipe".into());
    }
    decode(text)
        .ok_or_else(|| format!("{} has a `%` that encodes nothing; write it as %25", quote(text)))
}

/// Splits at commas that stand outside braces.
fn split_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Writes out `{a,b}`, so that each alternative is a name or a glob of its own
/// and a misspelt name among them is noticed.
fn expand_braces(text: &str) -> Result<Vec<String>, String> {
    let unbalanced = || format!("{} has a brace without its partner", quote(text));
    if text.matches('{').count() > BRACES_MAX {
        return Err(format!("{} has more than {BRACES_MAX} braces; use `*`", quote(text)));
    }
    let (mut open, mut done) = (vec![text.to_owned()], Vec::new());
    while let Some(next) = open.pop() {
        let Some(start) = next.find('{') else {
            if next.contains('}') {
                return Err(unbalanced());
            }
            done.push(next);
            continue;
        };
        let end = matching_brace(&next, start).ok_or_else(unbalanced)?;
        // Backwards, because the last one pushed is the first one written out.
        for alternative in split_commas(&next[start + 1..end]).into_iter().rev() {
            open.push(format!("{}{alternative}{}", &next[..start], &next[end + 1..]));
        }
        if open.len() + done.len() > ALTERNATIVES_MAX {
            return Err(format!(
                "{} stands for more than {ALTERNATIVES_MAX} names; use `*`",
                quote(text)
            ));
        }
    }
    Ok(done)
}

fn matching_brace(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in text[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(start + i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_out_in_order() {
        let expand = |text: &str| expand_braces(text).unwrap();
        assert_eq!(expand("pipe"), ["pipe"]);
        assert_eq!(expand("{pipe,tcp}"), ["pipe", "tcp"]);
        assert_eq!(expand("unix-{stream,d{gram,x}}"), ["unix-stream", "unix-dgram", "unix-dx"]);
        assert_eq!(expand("{a,b}{c,d}"), ["ac", "ad", "bc", "bd"]);
        for bad in ["{a", "a}", "{a{b}", "}{"] {
            assert!(expand_braces(bad).is_err(), "{bad}");
        }
        assert!(expand_braces(&"{a,b}".repeat(40)).unwrap_err().contains("more than 1000"));
        assert!(expand_braces(&"{a}".repeat(51)).unwrap_err().contains("more than 50 braces"));
    }

    #[test]
    fn commas_inside_braces_do_not_split() {
        assert_eq!(split_commas("a,{b,c},d"), ["a", "{b,c}", "d"]);
        assert_eq!(split_commas(""), [""]);
    }
}
