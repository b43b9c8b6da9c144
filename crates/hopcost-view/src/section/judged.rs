//! Which claims hold: all of them on one screen, and the record of each with its sentence, verdict,
//! evidence and reason.

use std::cmp::Reverse;

use hopcost_model::text::count;
use hopcost_read::results::{
    Estimate, Judged, JudgedClaim, JudgedPart, JudgedQuestion, JudgedUnit, Ratio, Results, Ruling,
};

use super::fields::facts_of;
use super::headline::{Headline, rests_on};
use super::model::{
    Block, Cell, Fold, Interval, Rows, Scale, Section, Tone, note, numbers, ruled, says, words,
};

/// Claims of a screen that have a line each; beyond it those that hold are listed by their ids, then
/// those that are undecided.
const LINES_MAX: usize = 32;

/// How many claims have which verdict, and each question with its answer: with all of it where there
/// are claims of questions alone.
pub(super) fn headline(judged: &Judged, results: &Results) -> Headline {
    let is_asked = |claim: &JudgedClaim| {
        let own = judged.questions.iter().filter(|asked| asked.file == claim.file);
        own.into_iter().any(|asked| asked.claims.contains(&claim.id))
    };
    let is_whole = judged.claims.iter().all(is_asked);
    let question = |asked: &JudgedQuestion| {
        let first = asked.answer.split(". ").next().unwrap_or_default();
        let answer = if is_whole { &asked.answer } else { first };
        (asked.id.clone(), format!("{} {}.", asked.asks, answer.trim_end_matches('.')))
    };
    Headline {
        title: summary(judged, results),
        facts: judged.questions.iter().map(question).collect(),
        ..Headline::default()
    }
}

/// Its verdict, unless no measurement on this machine can give it one.
fn here(claim: &JudgedClaim) -> Option<Ruling> {
    claim.verdict.filter(|_| claim.can_be_tested())
}

/// The verdicts on one screen.
pub(super) fn blocks(judged: &Judged) -> Vec<Block> {
    let mut claims: Vec<&JudgedClaim> = judged.claims.iter().collect();
    claims.sort_by_key(|claim| Reverse(here(claim)));
    let mut lines = claims.len();
    let mut folded = Vec::new();
    for group in claims.chunk_by(|a, b| here(a) == here(b)).rev() {
        if lines > LINES_MAX && here(group[0]) < Some(Ruling::Depends) {
            lines -= group.len();
            folded.push(group);
        }
    }
    let table = Rows::of(&claims[..lines])
        .column(words("verdict"), |claim| Cell::ruling(here(claim)))
        .column(words("claim"), |claim| Cell::text(name(judged, claim)))
        .column(words("sentence"), |claim| Cell::text(sentence(claim)))
        .column(words("measured"), |claim| {
            match decisive(claim).map(|(part, of)| (part.unit, of)) {
                Some((unit, value)) => amount(value, unit),
                None => Cell::text(because(claim)),
            }
        })
        .column(words("claimed").fold(1), |claim| {
            decisive(claim).map_or(Cell::none(), |(part, _)| claimed(part))
        })
        .lines();
    let listed = folded.iter().rev().map(|group| {
        let ids: Vec<String> = group.iter().map(|claim| name(judged, claim)).collect();
        note(format!("{} ({}): {}", ruled(here(group[0])), group.len(), ids.join(", ")))
    });
    std::iter::once(table).chain(listed).collect()
}

/// Each claim in a line to paste.
pub(super) fn sentences(judged: &Judged) -> Vec<String> {
    let line = |claim: &JudgedClaim| {
        let (verdict, id) = (ruled(here(claim)), name(judged, claim));
        format!("{verdict}: {id} “{}” ({})", sentence(claim), because(claim))
    };
    judged.claims.iter().map(line).collect()
}

/// The verdicts, the answers to the questions of all files, and the records of each file's claims.
pub(super) fn sections(results: &Results) -> Vec<Section> {
    let Some(judged) = &results.judged else { return Vec::new() };
    let questions = judged.questions.iter().flat_map(|question| {
        let heading = format!("{}: {}", question.id, question.asks);
        [Block::Heading(heading), says(question.answer.clone())]
    });
    let summary = says(summary(judged, results));
    let first = Section::of("judged", std::iter::once(summary).chain(questions));
    let files = judged.files.iter().enumerate().map(|(at, file)| {
        let about = &file.about;
        let lead = (!about.is_empty()).then(|| Block::Text(Tone::Lead, format!("{about}.")));
        let own = judged.claims.iter().enumerate().filter(|(_, claim)| claim.file == file.name);
        let records = own.map(|(at, claim)| record(&file.source, at, claim));
        Section {
            id: format!("claims-{at}"),
            title: file.name.clone(),
            blocks: lead.into_iter().chain(records).collect(),
        }
    });
    first.into_iter().chain(files).collect()
}

