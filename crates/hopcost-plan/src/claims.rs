//! Claims files: sentences as published, each with checks from which its verdict follows. TOML;
//! docs/claims.md describes the fields. Nothing in a file states the verdict.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::{Axis, Case, JudgedUnit, Region, Statistic};
use serde::Deserialize;
use toml::Spanned;

use crate::ask::Selector;
use crate::error::{Origin, Result, Source, plain, quote, unknown};
use crate::suite::is_name;

/// Checks of a file: a plan of so many is no question any more.
const CHECKS_MAX: usize = 1_000;

/// The claims of a file.
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
pub fn parse_claims(file: &str, text: &str) -> Result<Claims> {
    parsed(file, text).map(|(_, claims)| claims)
}

/// The same with what errors take places from.
pub(crate) fn parsed(file: &str, text: &str) -> Result<(Source, Claims)> {
    let keys = ["name", "about", "source", "case", "claim", "question"];
    let source = Source::new(file, text).checked("claims file", &keys)?;
    let claims: Claims = source.read()?;
    if !is_name(&claims.name) {
        let message = format!("{} is not a name: use a-z 0-9 - _ .", quote(&claims.name));
        return Err(source.at(0, "name").error(message));
    }
    source.check_cases(&claims)?;
    source.check_claims(&claims)?;
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
    fn check_cases(&self, claims: &Claims) -> Result<()> {
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

    fn check_claims(&self, claims: &Claims) -> Result<()> {
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

/// `about` allows a factor of this, up or down.
const ABOUT: f64 = 1.2;

/// A number and the bounds that are claimed of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Check {
    /// What it states, if not what the sentence does.
    pub says: Option<String>,
    /// The name of the case, or nothing for a printed figure.
    pub of: String,
    pub quantity: Quantity,
    pub number: Number,
    /// Open at both ends if nothing is claimed.
    pub region: Region,
}

/// Which number of a case it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// The quantity itself.
    Value,
    /// Divided by that of another case, by round.
    Over(String),
    /// Less that of another case, by round.
    Minus(String),
    /// A quotient of printed figures.
    Printed(f64),
    /// None: every trial fails, for a reason that contains this.
    Fails(String),
}

/// What of a case is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quantity {
    /// p50, or the cost in batches.
    Headline,
    /// A statistic of its times.
    Statistic(Statistic),
    /// The headline in ticks of the clock that stamps.
    Ticks,
    /// CPU time of both ends per message.
    Cpu,
    /// Context switches of both ends per operation.
    Switches,
    /// A counted event of both ends per operation.
    Event(String),
    /// What all flows move together.
    Throughput,
    /// The share of the zero-copy sends that the kernel copied.
    CopiedShare,
    /// The share of the exchanges that were lost.
    LostShare,
    /// By what share a run differs from the one before.
    BetweenRuns,
    /// A value of a finding, by its code and the value's name; without a name, 1 if there is one.
    /// The code `INVALID` is that of every finding which makes a case invalid.
    Finding(String, Option<String>),
}

/// The words of quantities that are neither statistics nor events, and their units.
const WORDS: [(&str, Quantity, JudgedUnit); 8] = [
    ("headline", Quantity::Headline, JudgedUnit::Ns),
    ("ticks", Quantity::Ticks, JudgedUnit::Number),
    ("cpu", Quantity::Cpu, JudgedUnit::Ns),
    ("context-switches", Quantity::Switches, JudgedUnit::Number),
    ("throughput", Quantity::Throughput, JudgedUnit::Gbps),
    ("copied-share", Quantity::CopiedShare, JudgedUnit::Share),
    ("lost-share", Quantity::LostShare, JudgedUnit::Share),
    ("between-runs", Quantity::BetweenRuns, JudgedUnit::Share),
];
/// Events that a run may count.
const EVENTS: &str =
    "system-calls cycles instructions l1d-misses llc-misses migrations page-faults";

impl Quantity {
    fn parse(word: &str) -> Result<Self, String> {
        if let Some((_, found, _)) = WORDS.iter().find(|(known, ..)| *known == word) {
            return Ok(found.clone());
        }
        if let Some(statistic) = Statistic::of_label(word) {
            return Ok(Quantity::Statistic(statistic));
        }
        if EVENTS.split(' ').any(|event| event == word) {
            return Ok(Quantity::Event(word.to_owned()));
        }
        if word.starts_with(|c: char| c.is_ascii_uppercase()) {
            let (code, name) = word.split_once('.').map_or((word, None), |(a, b)| (a, Some(b)));
            return Ok(Quantity::Finding(code.to_owned(), name.map(str::to_owned)));
        }
        let labels = Statistic::ALL.iter().map(|statistic| statistic.label());
        let known: Vec<&str> =
            WORDS.iter().map(|(word, ..)| *word).chain(EVENTS.split(' ')).chain(labels).collect();
        Err(unknown("statistic", word, &known))
    }

