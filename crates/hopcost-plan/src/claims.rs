//! Claims files: sentences as published, each with checks from which its verdict follows. TOML;
//! docs/claims.md describes the fields. Nothing in a file states the verdict.

mod check;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::axis::Axis;
use hopcost_model::case::Case;
use serde::Deserialize;
use toml::Spanned;

use crate::ask::Selector;
use crate::error::{Origin, PlanError, plain, quote, unknown};
use crate::source::Source;
use crate::suite::is_name;

pub use check::{Check, Number, Quantity};

/// Checks of a file: a plan of so many is no question any more.
const CHECKS_MAX: usize = 1_000;

/// The claims of a file, or of a suite.
#[derive(Debug, Clone, Deserialize)]
pub struct Claims {
    pub name: String,
    /// What they are about, in a sentence.
    #[serde(default)]
    pub about: String,
    /// Who published them.
    #[serde(default)]
    pub source: String,
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
    #[serde(default, rename = "question")]
    pub questions: Vec<Asking>,
    #[serde(default, rename = "case")]
    cases: BTreeMap<String, Spanned<String>>,
}

/// A sentence with its checks, all of which have to hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Claim {
    pub id: String,
    pub sentence: String,
    /// Where the source has it.
    pub at: Option<String>,
    /// What an ambiguous sentence means here; each other meaning is a claim of its own.
    pub meaning: Option<String>,
    /// Values that replace those of its cases, by the key of an axis or a parameter.
    #[serde(default)]
    vary: BTreeMap<String, Vec<String>>,
    #[serde(default, rename = "check")]
    checks: Vec<Spanned<Check>>,
    /// What no measurement can decide, and why.
    pub not_checkable: Option<String>,
}

/// A question whose answer follows from claims.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asking {
    pub id: String,
    pub asks: String,
    /// Ids of claims.
    pub claims: Vec<String>,
    /// What is so at some levels of what its cases vary, and not at others: these are the answer.
    #[serde(default)]
    pub levels: Vec<Claim>,
}

/// Parses a claims file. `file` only names it in errors.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_claims(file: &str, text: &str) -> Result<Claims, PlanError> {
    parsed(file, text).map(|(_, claims)| claims)
}

/// The same with what errors take places from.
pub(crate) fn parsed(file: &str, text: &str) -> Result<(Source, Claims), PlanError> {
    let keys = ["name", "about", "source", "case", "claim", "question"];
    let source = Source::new(file, text).checked("claims file", &keys)?;
    let claims = source.claims()?;
    if claims.claims.is_empty() {
        let message = "no claims; add a [[claim]] with id, sentence and [[claim.check]]";
        return Err(source.at(text.len(), "").error(message));
    }
    for claim in &claims.claims {
        if claim.not_checkable.is_none() && claim.checks().all(Check::claims_nothing) {
            let message = format!("claim {}: no check has from, to or about", quote(&claim.id));
            return Err(source.at(0, "").error(message));
        }
    }
    Ok((source, claims))
}

impl Claim {
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().map(Spanned::get_ref)
    }
}

impl Claims {
    /// The selector of a name in a claim: its own, with the values that the claim varies.
    pub fn selector(&self, name: &str, claim: &Claim) -> Option<String> {
        let text = self.cases.get(name)?.get_ref();
        let workload = text.split_once('/').and_then(|(workload, _)| workload.parse().ok());
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut pairs: Vec<(&str, String)> = pairs.map(|(key, list)| (key, list.into())).collect();
        for (key, values) in &claim.vary {
            let has = |axis: &Axis| workload.is_some_and(|workload| axis.of.has(workload));
            match pairs.iter_mut().find(|(own, _)| *own == key.as_str()) {
                Some(own) => own.1 = values.join(","),
                None if Axis::of_key(key).is_some_and(has) => pairs.push((key, values.join(","))),
                None => {}
            }
        }
        let pairs: Vec<String> = pairs.iter().map(|(key, list)| format!("{key}={list}")).collect();
        Some(if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) })
    }

    /// Every selector that a check needs, with its place.
    pub(crate) fn selectors(&self, source: &Source) -> Vec<(String, Origin)> {
        let mut all = Vec::new();
        for claim in self.all() {
            for name in claim.checks().flat_map(Check::names) {
                let Some(case) = self.cases.get(name) else { continue };
                let origin = source.of(case, &format!("case.{}", plain(name)));
                all.extend(self.selector(name, claim).map(|selector| (selector, origin)));
            }
        }
        all
    }

    /// Its claims, and those whose levels answer its questions.
    fn all(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().chain(self.questions.iter().flat_map(|question| &question.levels))
    }

    /// Keeps the claims that answer these questions, and these; all if there is none.
    pub fn asking(mut self, questions: &[String]) -> Self {
        if questions.is_empty() {
            return self;
        }
        self.questions.retain(|question| questions.contains(&question.id));
        let ids: BTreeSet<&String> = self.questions.iter().flat_map(|q| &q.claims).collect();
        self.claims.retain(|claim| ids.contains(&claim.id));
        self
    }
}

