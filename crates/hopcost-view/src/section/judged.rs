//! Which claims hold: all of them on one screen, and the record of each with its sentence, verdict,
//! evidence and reason.

use std::cmp::Reverse;

use hopcost_model::group::distinct;
use hopcost_model::results::{
    CaseResult, Estimate, Judged, JudgedClaim, JudgedPart, JudgedQuestion, JudgedUnit, JudgedValue,
    Ratio, Results, Ruling,
};
use hopcost_model::text::count;

use super::model::{
    Block, Cell, Fold, Interval, Rows, Scale, Section, Tone, Unit, Value, facts, note, numbers,
    says, verdicts, words,
};
use super::words::index_of;
use crate::names::headline;

/// Claims of a screen that have a line each; beyond it those that hold are listed by their ids, then
/// those that cannot be told.
const LINES_MAX: usize = 32;

/// The verdicts on one screen.
pub(super) fn blocks(judged: &Judged) -> Vec<Block> {
    let mut claims: Vec<&JudgedClaim> = judged.claims.iter().collect();
    claims.sort_by_key(|claim| Reverse(claim.verdict));
    let mut lines = claims.len();
    let mut folded = Vec::new();
    for group in claims.chunk_by(|a, b| a.verdict == b.verdict).rev() {
        if lines > LINES_MAX && group[0].verdict < Some(Ruling::Depends) {
            lines -= group.len();
            folded.push(group);
        }
    }
    let table = Rows::of(&claims[..lines])
        .column(words("verdict"), |claim| Value::Ruling(claim.verdict).into())
        .column(words("claim"), |claim| Cell::text(name(judged, claim)))
        .column(words("sentence"), |claim| Cell::text(claim.sentence.clone()))
        .column(words("measured"), |claim| Cell::text(figure(claim)))
        .column(words("claimed").fold(1), |claim| relations(claim))
        .lines();
    let listed = folded.iter().rev().map(|group| {
        let ids: Vec<String> = group.iter().map(|claim| name(judged, claim)).collect();
        note(format!("{} ({}): {}", word(group[0].verdict), group.len(), ids.join(", ")))
    });
    let mut blocks = vec![says(summary(&judged.claims))];
    let is_asked = |claim: &JudgedClaim| {
        let of = |question: &JudgedQuestion| {
            question.docket == claim.docket && question.claims.contains(&claim.id)
        };
        judged.questions.iter().any(of)
    };
    match judged.claims.iter().all(is_asked) {
        true => blocks.extend(questions(judged)),
        false => blocks.extend(judged.questions.iter().map(|asked| note(brief(judged, asked)))),
    }
    blocks.push(table);
    blocks.extend(listed);
    blocks
}

/// `hopcost: verdicts on 61 claims`
pub(super) fn title(judged: &Judged) -> String {
    format!("hopcost: verdicts on {}", count(judged.claims.len(), "claim"))
}

/// Each claim in a line to paste.
pub(super) fn sentences(judged: &Judged) -> Vec<String> {
    let line = |claim: &JudgedClaim| {
        let (verdict, id) = (word(claim.verdict), name(judged, claim));
        format!("{verdict}: {id} “{}” ({})", claim.sentence, claim.because)
    };
    judged.claims.iter().map(line).collect()
}