    /// Whether a host's state changes it as it changes times.
    pub fn is_time(&self) -> bool {
        matches!(self, Quantity::Headline | Quantity::Statistic(_) | Quantity::Ticks)
    }

    fn unit(&self) -> JudgedUnit {
        let known = WORDS.iter().find(|(_, quantity, _)| quantity == self);
        match self {
            Quantity::Statistic(_) => JudgedUnit::Ns,
            _ => known.map_or(JudgedUnit::Number, |(.., unit)| *unit),
        }
    }
}

impl Check {
    /// The unit of its number.
    pub fn unit(&self) -> JudgedUnit {
        match &self.number {
            Number::Value | Number::Minus(_) | Number::Fails(_) => self.quantity.unit(),
            Number::Over(_) => JudgedUnit::Times,
            Number::Printed(_) => JudgedUnit::Number,
        }
    }

    /// The other case, if there is one.
    pub fn over(&self) -> Option<&str> {
        match &self.number {
            Number::Over(name) | Number::Minus(name) => Some(name),
            Number::Value | Number::Printed(_) | Number::Fails(_) => None,
        }
    }

    /// The names of its cases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        Some(self.of.as_str()).filter(|of| !of.is_empty()).into_iter().chain(self.over())
    }

    /// Whether it reports a number and claims nothing of it.
    pub fn claims_nothing(&self) -> bool {
        self.region == Region { low: None, high: None } && !matches!(self.number, Number::Fails(_))
    }
}

/// A check as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    says: Option<String>,
    of: Operand,
    over: Option<Operand>,
    minus: Option<String>,
    statistic: Option<String>,
    from: Option<Bound>,
    to: Option<Bound>,
    about: Option<Bound>,
    fails: Option<String>,
}

/// A name of a case, or a printed figure.
#[derive(Deserialize)]
#[serde(untagged)]
enum Operand {
    Figure(f64),
    Name(String),
}

/// A number, or a text with its unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bound {
    Number(f64),
    Text(String),
}

impl Bound {
    fn value(&self, unit: JudgedUnit) -> Result<f64, String> {
        let text = match self {
            Bound::Number(number) if number.is_finite() => return Ok(*number),
            Bound::Number(number) => return Err(format!("{number} is no bound")),
            Bound::Text(text) => text,
        };
        let units: &[(&str, f64)] = match unit {
            JudgedUnit::Ns => &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
            JudgedUnit::Share => &[("%", 0.01)],
            JudgedUnit::Times | JudgedUnit::Number | JudgedUnit::Gbps => &[],
        };
        let read = |(suffix, factor): &(&str, f64)| {
            let number: f64 = text.strip_suffix(suffix)?.trim_end().parse().ok()?;
            number.is_finite().then_some(number * factor)
        };
        let names: Vec<&str> = units.iter().map(|(suffix, _)| *suffix).collect();
        let refused = || match names.as_slice() {
            [] => format!("{text:?} must be a number without quotes"),
            names => format!("{text:?} must be a number with one of {}", names.join(", ")),
        };
        units.iter().find_map(read).ok_or_else(refused)
    }
}

impl TryFrom<Fields> for Check {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let quantity = Quantity::parse(fields.statistic.as_deref().unwrap_or("headline"))?;
        let name = |operand| match operand {
            Operand::Name(name) => Ok(name),
            Operand::Figure(_) => Err("a figure has no case beside it".to_owned()),
        };
        let (of, number) = match (fields.of, fields.over, fields.minus, fields.fails) {
            (Operand::Figure(a), Some(Operand::Figure(b)), None, None) if b != 0.0 => {
                (String::new(), Number::Printed(a / b))
            }
            (of, None, None, None) => (name(of)?, Number::Value),
            (of, Some(over), None, None) => (name(of)?, Number::Over(name(over)?)),
            (of, None, Some(minus), None) => (name(of)?, Number::Minus(minus)),
            (of, None, None, Some(why)) => (name(of)?, Number::Fails(why)),
            _ => return Err("use one of `over`, `minus` and `fails`".to_owned()),
        };
        let mut check =
            Check { says: fields.says, of, quantity, number, region: Region::default() };
        let unit = check.unit();
        let value = |bound: Option<Bound>| bound.map(|bound| bound.value(unit)).transpose();
        check.region = match (value(fields.about)?, value(fields.from)?, value(fields.to)?) {
            (Some(about), None, None) => {
                let ends = (about / ABOUT, about * ABOUT);
                Region { low: Some(ends.0.min(ends.1)), high: Some(ends.0.max(ends.1)) }
            }
            (None, low, high) => Region { low, high },
            _ => return Err("`about` stands alone; `from` and `to` may stand together".to_owned()),
        };
        match check.region {
            Region { low: Some(low), high: Some(high) } if low > high => {
                Err("`from` is greater than `to`".to_owned())
            }
            _ => Ok(check),
        }
    }
}