impl Source {
    /// The claims of a file or of a suite, which may have none.
    pub(crate) fn claims(&self) -> Result<Claims, PlanError> {
        let claims: Claims = self.read()?;
        if !is_name(&claims.name) {
            let message = format!("{} is not a name: use a-z 0-9 - _ .", quote(&claims.name));
            return Err(self.at(0, "name").error(message));
        }
        self.check_cases(&claims)?;
        self.check_claims(&claims)?;
        Ok(claims)
    }

    fn check_cases(&self, claims: &Claims) -> Result<(), PlanError> {
        for (name, text) in &claims.cases {
            let origin = self.of(text, &format!("case.{}", plain(name)));
            if !is_name(name) {
                return Err(origin.error("is not a name: use up to 100 of a-z 0-9 - _ ."));
            }
            let selector = Selector::parse(text.get_ref()).map_err(|m| origin.error(m))?;
            if !selector.says_workload() {
                return Err(origin.error("names no workload; write for instance roundtrip/pipe"));
            }
        }
        Ok(())
    }

    fn check_claims(&self, claims: &Claims) -> Result<(), PlanError> {
        let known: Vec<&str> = claims.cases.keys().map(String::as_str).collect();
        let (mut ids, mut count) = (Vec::new(), 0);
        for claim in claims.all() {
            let at = claim.checks.first().map_or(0, |check| check.span().start);
            let refuse = |message: String| Err(self.at(at, "claim").error(message));
            if ids.contains(&claim.id.as_str()) {
                return refuse(format!("there are two with the id {}", quote(&claim.id)));
            }
            ids.push(&claim.id);
            if claim.id.trim().is_empty() || claim.sentence.trim().is_empty() {
                return refuse("`id` and `sentence` must not be empty".to_owned());
            }
            let is_there = |key: &String| {
                let key = format!("{key}=");
                claims.cases.values().any(|text| text.get_ref().contains(&key))
            };
            let strange = |key: &&String| Axis::of_key(key).is_none() && !is_there(key);
            if let Some(key) = claim.vary.keys().find(strange) {
                let message = "is neither an axis nor a parameter that a case names";
                return refuse(format!("vary.{} {message}", plain(key)));
            }
            if claim.checks.is_empty() && claim.not_checkable.is_none() {
                let id = quote(&claim.id);
                return refuse(format!("{id} has neither [[claim.check]] nor not-checkable"));
            }
            count += claim.checks.len();
            if count > CHECKS_MAX {
                return refuse(format!("more than {CHECKS_MAX} checks"));
            }
            for check in &claim.checks {
                let strange = check.get_ref().names().find(|name| !known.contains(name));
                if let Some(name) = strange {
                    let origin = self.of(check, "claim.check");
                    return Err(origin.error(unknown("case", name, &known)));
                }
            }
        }
        for question in &claims.questions {
            if let Some(strange) = question.claims.iter().find(|id| !ids.contains(&id.as_str())) {
                return Err(self.at(0, "question.claims").error(unknown("claim", strange, &ids)));
            }
        }
        Ok(())
    }
}

/// Where a case lies along what its selector sweeps: the value of each key that has several.
pub fn level(selector: &str, case: &Case) -> BTreeMap<String, String> {
    let Ok(Selector { values, .. }) = Selector::parse(selector) else { return BTreeMap::new() };
    let value = |key: &str| match Axis::of_key(key) {
        Some(axis) => axis.get(case).map(|value| value.to_string()),
        None => case.parameters.get(key).cloned(),
    };
    values.swept().filter_map(|key| Some((key.to_owned(), value(key)?))).collect()
}
