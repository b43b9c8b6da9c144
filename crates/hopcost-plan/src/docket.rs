//! Dockets: sentences as published, each with checks from which its verdict follows. TOML;
//! docs/dockets.md describes the format. Nothing in a docket says what the verdict will be.

mod arithmetic;
mod cursor;
mod test;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::axis::Axis;
use hopcost_model::results::NotCheckable;
use hopcost_model::text::is_plain;
use toml::de::{DeTable, DeValue};

use crate::error::{Origin, PlanError, plain, quote, unknown};
use crate::select::Selector;
use crate::shipped::{DOCKETS, SHIPPED, shown_by};
use crate::suite::is_name;
use crate::suite::value::{Source, Value};

pub use test::{Number, Quantity, Term, Test};

/// Levels at which one check may be made.
const LEVELS_MAX: usize = 64;
/// Factors that a claim may vary.
const FACTORS_MAX: usize = 8;
/// Checks of a docket, counted once for each level.
const CHECKS_MAX: usize = 10_000;

/// A parsed docket; whether its cases can be measured is seen when it is planned.
#[derive(Debug, Clone)]
pub struct Docket {
    pub name: String,
    /// What it is about, in a sentence.
    pub about: String,
    /// What published its claims.
    pub source: String,
    pub claims: Vec<Claim>,
    /// What it asks of its claims.
    pub questions: Vec<Asking>,
    cases: BTreeMap<String, (String, Origin)>,
}

/// A sentence with its checks.
#[derive(Debug, Clone)]
pub struct Claim {
    pub id: String,
    pub sentence: String,
    /// Where it stands in the source.
    pub at: Option<String>,
    /// The levels at which each check is made; one that says nothing where nothing is varied.
    pub levels: Vec<Level>,
    pub checks: Vec<Check>,
    /// What of it no measurement can tell.
    pub not_checkable: Vec<NotCheckable>,
}

/// A value for each factor that is varied, by its key.
pub type Level = BTreeMap<String, String>;

#[derive(Debug, Clone)]
pub struct Check {
    /// What it says, if not what the sentence says.
    pub says: Option<String>,
    pub text: String,
    /// The same, parsed.
    pub test: Test,
    /// What an ambiguous sentence is taken to mean; checks of other meanings are alternatives.
    pub meaning: Option<String>,
}

/// A question whose answer follows from claims.
#[derive(Debug, Clone)]
pub struct Asking {
    pub id: String,
    pub asks: String,
    /// Ids of claims.
    pub claims: Vec<String>,
}

/// Parses a docket. `file` only names it in errors.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_docket(file: &str, text: &str) -> Result<Docket, PlanError> {
    let (source, document) = Source::parsed("docket", file, text)?;
    // A stored docket is read again, and a run file has such characters spelled out.
    let hidden = |c: char| !is_plain(c) && !matches!(c, '\t' | '\n' | '\r');
    if let Some((byte, c)) = text.char_indices().find(|(_, c)| hidden(*c)) {
        let message = format!("character U+{:04X} does not show; remove it", u32::from(c));
        return Err(source.at(byte, "").error(message));
    }
    source.docket(document.get_ref())
}

/// The claims that are told of the runs of a shipped suite: of the docket that it names, and its own.
pub fn claims_of(suite: &str) -> Vec<Docket> {
    let named = shown_by(suite).and_then(|shown| shown.docket.as_deref());
    let named = DOCKETS.iter().find(|(name, _)| Some(*name) == named);
    let named = named.and_then(|(name, text)| parse_docket(name, text).ok());
    let own = SHIPPED.iter().find(|(name, _)| *name == suite);
    let own = own.and_then(|(name, text)| parse_claims(name, text).ok());
    named.into_iter().chain(own).collect()
}

fn parse_claims(file: &str, text: &str) -> Result<Docket, PlanError> {
    let (source, document) = Source::parsed("suite", file, text)?;
    source.claims(document.get_ref())
}

