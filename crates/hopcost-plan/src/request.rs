//! The command line, before anything is looked up.

use hopcost_model::case::Workload;

use crate::Ask;
use crate::axes::Axes;
use crate::error::{Origin, PlanError, quote};
use crate::expand::Wanted;
use crate::pattern::{self, Pattern};
use crate::selector::{Selector, parse_workloads};
use crate::suite::Entry;

/// The command line, parsed.
pub(crate) struct Request {
    /// The selectors.
    pub selectors: Vec<Entry>,
    /// `--mechanism`, each with its own place in errors.
    pub mechanisms: Vec<(Pattern, Origin)>,
    /// `--workload`.
    pub workloads: Option<Vec<Workload>>,
    /// The other options.
    pub options: Axes,
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
            for pattern in pattern::parse(text).map_err(|message| origin.error(message))? {
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
    pub fn admits(&self, wanted: &Wanted) -> bool {
        let workload = self.workloads.as_ref().is_none_or(|all| all.contains(&wanted.workload));
        let mut patterns = self.mechanisms.iter();
        workload
            && (self.mechanisms.is_empty()
                || patterns.any(|(pattern, _)| pattern.matches(&wanted.target)))
    }
}

/// The name of the option that gives a key.
pub(crate) fn option_of(key: &str) -> String {
    match key {
        "place" => "--placement".to_owned(),
        key if crate::axes::KEYS.contains(&key) => format!("--{key}"),
        _ => "--parameter".to_owned(),
    }
}

fn options(ask: &Ask) -> Result<Axes, PlanError> {
    let mut axes = Axes::default();
    for (key, lists) in [
        ("payload", &ask.payload),
        ("field", &ask.field),
        ("fields", &ask.fields),
        ("flows", &ask.flows),
        ("ack", &ask.ack),
        ("gap", &ask.gap),
        ("idle-knob", &ask.idle_knob),
        ("boundary", &ask.boundary),
        ("place", &ask.placement),
        ("wait", &ask.wait),
        ("spin", &ask.spin),
        ("sched", &ask.sched),
        ("runtime", &ask.runtime),
    ] {
        if !lists.is_empty() {
            let origin = Origin::option(&option_of(key));
            axes.set(key, &lists.join(",")).map_err(|message| origin.error(message))?;
        }
    }
    axes.check().map_err(|message| Origin::option("--field").error(message))?;
    let origin = Origin::option("--parameter");
    for text in &ask.parameters {
        let Some((key, list)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(origin.error(format!("{} is not KEY=VALUE", quote(text))));
        };
        if axes.keys().contains(&key) || crate::axes::KEYS.contains(&key) {
            let message = format!("{} is given twice or has an option of its own", quote(key));
            return Err(origin.error(message));
        }
        axes.set(key, list).map_err(|message| origin.error(message))?;
    }
    Ok(axes)
}