/// The verdicts of each docket, the answers to its questions, and the records of its claims.
pub(super) fn sections(results: &Results) -> Vec<Section> {
    let Some(judged) = &results.judged else { return Vec::new() };
    let names = distinct(judged.dockets.iter().map(|docket| docket.name.as_str()));
    let of = |name: &str| {
        let own = judged.claims.iter().enumerate().filter(move |(_, claim)| claim.docket == name);
        own.collect::<Vec<_>>()
    };
    let table = Rows::of(&names)
        .column(words("docket"), |name| Cell::text(*name))
        .column(numbers("claims"), |name| Cell::whole(of(name).len() as u64));
    let verdicts = Ruling::ALL.into_iter().rev().map(Some).chain([None]);
    let table = verdicts.fold(table, |table, verdict| {
        table.column(numbers(word(verdict)), |name| {
            let n = of(name).iter().filter(|(_, claim)| claim.verdict == verdict).count();
            if n == 0 { Cell::none() } else { Cell::whole(n as u64) }
        })
    });
    let all = [says(summary(&judged.claims)), table.table()];
    let first = Section::of("judged", all.into_iter().chain(questions(judged)));
    let dockets = names.iter().enumerate().map(|(at, name)| {
        let docket = judged.dockets.iter().find(|docket| docket.name == *name);
        let about = docket.map_or("", |docket| docket.about.as_str());
        let source = docket.map_or("", |docket| docket.source.as_str());
        let lead = (!about.is_empty()).then(|| Block::Text(Tone::Lead, format!("{about}.")));
        let records = of(name).into_iter().map(|(at, claim)| record(results, source, at, claim));
        Section {
            id: format!("docket-{at}"),
            title: (*name).to_owned(),
            blocks: lead.into_iter().chain(records).collect(),
        }
    });
    let dockets: Vec<Section> = dockets.collect();
    first.into_iter().chain(dockets).collect()
}

/// A claim as a court would keep it.
pub(super) fn record(results: &Results, source: &str, at: usize, claim: &JudgedClaim) -> Block {
    let place = [Some(source), claim.at.as_deref()].into_iter().flatten();
    let place: Vec<&str> = place.filter(|text| !text.is_empty()).collect();
    let known = [("source", Cell::text(place.join(", "))), ("reason", sentence(&claim.because))];
    let refused = claim.not_checkable.iter();
    let refused =
        refused.map(|of| ("not checkable", Cell::text(format!("“{}”: {}", of.part, of.reason))));
    let mut blocks = vec![facts(known.into_iter().chain(refused)), parts(claim)];
    blocks.push(cases(results, claim));
    let quote = Cell::text(format!("“{}”", claim.sentence));
    let is_open = claim.verdict.is_some_and(|verdict| verdict >= Ruling::Depends);
    let brief = vec![Value::Ruling(claim.verdict).into(), Cell::text(claim.id.clone()), quote];
    Block::Fold(Fold { id: format!("claim-{at}"), open: is_open, brief, blocks })
}

/// What was checked of a claim.
pub(super) fn parts(claim: &JudgedClaim) -> Block {
    let is_claimed = claim.parts.iter().any(|part| part.verdict.is_some());
    Rows::of(&claim.parts)
        .column(words("verdict"), |part| match part.verdict {
            Some(verdict) => Value::Ruling(Some(verdict)).into(),
            None => Cell::none(),
        })
        .column(words("check"), |part| part.says.clone().map_or(Cell::none(), Cell::text))
        .column(words("test"), |part| Cell::code(part.test.clone()))
        .column(words("meaning"), |part| part.meaning.clone().map_or(Cell::none(), Cell::text))
        .column(words("at"), |part| part.level.clone().map_or(Cell::none(), Cell::text))
        .column(numbers("measured [interval]"), |part| {
            part.value.as_ref().map_or(Cell::none(), |value| amount(value, Interval::Told))
        })
        .column(words("claimed"), claimed)
        .column(numbers("rounds").fold(1), |part| match &part.value {
            Some(value) => Cell::whole(value.estimate.n_trials.into()),
            None => Cell::none(),
        })
        .column_if(is_claimed && claim.parts.len() > 1, words("reason").fold(2), |part| {
            sentence(&part.because)
        })
        .table()
}

/// The cases that a claim is about.
pub(super) fn cases(results: &Results, claim: &JudgedClaim) -> Block {
    let ids = distinct(claim.parts.iter().flat_map(|part| &part.cases));
    let found: Vec<(&String, Option<usize>)> =
        ids.into_iter().map(|id| (id, index_of(results, id))).collect();
    let case = |at: &Option<usize>| -> Option<&CaseResult> { results.results.get((*at)?) };
    Rows::of(&found)
        .column(words("case"), |(id, at)| Cell::code((*id).clone()).of(*at))
        .column(numbers("time [interval]"), |(_, at)| {
            let found = case(at).and_then(headline).map(|(_, estimate)| estimate);
            Cell::estimate(found, Scale::Time)
        })
        .column(verdicts(), |(_, at)| Cell::validity(case(at).and_then(|case| case.validity)))
        .column(numbers("trials").fold(1), |(_, at)| {
            case(at).map_or(Cell::none(), |case| Cell::number(case.n_trials, Unit::Whole))
        })
        .column(words("why not"), |(_, at)| {
            let why = case(at).and_then(|case| case.reason.clone());
            why.map_or(Cell::none(), Cell::text)
        })
        .table()
}

