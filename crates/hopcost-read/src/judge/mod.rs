//! Which claims of dockets hold: what each check finds at each level, and what follows for its
//! claim. Errors are shared so that a true claim is told to fail at most one time in twenty over all
//! looks, and a false one to hold.

mod bench;
mod check;
mod number;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::finding::Finding;
use hopcost_model::group::distinct;
use hopcost_model::plan::{DocketPlan, Plan, Question};
use hopcost_model::results::{
    Judged, JudgedClaim, JudgedDocket, JudgedPart, JudgedQuestion, Ruling,
};
use hopcost_plan::{Claim, claims_of, parse_docket};

use crate::case::Reading;
use crate::run::Run;
use bench::Bench;
use check::numbers;

/// The cases of the checks that more rounds would decide, of claims that are open.
pub fn wanted(plan: &Plan, judged: &Judged) -> BTreeSet<u32> {
    let open = judged.claims.iter().filter(|claim| claim.verdict == Some(Ruling::CannotTell));
    let parts = open.flat_map(|claim| &claim.parts);
    let parts = parts.filter(|part| part.rounds_to_decide.is_some());
    let ids: BTreeSet<&String> = parts.flat_map(|part| &part.cases).collect();
    let live = plan.live().filter(|(_, case)| ids.contains(&case.id()));
    live.map(|(index, _)| index as u32).collect()
}

/// How many claims more rounds need not decide, and how many there are.
pub fn decided(judged: &Judged) -> (usize, usize) {
    let is_decided = |claim: &&JudgedClaim| claim.verdict != Some(Ruling::CannotTell);
    (judged.claims.iter().filter(is_decided).count(), judged.claims.len())
}

/// The verdicts on the claims of the run's dockets; `None` of a run that has none.
pub fn of_run(run: &Run, readings: &[Reading], findings: &[Finding]) -> Option<Judged> {
    let Some(Question::Dockets(dockets)) = &run.raw.plan.question else { return None };
    let mut judged = Judged { dockets: Vec::new(), claims: Vec::new(), questions: Vec::new() };
    for docket in dockets {
        add(&mut judged, run, readings, findings, docket);
    }
    Some(judged)
}

/// What is told of the cases of a run that answers no question: the claims of its suite and of the
/// suite's docket, as far as a number of them was measured.
pub fn of_suite(run: &Run, readings: &[Reading], findings: &[Finding]) -> Vec<JudgedClaim> {
    let plan = &run.raw.plan;
    let dockets = if plan.question.is_some() { Vec::new() } else { claims_of(&plan.suite) };
    let cases = BTreeMap::new();
    let of = |docket| {
        let bench = Bench { run, readings, findings, docket, cases: &cases };
        docket.claims.iter().map(|claim| judge(&bench, claim)).collect::<Vec<_>>()
    };
    let mut claims: Vec<JudgedClaim> = dockets.iter().flat_map(of).collect();
    for claim in &mut claims {
        // A verdict is of all its parts.
        claim.parts.retain(|part| part.verdict.is_some() || part.value.is_some());
        let levels: Vec<String> =
            claim.parts.iter().filter_map(|part| part.level.clone()).collect();
        // What all levels have in common tells none from another.
        let is_common = |word: &str| levels.iter().all(|of| of.split(", ").any(|own| own == word));
        for part in claim.parts.iter_mut().filter(|part| part.verdict.is_none()) {
            let words = part.level.iter().flat_map(|level| level.split(", "));
            let own = words.filter(|word| !is_common(word)).collect::<Vec<_>>().join(", ");
            part.level = (!own.is_empty()).then_some(own);
        }
    }
    claims.retain(|claim| claim.parts.iter().any(|part| part.value.is_some()));
    claims
}

