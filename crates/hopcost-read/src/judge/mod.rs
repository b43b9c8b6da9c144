//! Which claims hold: what each check finds at each level, and what follows for its claim. Errors are
//! shared so that at most one true claim in twenty fails over all looks, and one false claim holds.

mod check;
#[cfg(test)]
mod tests;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::group::distinct;
use hopcost_model::{Code, Finding, Plan, Question, Ruling, document};
use hopcost_plan::{Asking, Check, Claim, Claims, Number, Quantity, Selector, level, parse_claims};

use crate::case::Reading;
use crate::judge::words::JudgedPart;
use crate::run::Run;

document! {
    /// The claims of one or several files, judged by what was measured.
    #[derive(Default)]
    pub struct Judged {
        /// The files.
        pub files: Vec<JudgedFile>,
        /// Their claims, in the order of the files.
        pub claims: Vec<JudgedClaim>,
        /// The questions that the files ask of their claims.
        pub questions: Vec<JudgedQuestion>,
    }

    /// Where claims come from.
    pub struct JudgedFile {
        /// Name.
        pub name: String,
        /// What it is about, in a sentence.
        pub about: String,
        /// What published its claims.
        pub source: String,
    }

    /// A claim.
    pub struct JudgedClaim {
        /// Id, unique among the claims of its file.
        pub id: String,
        /// The file's name.
        pub file: String,
        /// The sentence as published.
        pub sentence: String,
        /// Where the source has it.
        pub at: Option<String>,
        /// What an ambiguous sentence means here; `null` if it has one meaning.
        pub meaning: Option<String>,
        /// The verdict; `null` if no measurement can decide it.
        pub verdict: Option<Ruling>,
        /// The numbers that decide it, or why there are none.
        pub because: String,
        /// What explains these numbers; `null` if no finding does.
        pub cause: Option<String>,
        /// What was checked: each check at each level of what its cases vary.
        pub parts: Vec<JudgedPart>,
        /// What of it no measurement can decide, and why.
        pub not_checkable: Option<String>,
    }

    /// A question whose answer follows from claims.
    pub struct JudgedQuestion {
        /// Id.
        pub id: String,
        /// The file's name.
        pub file: String,
        /// The question.
        pub asks: String,
        /// The claims that answer it.
        pub claims: Vec<String>,
        /// What its claims say together; `null` if no measurement can decide them.
        pub verdict: Option<Ruling>,
        /// The answer in up to three sentences: the verdicts, the numbers, what explains them.
        pub answer: String,
    }
}

/// The cases of the checks that more rounds would decide, of claims that are open.
pub fn wanted(plan: &Plan, judged: &Judged) -> BTreeSet<u32> {
    let open = judged.claims.iter().filter(|claim| claim.verdict == Some(Ruling::Undecided));
    let parts = open.flat_map(|claim| &claim.parts);
    let parts = parts.filter(|part| part.rounds_to_decide.is_some());
    let ids: BTreeSet<&String> = parts.flat_map(|part| &part.cases).collect();
    let live = plan.live().filter(|(_, case)| ids.contains(&case.id()));
    live.map(|(index, _)| index as u32).collect()
}

/// How many claims more rounds need not decide, and how many there are.
pub fn decided(judged: &Judged) -> (usize, usize) {
    let is_decided = |claim: &&JudgedClaim| claim.verdict != Some(Ruling::Undecided);
    (judged.claims.iter().filter(is_decided).count(), judged.claims.len())
}

/// The verdicts on the claims that the run is for; `None` if it is for none.
pub fn of_run(run: &Run, readings: &[Reading], findings: &[Finding]) -> Option<Judged> {
    let Some(Question::Claims(files)) = &run.raw.plan.question else { return None };
    let mut judged = Judged::default();
    for planned in files {
        // A stored file of another version may have what this one does not know.
        let Ok(claims) = parse_claims(&planned.file, &planned.text()) else { continue };
        let claims = claims.asking(&planned.questions);
        let bench = Bench { run, readings, findings, claims: &claims, cases: &planned.cases };
        let own: Vec<_> = claims.claims.iter().map(|claim| bench.claim(claim)).collect();
        let answers = claims.questions.iter().map(|asked| bench.answer(asked, &own));
        judged.questions.extend(answers);
        judged.claims.extend(own.into_iter().map(|(claim, _)| claim));
        let Claims { name, about, source, .. } = claims;
        judged.files.push(JudgedFile { name, about, source });
    }
    Some(judged)
}

impl JudgedClaim {
    /// Whether this machine can measure what decides it, or no machine can.
    pub fn can_be_tested(&self) -> bool {
        self.verdict != Some(Ruling::Undecided) || self.parts.iter().any(JudgedPart::is_open)
    }
}

impl JudgedPart {
    /// Whether it has a number, or will have one.
    fn is_open(&self) -> bool {
        self.rounds_to_decide.is_some() || self.value.is_some()
    }
}

