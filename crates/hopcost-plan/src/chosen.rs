//! Which suite and which times are meant.

use hopcost_model::plan::TrialShape;

use crate::error::{Origin, PlanError, quote, unknown};
use crate::request::Request;
use crate::shape::{ROUNDS_MAX, TRIAL_DEFAULT, Time};
use crate::shipped::SHIPPED;
use crate::suite::{
    MEASURE_MAX_NS, MEASURE_MIN_NS, OPERATIONS_MAX, Suite, deadline_ms, parse_suite,
};
use crate::{Ask, SuiteSource};

/// The suite that was asked for, or the default one where nothing was.
pub(crate) fn suite_of(ask: &Ask, request: &Request) -> Result<Option<Suite>, PlanError> {
    let shipped = |name: &str| match SHIPPED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => parse_suite(&format!("suites/{name}.toml"), text).map(Some),
        None => {
            let known: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            let message = unknown("suite", name, &known);
            let message = format!("{message}; a file is named by its path, as in ./mine.toml");
            Err(Origin::option("--suite").error(message))
        }
    };
    if ask.full {
        return shipped(&full_suite(&ask.suite)?);
    }
    match &ask.suite {
        Some(SuiteSource::Shipped(name)) => shipped(name),
        Some(SuiteSource::Text { file, text }) => parse_suite(file, text).map(Some),
        None if request.is_plain() => shipped("ladder"),
        None => Ok(None),
    }
}

/// The name of the suite that `--full` means.
fn full_suite(suite: &Option<SuiteSource>) -> Result<String, PlanError> {
    let full: Vec<&str> =
        SHIPPED.iter().filter_map(|(name, _)| name.strip_suffix("-full")).collect();
    let message = match suite {
        Some(SuiteSource::Shipped(name)) if full.contains(&name.as_str()) => {
            return Ok(format!("{name}-full"));
        }
        Some(SuiteSource::Shipped(name)) => format!("the suite {} has no full form", quote(name)),
        Some(SuiteSource::Text { .. }) => "a suite file has no full form".to_owned(),
        None => "which suite?".to_owned(),
    };
    let message = format!("{message}; write --suite {} --full", full.join(" or "));
    Err(Origin::option("--full").error(message))
}

/// Rounds, budget and trial: the command line over the suite's.
pub(crate) fn time_of(ask: &Ask, suite: Option<&Suite>, added: bool) -> Result<Time, PlanError> {
    if ask.rounds.is_some_and(|n| !(1..=ROUNDS_MAX).contains(&n)) {
        let message = format!("want a whole number from 1 to {ROUNDS_MAX}");
        return Err(Origin::option("--rounds").error(message));
    }
    if ask.budget_ns == Some(0) {
        return Err(Origin::option("--budget").error("no time at all; want for instance 75s"));
    }
    let (rounds, budget_ns) = match (ask.rounds, ask.budget_ns) {
        (None, None) => {
            let budget = suite.and_then(|suite| suite.budget_ns).filter(|_| !added);
            (suite.and_then(|suite| suite.rounds), budget)
        }
        said => said,
    };
    let mut trial: TrialShape = suite.map_or(TRIAL_DEFAULT, |suite| suite.trial);
    if let Some(ns) = ask.measure_ns {
        if !(MEASURE_MIN_NS..=MEASURE_MAX_NS).contains(&ns) {
            return Err(Origin::option("--measure").error("want a duration from 100us to 60s"));
        }
        trial.measure_ns = ns;
        trial.measure_max_ns = trial.measure_max_ns.max(ns.saturating_mul(2));
        trial.deadline_ms = trial.deadline_ms.max(deadline_ms(&trial, None));
    }
    if let Some(n) = ask.operations {
        if !(1..=OPERATIONS_MAX).contains(&n) {
            let message = format!("want a whole number from 1 to {OPERATIONS_MAX}");
            return Err(Origin::option("--operations").error(message));
        }
        trial.operations = Some(n);
        trial.deadline_ms = trial.deadline_ms.max(deadline_ms(&trial, None));
    }
    let measure_said = ask.measure_ns.is_some() || suite.is_some_and(|suite| suite.measure_said);
    Ok(Time { rounds, budget_ns, trial, measure_said })
}