fn add(
    judged: &mut Judged,
    run: &Run,
    readings: &[Reading],
    findings: &[Finding],
    planned: &DocketPlan,
) {
    // A stored docket of another version may have what this one does not know.
    let Ok(docket) = parse_docket(&planned.file, &planned.text()) else { return };
    let docket = docket.asking(&planned.questions);
    let bench = Bench { run, readings, findings, docket: &docket, cases: &planned.cases };
    let claims = docket.claims.iter().map(|claim| judge(&bench, claim));
    let claims: Vec<JudgedClaim> = claims.collect();
    judged.questions.extend(docket.questions.iter().map(|asked| {
        let of = claims.iter().filter(|claim| asked.claims.contains(&claim.id));
        answer(&docket.name, asked, &of.collect::<Vec<_>>())
    }));
    judged.claims.extend(claims);
    judged.dockets.push(JudgedDocket {
        name: docket.name.clone(),
        about: docket.about.clone(),
        source: docket.source.clone(),
    });
}

fn judge(bench: &Bench, claim: &Claim) -> JudgedClaim {
    let levels = |check| bench.docket.levels(claim, check);
    let sharing = claim.checks.iter().map(|c| numbers(&c.test) * levels(c).len()).sum();
    let parts =
        |check| levels(check).iter().map(|level| bench.part(check, level, sharing)).collect();
    let checks: Vec<Vec<JudgedPart>> = claim.checks.iter().map(parts).collect();
    let verdict = verdict(&checks);
    let because = because(verdict, &checks);
    JudgedClaim {
        id: claim.id.clone(),
        docket: bench.docket.name.clone(),
        sentence: claim.sentence.clone(),
        at: claim.at.clone(),
        verdict,
        because,
        parts: checks.into_iter().flatten().collect(),
        not_checkable: claim.not_checkable.clone(),
    }
}

/// The verdict on a claim of these checks, each at its levels. All checks have to hold, but for
/// those of different meanings, which are alternatives.
fn verdict(checks: &[Vec<JudgedPart>]) -> Option<Ruling> {
    let meaning = |parts: &Vec<JudgedPart>| parts.first().and_then(|part| part.meaning.clone());
    let at_levels = |parts: &Vec<JudgedPart>| {
        let measured = parts.iter().filter(|part| can_be_told(part));
        let all: Vec<Ruling> = measured.filter_map(|part| part.verdict).collect();
        // A level that is not here is left out where there is another.
        if all.is_empty() { Ruling::CannotTell } else { alike(all) }
    };
    let claims = |parts: &&Vec<JudgedPart>| parts.iter().any(|part| part.verdict.is_some());
    let checks = || checks.iter().filter(claims);
    let common = checks().filter(|parts| meaning(parts).is_none()).map(at_levels).max();
    let meanings: BTreeSet<String> = checks().filter_map(meaning).collect();
    let of = |one: &String| {
        let parts = checks().filter(|parts| meaning(parts).as_ref() == Some(one));
        let all: Vec<&Vec<JudgedPart>> = parts.collect();
        // So is a meaning.
        let is_here = all.iter().any(|parts| parts.iter().any(can_be_told));
        (is_here, all.into_iter().map(at_levels).max())
    };
    let all: Vec<(bool, Option<Ruling>)> = meanings.iter().map(of).collect();
    let some = all.iter().any(|(is_here, _)| *is_here);
    let of_meanings: Vec<Ruling> =
        all.into_iter().filter(|(is_here, _)| *is_here || !some).filter_map(|(_, of)| of).collect();
    let alternatives = (!of_meanings.is_empty()).then(|| alike(of_meanings));
    common.max(alternatives)
}

/// Whether something was or can be measured of it.
fn can_be_told(part: &JudgedPart) -> bool {
    part.verdict != Some(Ruling::CannotTell)
        || part.value.is_some()
        || part.rounds_to_decide.is_some()
}

/// What several levels, or meanings, say together.
fn alike(all: Vec<Ruling>) -> Ruling {
    let has = |ruling: Ruling| all.contains(&ruling);
    match () {
        () if has(Ruling::Depends) || (has(Ruling::Holds) && has(Ruling::Fails)) => Ruling::Depends,
        () if has(Ruling::CannotTell) => Ruling::CannotTell,
        () if has(Ruling::Fails) => Ruling::Fails,
        () => Ruling::Holds,
    }
}

