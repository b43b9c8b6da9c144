//! Selectors: what is asked for on the command line and in a suite.
//!
//! ```text
//! [workload/]mechanisms[?key=v1,v2&key=…]
//! roundtrip/{pipe,tcp}?payload=64,4KiB&place=same-cpu,cross&wait=block
//! ```

use hopcost_model::case::Workload;

use crate::axes::{Axes, word};
use crate::error::quote;
use crate::expand::Wanted;
use crate::pattern::{self, Pattern};

/// Longest selector, in bytes.
const LENGTH_MAX: usize = 64 * 1024;

/// A parsed selector.
#[derive(Debug, Clone)]
pub(crate) struct Selector {
    /// The workloads asked for; the first that a mechanism has where none is.
    pub workloads: Option<Vec<Workload>>,
    /// Whether every workload of a mechanism is asked for (`*/pipe`).
    pub every_workload: bool,
    /// The mechanisms.
    pub mechanisms: Vec<Pattern>,
    /// The keys.
    pub axes: Axes,
}

impl Selector {
    /// Of its parts.
    pub fn of(workloads: Option<Vec<Workload>>, mechanisms: Vec<Pattern>, axes: Axes) -> Self {
        Selector { workloads, every_workload: false, mechanisms, axes }
    }

    /// Parses a selector. Whether its mechanisms and parameters exist is seen
    /// when it is expanded.
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
        let mechanisms = pattern::parse(mechanisms)?;
        let mut axes = Axes::default();
        let mut seen: Vec<&str> = Vec::new();
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            let Some((key, list)) = pair.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("{} is not key=value", quote(pair)));
            };
            if seen.contains(&key) {
                return Err(format!(
                    "{} is given twice; separate its values by commas",
                    quote(key)
                ));
            }
            seen.push(key);
            axes.set(key, list)?;
        }
        axes.check()?;
        let every_workload = workload == Some("*");
        Ok(Selector { workloads, every_workload, mechanisms, axes })
    }

    /// Whether it means this mechanism and workload, whatever its keys.
    pub fn chooses(&self, wanted: &Wanted) -> bool {
        self.workloads.as_ref().is_none_or(|all| all.contains(&wanted.workload))
            && self.mechanisms.iter().any(|pattern| pattern.matches(&wanted.target))
    }
}

/// Workloads of a comma list.
pub(crate) fn parse_workloads(list: &str) -> Result<Vec<Workload>, String> {
    list.split(',').map(|text| word(text.trim(), Workload::ALL)).collect()
}

/// The workload stands before the first slash, unless that slash belongs to a
/// test engine's argument (`replay:/tmp/file`).
fn split_workload(path: &str) -> (Option<&str>, &str) {
    match path.split_once('/') {
        Some((workload, mechanisms)) if !workload.contains(':') => (Some(workload), mechanisms),
        _ => (None, path),
    }
}