fn questions(judged: &Judged) -> impl Iterator<Item = Block> {
    judged.questions.iter().flat_map(|question| {
        let heading = format!("{}: {}", question.id, question.asks);
        [Block::Heading(heading), says(question.answer.clone())]
    })
}

/// `E1, not supported: 004-04 and 004-11 fail, 004-10 cannot be told`
fn brief(judged: &Judged, asked: &JudgedQuestion) -> String {
    let own =
        |claim: &&JudgedClaim| claim.docket == asked.docket && asked.claims.contains(&claim.id);
    let mut claims: Vec<&JudgedClaim> = judged.claims.iter().filter(own).collect();
    claims.sort_by_key(|claim| Reverse(claim.verdict));
    let groups = claims.chunk_by(|a, b| a.verdict == b.verdict).map(|group| {
        let ids: Vec<String> = group.iter().map(|claim| name(judged, claim)).collect();
        format!("{} {}", ids.join(", "), verb(group[0].verdict, group.len()))
    });
    let groups: Vec<String> = groups.collect();
    let lead = asked.answer.split('.').next().unwrap_or_default().to_lowercase();
    format!("{}, {lead}: {}", asked.id, groups.join("; "))
}

/// What so many claims do.
fn verb(verdict: Option<Ruling>, n: usize) -> &'static str {
    let words = match verdict {
        Some(Ruling::Holds) => ["holds", "hold"],
        Some(Ruling::Fails) => ["fails", "fail"],
        Some(Ruling::Depends) => ["depends", "depend"],
        Some(Ruling::CannotTell) => ["cannot be told"; 2],
        None => ["is not checkable", "are not checkable"],
    };
    words[usize::from(n != 1)]
}

/// `61 claims: 9 fail, 7 depend, 20 cannot be told, 20 hold, 5 are not checkable.`
fn summary(claims: &[JudgedClaim]) -> String {
    if claims.is_empty() {
        return "No claim: the run has no docket, or none that this version of hopcost reads."
            .into();
    }
    let of = |verdict: Option<Ruling>| {
        let n = claims.iter().filter(|claim| claim.verdict == verdict).count();
        (n > 0).then(|| format!("{n} {}", verb(verdict, n)))
    };
    let verdicts = Ruling::ALL.into_iter().rev().map(Some).chain([None]);
    let said: Vec<String> = verdicts.filter_map(of).collect();
    format!("{}: {}.", count(claims.len(), "claim"), said.join(", "))
}

/// What a claim is called: by its docket too where another docket has the same id.
fn name(judged: &Judged, claim: &JudgedClaim) -> String {
    match judged.claims.iter().filter(|other| other.id == claim.id).count() {
        0 | 1 => claim.id.clone(),
        _ => format!("{}/{}", claim.docket, claim.id),
    }
}

fn word(verdict: Option<Ruling>) -> &'static str {
    Value::Ruling(verdict).verdict().map_or("", |(_, word)| word)
}

/// The parts that decide a claim: the first of its verdict, or one that holds and one that fails, of
/// one check where there are two such.
fn deciding(claim: &JudgedClaim) -> Vec<&JudgedPart> {
    let of = |verdict| claim.parts.iter().filter(move |part| part.verdict == Some(verdict));
    match claim.verdict {
        Some(Ruling::Depends) => {
            let same =
                |holds: &JudgedPart| of(Ruling::Fails).find(|fails| fails.test == holds.test);
            let pair = of(Ruling::Holds).find_map(|holds| Some((holds, same(holds)?)));
            let any = || of(Ruling::Holds).next().zip(of(Ruling::Fails).next());
            pair.or_else(any).map_or(Vec::new(), |(holds, fails)| vec![holds, fails])
        }
        Some(verdict) => of(verdict).take(1).collect(),
        None => Vec::new(),
    }
}