/// Why, from the reasons of the parts that decide.
fn because(verdict: Option<Ruling>, checks: &[Vec<JudgedPart>]) -> String {
    let parts = || checks.iter().flatten();
    let of = |ruling: Ruling| parts().filter(move |part| part.verdict == Some(ruling));
    match verdict {
        None => parts().next().map_or("nothing of it can be checked by measuring".to_owned(), at),
        Some(Ruling::Depends) => {
            let one = |ruling| of(ruling).next().map(at).unwrap_or_default();
            format!("it holds ({}) and fails ({})", one(Ruling::Holds), one(Ruling::Fails))
        }
        Some(Ruling::Holds) if parts().count() > 1 => {
            let first = of(Ruling::Holds).next().map(at).unwrap_or_default();
            format!("all {} checks hold; {first}", of(Ruling::Holds).count())
        }
        Some(Ruling::CannotTell) => {
            let Some(open) = of(Ruling::CannotTell).next() else { return String::new() };
            let told = [Ruling::Fails, Ruling::Holds].map(|ruling| {
                let alike = of(ruling).filter(|part| part.meaning == open.meaning);
                let levels = distinct(alike.filter_map(|part| part.level.as_deref()));
                (!levels.is_empty())
                    .then(|| format!("; it {} with {}", ruling.word(), levels.join("; ")))
            });
            at(open) + &told.into_iter().flatten().collect::<String>()
        }
        Some(ruling) => of(ruling).next().map(at).unwrap_or_default(),
    }
}

/// The reason of a part, behind its meaning and level.
fn at(part: &JudgedPart) -> String {
    let factor = [&part.meaning, &part.level].into_iter().flatten();
    let factor: Vec<&str> = factor.map(String::as_str).collect();
    match factor.is_empty() {
        true => part.because.clone(),
        false => format!("{}: {}", factor.join(", "), part.because),
    }
}

/// What the verdicts on some claims say together.
fn answer(docket: &str, asked: &hopcost_plan::Asking, claims: &[&JudgedClaim]) -> JudgedQuestion {
    let of = |ruling| claims.iter().any(|claim| claim.verdict == Some(ruling));
    let verdict = match of(Ruling::Holds) && of(Ruling::Fails) {
        true => Some(Ruling::Depends),
        false => claims.iter().filter_map(|claim| claim.verdict).max(),
    };
    // What has a number lies too close to an end, or needs more rounds.
    let mut parts = claims.iter().flat_map(|claim| &claim.parts);
    let is_open =
        parts.any(|part| part.verdict == Some(Ruling::CannotTell) && part.value.is_some());
    let lead = match verdict {
        Some(Ruling::Holds) => "Supported",
        Some(Ruling::Fails) => "Not supported",
        Some(Ruling::Depends) => "Supported in part",
        Some(Ruling::CannotTell) if is_open => "Not decided",
        Some(Ruling::CannotTell) | None => "Cannot be tested here",
    };
    let told = claims.iter().map(|claim| {
        let word = match claim.verdict {
            Some(Ruling::CannotTell) => "cannot be told",
            Some(verdict) => verdict.word(),
            None => "is not checkable",
        };
        format!("Claim {} {word}: {}.", claim.id, claim.because)
    });
    let told: Vec<String> = told.collect();
    // A question for a size wants it, whatever decided the claim.
    let sizes = claims.iter().flat_map(|claim| &claim.parts).filter(|part| {
        let is_told = || told.iter().any(|told| told.contains(&part.because));
        part.test.starts_with("crossover(") && part.value.is_some() && !is_told()
    });
    let sizes: Vec<String> = sizes.map(|part| format!("Measured: {}.", at(part))).collect();
    JudgedQuestion {
        id: asked.id.clone(),
        docket: docket.to_owned(),
        asks: asked.asks.clone(),
        claims: asked.claims.clone(),
        verdict,
        answer: [vec![format!("{lead}.")], sizes, told].concat().join(" "),
    }
}