/// A claim as a court would keep it.
fn record(source: &str, at: usize, claim: &JudgedClaim) -> Block {
    let place = [Some(source), claim.at.as_deref()].into_iter().flatten();
    let place: Vec<&str> = place.filter(|text| !text.is_empty()).collect();
    let known = facts_of(claim, "id file sentence at verdict parts");
    let source = ("source".to_owned(), Cell::text(place.join(", ")));
    let blocks = vec![Block::Facts([source].into_iter().chain(known).collect()), parts(claim)];
    let quote = Cell::text(format!("“{}”", claim.sentence));
    let is_open = claim.verdict.is_some_and(|verdict| verdict >= Ruling::Depends);
    let brief = vec![Cell::ruling(here(claim)), Cell::text(claim.id.clone()), quote];
    Block::Fold(Fold { id: format!("claim-{at}"), open: is_open, brief, blocks })
}

/// What was checked of a claim.
fn parts(claim: &JudgedClaim) -> Block {
    Rows::of(&claim.parts)
        .column(words("verdict"), |part| match part.verdict {
            None => Cell::none(),
            verdict => Cell::ruling(verdict),
        })
        .column(words("check"), |part| Cell::text(part.check.clone()))
        .column(words("at"), |part| part.level.clone().map_or(Cell::none(), Cell::text))
        .column(numbers("measured [interval]"), |part| {
            part.value.as_ref().map_or(Cell::none(), |value| amount(value, part.unit))
        })
        .column(words("claimed"), claimed)
        .column(numbers("rounds").fold(1), |part| match &part.value {
            Some(value) => Cell::whole(value.n_trials.into()),
            None => Cell::none(),
        })
        .column(words("reason").fold(2), |part| match part.value {
            Some(_) => Cell::none(),
            None => Cell::text(part.because.clone()),
        })
        .table()
}

/// `61 claims (6 rounds): 9 fail, 20 undecided, 30 hold, 2 not testable here.`
fn summary(judged: &Judged, results: &Results) -> String {
    let claims = &judged.claims;
    if claims.is_empty() {
        return "No claim: the run has no claims file that this version of hopcost reads.".into();
    }
    let of = |verdict: Option<Ruling>| {
        let n = claims.iter().filter(|claim| here(claim) == verdict).count();
        let said = verdict.map_or(ruled(None), |verdict| verdict.verb(n));
        (n > 0).then(|| format!("{n} {said}"))
    };
    let worst_first = Ruling::ALL.iter().rev().copied().map(Some);
    let all: Vec<String> = worst_first.chain([None]).filter_map(of).collect();
    format!("{} ({}): {}.", count(claims.len(), "claim"), rests_on(results), all.join(", "))
}

/// A claim's id, behind its file's name if another file has the same id.
fn name(judged: &Judged, claim: &JudgedClaim) -> String {
    match judged.claims.iter().filter(|other| other.id == claim.id).count() {
        0 | 1 => claim.id.clone(),
        _ => format!("{}/{}", claim.file, claim.id),
    }
}

/// The sentence with what it means here.
fn sentence(claim: &JudgedClaim) -> String {
    let meaning = claim.meaning.as_ref().map(|meaning| format!(" ({meaning})"));
    format!("{}{}", claim.sentence, meaning.unwrap_or_default())
}

/// What decides a claim, or why nothing can.
fn because(claim: &JudgedClaim) -> String {
    let refused = claim.not_checkable.as_ref().filter(|_| claim.verdict.is_none());
    refused.unwrap_or(&claim.because).clone()
}

/// A number of a check.
fn amount(value: &Estimate, unit: JudgedUnit) -> Cell {
    let is_exact = value.low.is_some() && value.low == value.high;
    let interval = if is_exact { Interval::Untold } else { Interval::Told };
    let mut estimate = value.clone();
    let Some(point) = estimate.point else { return Cell::none() };
    let scale = match unit {
        JudgedUnit::Times => {
            let (low, high) = (estimate.low, estimate.high);
            let (baseline, n_rounds) = (String::new(), estimate.n_trials);
            let ratio = Ratio { baseline, point, low, high, n_rounds };
            return Cell::multiple(&ratio, interval);
        }
        JudgedUnit::Number => Scale::Power(0),
        JudgedUnit::Ns => Scale::Difference,
        JudgedUnit::Gbps => Scale::Named("Gbit/s"),
        JudgedUnit::Share => {
            estimate = estimate.times(100.0);
            Scale::Named("%")
        }
    };
    Cell::measured(Some(&estimate), scale, interval)
}

/// The first part with a number that has the verdict of its claim, or fails.
fn decisive(claim: &JudgedClaim) -> Option<(&JudgedPart, &Estimate)> {
    let verdict = match claim.verdict {
        Some(Ruling::Depends) => Some(Ruling::Fails),
        verdict => verdict,
    };
    let mut parts = claim.parts.iter().filter(|part| part.verdict == verdict);
    parts.find_map(|part| Some((part, part.value.as_ref()?)))
}

/// What is claimed of the number of a part.
fn claimed(part: &JudgedPart) -> Cell {
    let end = |end: f64| {
        let exact = Estimate::exact(end, 1);
        amount(&Estimate { low: Some(end), high: Some(end), ..exact }, part.unit).shown.to_string()
    };
    match (part.region.low.map(end), part.region.high.map(end)) {
        (Some(low), Some(high)) if low == high => Cell::text(low),
        (Some(low), Some(high)) => Cell::text(format!("{low} to {high}")),
        (Some(low), None) => Cell::text(format!("at least {low}")),
        (None, Some(high)) => Cell::text(format!("at most {high}")),
        (None, None) => Cell::none(),
    }
}