/// The numbers that decide a claim, or why there are none.
fn figure(claim: &JudgedClaim) -> String {
    // On what it depends stands in its record.
    let parts = deciding(claim);
    let interval = if parts.len() == 1 { Interval::Told } else { Interval::Untold };
    let told = |part: &&JudgedPart| {
        let value = part.value.as_ref()?;
        amount(value, interval).value.shown().map(|shown| shown.to_string())
    };
    let figures: Vec<String> = parts.iter().filter_map(told).collect();
    match claim.verdict {
        None => claim.not_checkable.first().map_or("", |of| &of.reason).to_owned(),
        Some(_) if figures.is_empty() => claim.because.clone(),
        Some(_) => distinct(figures.iter().map(String::as_str)).join(" or "),
    }
}

/// What the numbers that decide a claim would have to be.
fn relations(claim: &JudgedClaim) -> Cell {
    let relation = |part: &&JudgedPart| match relation(&part.test) {
        "" if part.value.is_some() => Some(part.test.clone()),
        "" => None,
        relation => Some(relation.to_owned()),
    };
    let relations: Vec<String> = deciding(claim).iter().filter_map(relation).collect();
    match distinct(relations.iter().map(String::as_str)).join(" or ") {
        none if none.is_empty() => Cell::none(),
        told => Cell::code(told),
    }
}

/// The relation of a check as written, which is what stands behind its number.
fn relation(test: &str) -> &str {
    let relation = test.rsplit_once(')').map_or("", |(_, of)| of.trim());
    relation.trim_start_matches('~').trim_start()
}

fn claimed(part: &JudgedPart) -> Cell {
    match relation(&part.test) {
        "" => Cell::none(),
        relation => Cell::text(relation),
    }
}

/// A number of a check.
fn amount(value: &JudgedValue, interval: Interval) -> Cell {
    let mut estimate = value.estimate.clone();
    let is_exact = estimate.low.is_some() && estimate.low == estimate.high;
    let interval = if is_exact { Interval::Untold } else { interval };
    let Some(point) = estimate.point else { return ends(value) };
    let scale = match value.unit {
        JudgedUnit::Times => {
            let (low, high) = (estimate.low, estimate.high);
            let (baseline, n_rounds) = (String::new(), estimate.n_trials);
            return Value::Ratio(Ratio { baseline, point, low, high, n_rounds }, interval).into();
        }
        JudgedUnit::Number => Scale::Power(0),
        JudgedUnit::Ns => Scale::Difference,
        JudgedUnit::Bytes => Scale::Named("bytes".to_owned()),
        JudgedUnit::Gbps => Scale::Named("Gbit/s".to_owned()),
        JudgedUnit::Share => {
            estimate = estimate.times(100.0);
            Scale::Named("%".to_owned())
        }
    };
    Cell::measured(Some(&estimate), scale, interval)
}

/// A number of which only an interval is known.
fn ends(value: &JudgedValue) -> Cell {
    let end = |end: f64| {
        let estimate = Estimate { point: Some(end), ..value.estimate.clone() };
        let shown = amount(&JudgedValue { estimate, ..*value }, Interval::Untold).value.shown();
        shown.map_or(String::new(), |shown| shown.to_string())
    };
    match (value.estimate.low.map(end), value.estimate.high.map(end)) {
        (Some(low), Some(high)) => Cell::text(format!("{low} to {high}")),
        (Some(low), None) => Cell::text(format!("above {low}")),
        (None, Some(high)) => Cell::text(format!("at most {high}")),
        (None, None) => Cell::none(),
    }
}

/// A reason as a sentence of its own.
fn sentence(because: &str) -> Cell {
    let mut text = because.trim_end_matches('.').to_owned();
    text.push('.');
    Cell::text(text)
}