/// A claim, and of which quantity its evidence gives numbers.
type Decided<'a> = (JudgedClaim, Option<&'a Quantity>);

/// What the checks of one file are made with.
struct Bench<'a> {
    run: &'a Run<'a>,
    readings: &'a [Reading<'a>],
    findings: &'a [Finding],
    claims: &'a Claims,
    /// The cases of selectors; a selector that is not there has all cases that it fits.
    cases: &'a BTreeMap<String, Vec<String>>,
}

/// Numbers in the answer to a question; the table of its claims has all.
const NUMBERS_MAX: usize = 3;

/// A value for each key that cases vary.
type Level = BTreeMap<String, String>;

/// The case of a check at one level, and the one that it is set against.
struct Pair<'a> {
    level: Level,
    first: Option<&'a Reading<'a>>,
    second: Option<&'a Reading<'a>>,
}

impl<'a> Bench<'a> {
    fn claim(&self, claim: &'a Claim) -> Decided<'a> {
        let pairs: Vec<(&Check, Vec<Pair>)> =
            claim.checks().map(|check| (check, self.pairs(claim, check))).collect();
        let is_shared = |check: &Check| {
            !check.claims_nothing()
                && !matches!(check.number, Number::Printed(_) | Number::Fails(_))
        };
        let sharing = pairs.iter().filter(|(check, _)| is_shared(check));
        let sharing: usize = sharing.map(|(_, pairs)| pairs.len()).sum();
        let mut parts: Vec<Vec<JudgedPart>> = Vec::new();
        for (check, pairs) in &pairs {
            parts.push(pairs.iter().map(|pair| self.part(check, pair, sharing)).collect());
        }
        let verdict = parts.iter().filter_map(|parts| at_levels(parts)).max();
        let mut checks = claim.checks().zip(&parts);
        let of_verdict = checks.find(|(_, parts)| at_levels(parts) == verdict);
        let decides = of_verdict.map(|(check, parts)| (check, deciding(parts)));
        let because = match &decides {
            None => "no measurement can decide it".to_owned(),
            Some((check, parts)) => words::evidence(check, parts),
        };
        let cases = decides.iter().flat_map(|(_, parts)| parts).flat_map(|part| &part.cases);
        let cause = words::cause(&distinct(cases), self.findings);
        let measured = decides.filter(|(_, parts)| parts.iter().any(|part| part.value.is_some()));
        let quantity = measured.map(|(check, _)| &check.quantity);
        let judged = JudgedClaim {
            id: claim.id.clone(),
            file: self.claims.name.clone(),
            sentence: claim.sentence.clone(),
            at: claim.at.clone(),
            meaning: claim.meaning.clone(),
            verdict,
            because,
            cause: cause.map(|(says, _)| says),
            parts: parts.into_iter().flatten().collect(),
            not_checkable: claim.not_checkable.clone(),
        };
        (judged, quantity)
    }

    /// The cases of a name in a claim, each with its level.
    fn of_name(&self, claim: &Claim, name: &str) -> Vec<(Level, &'a Reading<'a>)> {
        let Some(selector) = self.claims.selector(name, claim) else { return Vec::new() };
        let found: Vec<&Reading> = match (self.cases.get(&selector), Selector::parse(&selector)) {
            (Some(ids), _) => {
                let named = |id: &String| self.readings.iter().find(|one| one.result.id == *id);
                ids.iter().filter_map(named).collect()
            }
            (None, Ok(of)) => self.readings.iter().filter(|one| of.fits(one.case)).collect(),
            (None, Err(_)) => Vec::new(),
        };
        let leveled = |one: &'a Reading<'a>| (level(&selector, one.case), one);
        found.into_iter().map(leveled).collect()
    }

    /// The cases of a check, by level; those of two names whose levels agree in what both vary.
    fn pairs(&self, claim: &Claim, check: &Check) -> Vec<Pair<'a>> {
        let firsts = self.of_name(claim, &check.of);
        let some = |(level, one)| (level, Some(one));
        let seconds = check.over().map(|over| self.of_name(claim, over).into_iter().map(some));
        let seconds = seconds.map_or(vec![(Level::new(), None)], |all| all.collect());
        let mut pairs: Vec<Pair> = Vec::new();
        for (first, one) in &firsts {
            let agrees = |second: &Level| {
                first.iter().all(|(key, of)| second.get(key).is_none_or(|own| own == of))
            };
            for (second, other) in seconds.iter().filter(|(level, _)| agrees(level)) {
                let level = first.clone().into_iter().chain(second.clone()).collect();
                pairs.push(Pair { level, first: Some(one), second: *other });
            }
        }
        if pairs.is_empty() {
            let first = firsts.first().map(|(_, one)| *one);
            pairs.push(Pair { level: Level::new(), first, second: None });
        }
        // What all levels have in common distinguishes none.
        let first = pairs[0].level.clone();
        let is_common = |key: &String| pairs.iter().all(|of| of.level.get(key) == first.get(key));
        let common: Vec<&String> = first.keys().filter(|key| is_common(key)).collect();
        pairs.iter_mut().for_each(|pair| pair.level.retain(|key, _| !common.contains(&key)));
        pairs
    }

