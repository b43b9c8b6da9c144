//! The command line, before anything is looked up.

use hopcost_model::axis::Axis;
use hopcost_model::case::Workload;

use crate::ask::Ask;
use crate::asked::Asked;
use crate::error::{Origin, PlanError, quote};
use crate::select::{Pattern, Selector, parse_workloads};
use crate::selection::Selection;
use crate::suite::Entry;

/// The command line, parsed.
pub(crate) struct Request {
    pub selectors: Vec<Entry>,
    /// `--mechanism`, each with its own place in errors.
    pub mechanisms: Vec<(Pattern, Origin)>,
    /// `--workload`.
    pub workloads: Option<Vec<Workload>>,
    /// The other options.
    pub options: Asked,
}

impl Request {
    /// Parses it; whether mechanisms exist is seen later.
    pub fn parse(ask: &Ask) -> Result<Request, PlanError> {
        let mut selectors = Vec::new();
        for text in &ask.selectors {
            let origin = Origin::selector(text);
            let selector = Selector::parse(text).map_err(|message| origin.error(message))?;
            let group = selectors.len();
            selectors.push(Entry { selector, origin, group });
        }
        let mut mechanisms = Vec::new();
        for text in &ask.mechanism {
            let origin = Origin::option("--mechanism");
            for pattern in Pattern::parse(text).map_err(|message| origin.error(message))? {
                mechanisms.push((pattern, origin.clone()));
            }
        }
        let workloads = match ask.workload.as_slice() {
            [] => None,
            lists => {
                let origin = Origin::option("--workload");
                Some(parse_workloads(&lists.join(",")).map_err(|message| origin.error(message))?)
            }
        };
        Ok(Request { selectors, mechanisms, workloads, options: options(ask)? })
    }

    /// Whether a suite is to be taken as written.
    pub fn is_plain(&self) -> bool {
        self.selectors.is_empty()
            && self.mechanisms.is_empty()
            && self.workloads.is_none()
            && self.options.is_empty()
    }

    /// Whether a mechanism and workload are among those chosen.
    pub fn admits(&self, selection: &Selection) -> bool {
        self.workloads.as_ref().is_none_or(|all| all.contains(&selection.workload))
            && (self.mechanisms.is_empty()
                || self.mechanisms.iter().any(|(pattern, _)| selection.matches(pattern)))
    }
}

/// The name of the option that gives a key.
pub(crate) fn option_of(key: &str) -> String {
    format!("--{}", Axis::of_key(key).map_or("parameter", |axis| axis.key))
}

fn options(ask: &Ask) -> Result<Asked, PlanError> {
    let mut asked = Asked::default();
    for (key, lists) in ask.axes.iter().filter(|(_, lists)| !lists.is_empty()) {
        let origin = Origin::option(&option_of(key));
        asked.set(key, &lists.join(",")).map_err(|message| origin.error(message))?;
    }
    asked.check().map_err(|message| Origin::option("--field").error(message))?;
    let origin = Origin::option("--parameter");
    for text in &ask.parameters {
        let Some((key, list)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(origin.error(format!("{} is not KEY=VALUE", quote(text))));
        };
        if asked.keys().contains(&key) || Axis::of_key(key).is_some() {
            let message = format!("{} is given twice or has an option of its own", quote(key));
            return Err(origin.error(message));
        }
        asked.set(key, list).map_err(|message| origin.error(message))?;
    }
    Ok(asked)
}