impl Docket {
    /// The selector that a name stands for at a level: its own, with the level's values of what it
    /// has.
    pub fn selector(&self, name: &str, level: &Level) -> Option<String> {
        let (text, _) = self.cases.get(name)?;
        let workload = text.split_once('/').and_then(|(workload, _)| workload.parse().ok());
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut pairs: Vec<(&str, &str)> = pairs.collect();
        for (key, value) in level {
            let own = pairs.iter_mut().find(|(own, _)| own == key);
            let has = |axis: &Axis| workload.is_some_and(|workload| axis.of.has(workload));
            match own {
                Some(own) => own.1 = value,
                None if Axis::of_key(key).is_some_and(has) => pairs.push((key, value)),
                None => {}
            }
        }
        let pairs: Vec<String> =
            pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Some(if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) })
    }

    /// The levels at which a check is made: what its cases have of those of its claim, each once.
    pub fn levels(&self, claim: &Claim, check: &Check) -> Vec<Level> {
        let has = |key: &String, value: &String| {
            let one = Level::from([(key.clone(), value.clone())]);
            let pair = format!("{key}={value}");
            let mut selectors =
                check.test.terms().into_iter().filter_map(|term| self.selector(&term.name, &one));
            selectors.any(|selector| selector.split(['?', '&']).any(|own| own == pair))
        };
        let mut levels: Vec<Level> = Vec::new();
        for level in &claim.levels {
            let own = level.iter().filter(|(key, value)| has(key, value));
            let own: Level = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            if !levels.contains(&own) {
                levels.push(own);
            }
        }
        levels
    }

    /// Every selector that a check needs, with its place, and whether it has to stand for one case.
    pub(crate) fn selectors(&self) -> Vec<(String, &Origin, bool)> {
        let mut all = Vec::new();
        for claim in &self.claims {
            let levels = |check| self.levels(claim, check).into_iter().map(move |l| (check, l));
            for (check, level) in claim.checks.iter().flat_map(levels) {
                for term in check.test.terms() {
                    let origin = self.cases.get(&term.name).map(|(_, origin)| origin);
                    let selector = self.selector(&term.name, &level);
                    all.extend(
                        selector.zip(origin).map(|(s, origin)| (s, origin, check.test.wants_one())),
                    );
                }
            }
        }
        all
    }

    /// Leaves the claims that answer these questions, and these; all where there is none.
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
    fn docket(&self, table: &DeTable) -> Result<Docket, PlanError> {
        self.only(table, "", &["name", "about", "source", "case", "claim", "question"])?;
        let mut docket = self.claims(table)?;
        if docket.claims.is_empty() {
            let message = "no claims; add a [[claim]] with id, sentence and [[claim.check]]";
            return Err(self.at(self.0.text.len(), "").error(message));
        }
        for (claim, value) in docket.claims.iter().zip(self.tables(table, "", "claim")?) {
            let is_told = claim.checks.iter().all(|check| check.test.is_told());
            if is_told && claim.not_checkable.is_empty() {
                let message = "no check of it has a relation; write one, such as `< 2`";
                return Err(self.of(value, "claim").error(message));
            }
        }
        for value in self.tables(table, "", "question")? {
            let question = self.question(&docket, value)?;
            docket.questions.push(question);
        }
        Ok(docket)
    }

    /// The claims of a docket, or of a suite, which may have none.
    pub(crate) fn claims(&self, table: &DeTable) -> Result<Docket, PlanError> {
        let name = self.needed(table, "", "name", 0)?;
        if !is_name(&name) {
            let message = format!("{} is not a name: use up to 100 of a-z 0-9 - _ .", quote(&name));
            return Err(self.at(0, "name").error(message));
        }
        let mut docket = Docket {
            name,
            about: self.maybe(table, "", "about")?.unwrap_or_default(),
            source: self.maybe(table, "", "source")?.unwrap_or_default(),
            claims: Vec::new(),
            questions: Vec::new(),
            cases: self.cases(table)?,
        };
        let mut checks = 0;
        for value in self.tables(table, "", "claim")? {
            let claim = self.claim(&docket, value)?;
            checks += claim.checks.len() * claim.levels.len();
            if checks > CHECKS_MAX {
                let message = format!("up to here there are {checks} checks, {CHECKS_MAX} at most");
                return Err(self.of(value, "claim").error(message));
            }
            docket.claims.push(claim);
        }
        Ok(docket)
    }

    fn cases(&self, table: &DeTable) -> Result<BTreeMap<String, (String, Origin)>, PlanError> {
        let mut cases = BTreeMap::new();
        let Some(value) = table.get("case") else { return Ok(cases) };
        for (name, value) in self.table(value, "case")? {
            let path = format!("case.{}", plain(name.get_ref()));
            let origin = self.of(value, &path);
            let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            if !is_name(name.get_ref()) || !name.get_ref().chars().all(is_word) {
                return Err(origin.error("is not a name: use up to 100 of a-z 0-9 - _"));
            }
            let text = self.string(value, &path)?;
            let selector = Selector::parse(&text).map_err(|message| origin.error(message))?;
            if !selector.says_workload() {
                return Err(origin.error("says no workload; write for instance roundtrip/pipe"));
            }
            cases.insert(name.get_ref().to_string(), (text, origin));
        }
        Ok(cases)
    }

    fn claim(&self, docket: &Docket, value: &Value) -> Result<Claim, PlanError> {
        let table = self.table(value, "claim")?;
        let keys = ["id", "sentence", "at", "vary", "check", "not-checkable"];
        self.only(table, "claim.", &keys)?;
        let start = value.span().start;
        let id = self.needed(table, "claim.", "id", start)?;
        if docket.claims.iter().any(|claim| claim.id == id) {
            let message = format!("{} is there already; give each claim its own", quote(&id));
            return Err(self.at(start, "claim.id").error(message));
        }
        let levels = self.levels(docket, table)?;
        let mut checks = Vec::new();
        for value in self.tables(table, "claim.", "check")? {
            checks.push(self.check(docket, value)?);
        }
        let mut not_checkable = Vec::new();
        for value in self.tables(table, "claim.", "not-checkable")? {
            let (of, path) = (self.table(value, "claim.not-checkable")?, "claim.not-checkable.");
            self.only(of, path, &["part", "reason"])?;
            let start = value.span().start;
            let part = self.needed(of, path, "part", start)?;
            let reason = self.needed(of, path, "reason", start)?;
            not_checkable.push(NotCheckable { part, reason });
        }
        if checks.is_empty() && not_checkable.is_empty() {
            let message = "has no [[claim.check]] and no [[claim.not-checkable]]; add one";
            return Err(self.at(start, "claim").error(message));
        }
        Ok(Claim {
            id,
            sentence: self.needed(table, "claim.", "sentence", start)?,
            at: self.maybe(table, "claim.", "at")?,
            levels,
            checks,
            not_checkable,
        })
    }

    /// Every combination of the values that are varied.
    fn levels(&self, docket: &Docket, table: &DeTable) -> Result<Vec<Level>, PlanError> {
        let mut levels = vec![Level::new()];
        let Some(value) = table.get("vary") else { return Ok(levels) };
        let factors = self.table(value, "claim.vary")?;
        if factors.len() > FACTORS_MAX {
            let message = format!("has {} factors, {FACTORS_MAX} at most", factors.len());
            return Err(self.of(value, "claim.vary").error(message));
        }
        for (key, value) in factors {
            let path = format!("claim.vary.{}", plain(key.get_ref()));
            let values = self.strings(value, &path)?;
            let key_is =
                |own: &str| own.split_once('=').is_some_and(|(own, _)| own == key.get_ref());
            let mut cases = docket.cases.values();
            let is_said = cases.any(|(text, _)| text.split(['?', '&']).any(key_is));
            if !is_said && Axis::of_key(key.get_ref()).is_none() {
                let message = "is neither an axis nor a parameter that a case names";
                return Err(self.of(value, &path).error(message));
            }
            let n = levels.len().saturating_mul(values.len());
            if n > LEVELS_MAX {
                let message = format!("makes {n} levels, {LEVELS_MAX} at most");
                return Err(self.of(value, &path).error(message));
            }
            let with = |level: &Level, (value, _): &(String, Origin)| {
                let mut level = level.clone();
                level.insert(key.get_ref().to_string(), value.clone());
                level
            };
            levels =
                levels.iter().flat_map(|level| values.iter().map(|v| with(level, v))).collect();
        }
        Ok(levels)
    }

    fn check(&self, docket: &Docket, value: &Value) -> Result<Check, PlanError> {
        let (table, path) = (self.table(value, "claim.check")?, "claim.check.");
        self.only(table, path, &["says", "test", "meaning"])?;
        let text = self.needed(table, path, "test", value.span().start)?;
        let origin = |at: usize| {
            let span = table.get("test").map_or(0..0, |value| value.span());
            let written = self.0.text.get(span.clone()).unwrap_or("");
            let at = written.find(&text).map_or(0, |begin| begin + at);
            self.at(span.start + at, "claim.check.test")
        };
        let test = Test::parse(&text).map_err(|(at, message)| origin(at).error(message))?;
        let known: Vec<&str> = docket.cases.keys().map(String::as_str).collect();
        if let Some(term) = test.terms().iter().find(|term| !docket.cases.contains_key(&term.name))
        {
            let at = text.find(&term.name).unwrap_or(0);
            return Err(origin(at).error(unknown("case", &term.name, &known)));
        }
        Ok(Check {
            says: self.maybe(table, path, "says")?,
            meaning: self.maybe(table, path, "meaning")?,
            text: plain(&text),
            test,
        })
    }

    fn question(&self, docket: &Docket, value: &Value) -> Result<Asking, PlanError> {
        let (table, path) = (self.table(value, "question")?, "question.");
        self.only(table, path, &["id", "asks", "claims"])?;
        let start = value.span().start;
        let Some(claims) = table.get("claims") else {
            return Err(self.at(start, "question").error("`claims` is missing"));
        };
        let known: Vec<&str> = docket.claims.iter().map(|claim| claim.id.as_str()).collect();
        let of = self.strings(claims, "question.claims")?;
        if let Some((strange, origin)) = of.iter().find(|(id, _)| !known.contains(&id.as_str())) {
            return Err(origin.error(unknown("claim", strange, &known)));
        }
        Ok(Asking {
            id: self.needed(table, path, "id", start)?,
            asks: self.needed(table, path, "asks", start)?,
            claims: of.into_iter().map(|(id, _)| id).collect(),
        })
    }

    fn maybe(&self, table: &DeTable, path: &str, key: &str) -> Result<Option<String>, PlanError> {
        let text = table.get(key).map(|value| self.string(value, &format!("{path}{key}")));
        Ok(text.transpose()?.map(|text| plain(text.trim())))
    }

    fn needed(
        &self,
        table: &DeTable,
        path: &str,
        key: &str,
        start: usize,
    ) -> Result<String, PlanError> {
        let found = self.maybe(table, path, key)?.filter(|text| !text.is_empty());
        found.ok_or_else(|| {
            let message = format!("`{key}` is missing; write {key} = \"…\"");
            self.at(start, path.trim_end_matches('.')).error(message)
        })
    }

    /// The tables of `[[key]]`.
    fn tables<'v, 'i>(
        &self,
        table: &'v DeTable<'i>,
        path: &str,
        key: &str,
    ) -> Result<&'v [Value<'i>], PlanError> {
        match table.get(key).map(|value| (value, value.get_ref())) {
            None => Ok(&[]),
            Some((_, DeValue::Array(all))) => Ok(all),
            Some((value, _)) => {
                let key = format!("{path}{key}");
                Err(self.of(value, &key).error(format!("write [[{key}]], with two brackets")))
            }
        }
    }
}