    /// What claims say together, in up to three sentences: the answer with what explains it, the numbers of
    /// each claim once, and what to do about it.
    fn answer(&self, asked: &'a Asking, all: &[Decided]) -> JudgedQuestion {
        let mut claims: Vec<&Decided> =
            all.iter().filter(|(claim, _)| asked.claims.contains(&claim.id)).collect();
        claims.sort_by_key(|(claim, _)| std::cmp::Reverse(claim.verdict));
        let of = |ruling| claims.iter().any(|(claim, _)| claim.verdict == Some(ruling));
        let verdict = match of(Ruling::Holds) && of(Ruling::Fails) {
            true => Some(Ruling::Depends),
            false => claims.first().and_then(|(claim, _)| claim.verdict),
        };
        let parts = || claims.iter().flat_map(|(claim, _)| &claim.parts);
        let lead = match verdict {
            Some(Ruling::Holds) => "Here too",
            Some(Ruling::Fails) => "Not here",
            Some(Ruling::Depends) => "Here in part",
            Some(Ruling::Undecided) if parts().any(JudgedPart::is_open) => "Not decided yet",
            Some(Ruling::Undecided) | None => "Cannot be tested here",
        };
        let cases = distinct(parts().flat_map(|part| &part.cases));
        // What could not be measured has its own reason, and no finding explains it.
        let cause = words::cause(&cases, self.findings);
        let cause = cause.filter(|_| parts().any(JudgedPart::is_open));
        // A cause that counts the copied sends gives their share.
        let is_of_copies = cause.as_ref().is_some_and(|(_, of)| of.code == Code::ZeroCopyCopied);
        let is_given = |of: &Option<&Quantity>| is_of_copies && *of == Some(&Quantity::CopiedShare);
        let others = claims.iter().filter(|(_, quantity)| !is_given(quantity));
        let numbers = others.map(|(claim, _)| match claim.verdict {
            Some(_) => words::without_intervals(&claim.because),
            None => claim.not_checkable.clone().unwrap_or_default(),
        });
        let mut numbers = distinct(numbers.filter(|text| !text.is_empty()));
        numbers.truncate(NUMBERS_MAX);
        let by_level =
            |claim: &'a Claim| words::by_level(&claim.sentence, &self.claim(claim).0.parts);
        let levels: Vec<String> = asked.levels.iter().map(by_level).collect();
        let (cause, remedy) = cause.map(|(says, of)| (says, of.remedy.clone())).unzip();
        let (first, rest) = match levels.is_empty() {
            true => {
                let first = cause.or_else(|| (!numbers.is_empty()).then(|| numbers.remove(0)));
                let first = first.map_or(format!("{lead}."), |first| format!("{lead}: {first}."));
                (first, (!numbers.is_empty()).then(|| words::sentence(&numbers.join("; "))))
            }
            false => (levels.join(" "), cause.map(|cause| words::sentence(&cause))),
        };
        JudgedQuestion {
            id: asked.id.clone(),
            file: self.claims.name.clone(),
            asks: asked.asks.clone(),
            claims: asked.claims.clone(),
            verdict,
            answer: [Some(first), rest, remedy].into_iter().flatten().collect::<Vec<_>>().join(" "),
        }
    }
}

/// Whether something was or can be measured for a part.
fn is_here(part: &JudgedPart) -> bool {
    part.verdict != Some(Ruling::Undecided) || part.is_open()
}

/// What a check says at all its levels; `None` if it claims nothing. A level that this machine does
/// not have is left out if there is another.
fn at_levels(parts: &[JudgedPart]) -> Option<Ruling> {
    let has =
        |ruling: Ruling| parts.iter().any(|part| is_here(part) && part.verdict == Some(ruling));
    parts.iter().find(|part| part.verdict.is_some())?;
    Some(match (has(Ruling::Holds), has(Ruling::Fails), has(Ruling::Undecided)) {
        (true, true, _) => Ruling::Depends,
        (_, _, true) | (false, false, false) => Ruling::Undecided,
        (_, true, _) => Ruling::Fails,
        (true, ..) => Ruling::Holds,
    })
}

/// The parts of a check that decide: those that are here, or all.
fn deciding(parts: &[JudgedPart]) -> Vec<&JudgedPart> {
    let here: Vec<&JudgedPart> = parts.iter().filter(|part| is_here(part)).collect();
    if here.is_empty() { parts.iter().collect() } else { here }
}
