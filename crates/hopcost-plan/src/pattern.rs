//! Which mechanisms are meant: names, globs, `{a,b}` and comma lists.

use hopcost_model::case::{Runtimes, decode};
use hopcost_model::mechanism::Facts;

use crate::error::{quote, unknown};
use crate::glob::Glob;
use crate::known::Known;

/// Alternatives that one pattern may have after `{a,b}` is written out.
const ALTERNATIVES_MAX: usize = 1000;
/// Bytes that a glob may have: far more than any name.
const GLOB_MAX: usize = 200;

/// One name or glob.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// Exactly this mechanism, argument included; an unknown one is an error.
    Name(String),
    /// Every listed mechanism that matches.
    Glob(String, Glob),
}

/// A mechanism that was meant.
#[derive(Clone)]
pub(crate) struct Target {
    /// Its facts.
    pub facts: &'static Facts,
    /// Its name with a test engine's argument (`sleep:1ms`).
    pub mechanism: String,
    /// Named in full rather than matched by a glob.
    pub named: bool,
    /// What the ends are written in.
    pub runtimes: Runtimes,
    /// The facts of what the caller and the callee play, by which their waits are
    /// chosen; `facts` where that is not known.
    pub ends: [&'static Facts; 2],
}

impl Target {
    /// Both ends in the runtime that is meant where nothing is said.
    pub fn new(facts: &'static Facts, mechanism: &str, named: bool, runtimes: Runtimes) -> Self {
        Self { facts, mechanism: mechanism.to_owned(), named, runtimes, ends: [facts; 2] }
    }
    /// Its name without a test engine's argument.
    pub fn name(&self) -> &str {
        self.mechanism.split(':').next().unwrap_or(&self.mechanism)
    }
}

/// Patterns of a comma list.
pub(crate) fn parse(text: &str) -> Result<Vec<Pattern>, String> {
    let mut patterns = Vec::new();
    for part in split_commas(text) {
        // A test engine's argument may hold any character, so nothing is
        // expanded behind a colon.
        if part.contains(':') {
            patterns.push(Pattern::Name(name(part)?));
            continue;
        }
        for alternative in expand_braces(part)? {
            patterns.push(one(&alternative)?);
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

fn name(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("a mechanism's name is empty; write for instance roundtrip/pipe".into());
    }
    decode(text)
        .ok_or_else(|| format!("{} has a `%` that encodes nothing; write it as %25", quote(text)))
}

/// Splits at commas that stand outside braces.
pub(crate) fn split_commas(text: &str) -> Vec<&str> {
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

impl Pattern {
    /// The mechanisms meant, for the runtimes that were said. Test engines answer
    /// only to their name.
    pub fn targets(&self, known: &Known, said: Option<&[Runtimes]>) -> Result<Vec<Target>, String> {
        let target = |facts: &'static Facts, text: &str, named| {
            let default = || known.default_runtimes(facts.name);
            let first = said.and_then(|said| said.first().cloned()).or_else(default);
            Target::new(facts, text, named, first.unwrap_or_default())
        };
        match self {
            Pattern::Name(text) => {
                let bare = text.split(':').next().unwrap_or(text);
                let Some(facts) = known.representative(bare, said) else {
                    return Err(unknown_mechanism(bare, known));
                };
                check_argument(facts, text)?;
                Ok(vec![target(facts, text, true)])
            }
            Pattern::Glob(text, glob) => {
                let found: Vec<Target> = known
                    .all_within(said.unwrap_or(&[Runtimes::RUST]))
                    .into_iter()
                    .filter(|facts| !facts.hidden && glob.is_match(facts.name))
                    .map(|facts| target(facts, facts.name, false))
                    .collect();
                if found.is_empty() {
                    return Err(format!(
                        "no mechanism matches {}; `hopcost list` shows them all",
                        quote(text)
                    ));
                }
                Ok(found)
            }
        }
    }

    /// As written.
    pub fn text(&self) -> &str {
        match self {
            Pattern::Name(text) | Pattern::Glob(text, _) => text,
        }
    }

    /// Whether it means this mechanism.
    pub fn matches(&self, target: &Target) -> bool {
        match self {
            Pattern::Name(text) => *text == target.mechanism,
            Pattern::Glob(_, glob) => !target.facts.hidden && glob.is_match(target.facts.name),
        }
    }
}

fn unknown_mechanism(name: &str, known: &Known) -> String {
    let listed = known.names();
    if crate::error::nearest(name, &listed).is_some() {
        return unknown("mechanism", name, &listed);
    }
    let mut message = format!("unknown mechanism {}; `hopcost list` shows them all", quote(name));
    let absent = known.absentees();
    if !absent.is_empty() {
        message.push_str(&format!(" but those of {}, which are not here", absent.join(", ")));
    }
    message
}

/// Only test engines have an argument, and some of them need theirs.
fn check_argument(facts: &Facts, text: &str) -> Result<(), String> {
    let argument = text.split_once(':').map(|(_, argument)| argument);
    match facts.argument {
        _ if !facts.hidden && argument.is_some() => {
            Err(format!("{} takes no argument after a colon", facts.name))
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
    }

    #[test]
    fn commas_inside_braces_do_not_split() {
        assert_eq!(split_commas("a,{b,c},d"), ["a", "{b,c}", "d"]);
        assert_eq!(split_commas(""), [""]);
    }
}
