//! Which mechanism to use: what answers a request among the cases of a run, what rules each out,
//! and how those that are left compare.

mod candidate;
mod rank;
mod words;

use std::collections::BTreeSet;

use hopcost_model::advise::{AdviceRequest, Objective};
use hopcost_model::finding::Severity;
use hopcost_model::group::grouped;
use hopcost_model::mechanism::Mechanism;
use hopcost_model::plan::Plan;
use hopcost_model::results::{Advice, Answer, Basis, Excluded, RankedCandidate, Results};

use crate::command;
use crate::findings::is_generator_late;
use candidate::{Candidate, Measured, Reason, State, candidates};

/// What a run says to a request. Where nothing of the run is about it, nothing is ranked, ruled
/// out or undecided.
pub fn of(plan: &Plan, results: &Results, rust: &[Mechanism], request: &AdviceRequest) -> Advice {
    let all = candidates(plan, results, rust, request);
    let judged = Judged::of(&all, request);
    let ranking = judged.ranking(request);
    let (answer, says) = answer(&judged, &ranking, results, request);
    let first = ranking.first().filter(|_| answer != Answer::Invalid);
    let again = first.map(|first| command::of_case(&first.case));
    let mut remarks: Vec<String> = judged.fallback.iter().cloned().collect();
    remarks.extend(words::remarks(&ranking, answer, judged.basis, request));
    Advice {
        schema: hopcost_model::SCHEMA.to_owned(),
        request: AdviceRequest {
            placement: all.first().map_or(request.placement, |one| one.case.placement),
            ..request.clone()
        },
        run: results.about.id.clone(),
        answer,
        says,
        basis: judged.basis,
        remarks,
        ruled_out: judged.excluded(&all, |state| match state {
            State::Out(reason) => Some(reason),
            // Where nothing meets the request, these are ranked.
            State::Misses(_, reason) => Some(reason).filter(|_| answer != Answer::NothingMeets),
            _ => None,
        }),
        undecided: judged.excluded(&all, |state| match state {
            State::MayMeet(_, reason) => Some(reason).filter(|_| answer != Answer::Open),
            State::Unknown(reason) | State::Invalid(reason) => Some(reason),
            _ => None,
        }),
        ranked: ranking,
        commands: [results.command.clone()].into_iter().chain(again).collect(),
    }
}

/// The cases of the plan that need further rounds: those that may still be what is recommended.
/// None where the answer is known.
pub fn wanted(
    plan: &Plan,
    results: &Results,
    rust: &[Mechanism],
    request: &AdviceRequest,
) -> BTreeSet<u32> {
    let all = candidates(plan, results, rust, request);
    let judged = Judged::of(&all, request);
    let open = rank::contenders(&judged.states, request);
    let rows = all.iter().zip(open).filter(|(_, is_open)| *is_open);
    rows.flat_map(|(candidate, _)| candidate.rows().map(|row| row.index)).collect()
}

/// Every candidate with what became of it.
struct Judged<'a> {
    basis: Basis,
    /// Why it is not the one that was asked for.
    fallback: Option<String>,
    /// In the order of the candidates.
    states: Vec<State<'a>>,
}

impl<'a> Judged<'a> {
    /// By messages at the rate where that was asked for and could be had, else by round trips.
    fn of(all: &'a [Candidate<'a>], request: &AdviceRequest) -> Self {
        let by = |basis: Basis, fallback: Option<String>| {
            let states = all.iter().map(|one| one.state(basis, request)).collect();
            Judged { basis, fallback, states }
        };
        match request.objective {
            Objective::Throughput => return by(Basis::Saturation, None),
            _ if request.rate.is_none() => return by(Basis::ClosedLoop, None),
            _ => {}
        }
        let open = by(Basis::OpenLoop, None);
        match unfaithful(all, &open, request) {
            Some(why) => by(Basis::ClosedLoop, Some(why)),
            None => open,
        }
    }

    /// What meets the request, by its objective; where nothing does, what may, or what is nearest.
    fn ranking(&self, request: &AdviceRequest) -> Vec<RankedCandidate> {
        let of = |is_it: fn(&State) -> bool| -> Vec<&Measured<'_>> {
            let states = self.states.iter().filter(|state| is_it(state));
            states.filter_map(State::measured).collect()
        };
        let kinds: [fn(&State) -> bool; 3] = [
            |state| matches!(state, State::Meets(_)),
            |state| matches!(state, State::MayMeet(..)),
            |state| matches!(state, State::Misses(..)),
        ];
        let found = kinds.into_iter().map(of).find(|found| !found.is_empty());
        rank::ranked(&found.unwrap_or_default(), self.basis, request)
    }

    /// Those of some states, each reason once for a mechanism. That a mechanism has not some wait
    /// is no news where it was measured with another.
    fn excluded(
        &self,
        all: &'a [Candidate<'a>],
        of: impl for<'s> Fn(&'s State<'a>) -> Option<&'s Reason>,
    ) -> Vec<Excluded> {
        let pairs = all.iter().zip(&self.states);
        let found = pairs.filter_map(|(candidate, state)| Some((candidate, of(state)?)));
        let groups = grouped(found, |(candidate, reason)| (&candidate.case.mechanism, *reason));
        let excluded = |((mechanism, reason), of): ((&String, &Reason), Vec<(&Candidate, _)>)| {
            let measured = all.iter().filter(|other| !other.is_skipped());
            let measured = measured.filter(|other| other.case.mechanism == *mechanism).count();
            let is_skipped = of.iter().all(|(candidate, _)| candidate.is_skipped());
            let names = of.iter().map(|(candidate, _)| candidate.name.as_str());
            (!is_skipped || measured == 0).then(|| Excluded {
                name: match is_skipped || of.len() >= measured {
                    true => mechanism.clone(),
                    false => names.collect::<Vec<_>>().join("; "),
                },
                cases: of.iter().map(|(candidate, _)| candidate.case.id()).collect(),
                kind: own(&reason.kind, mechanism),
                reason: reason.says.clone(),
            })
        };
        groups.into_iter().filter_map(excluded).collect()
    }
}

/// A reason as it holds of others too: without the mechanism's name before it.
fn own(kind: &str, mechanism: &str) -> String {
    let rest = kind.strip_prefix(mechanism).map_or(kind, str::trim_start);
    rest.to_owned()
}

/// Why loads at the rate do not answer a request: there are none, or the sender was late by itself
/// in those of what would be better than the best of the others.
fn unfaithful(all: &[Candidate], open: &Judged, request: &AdviceRequest) -> Option<String> {
    let rate = request.rate_words()?;
    let closed = |candidate: &Candidate| {
        let measured = candidate.state(Basis::ClosedLoop, request);
        measured.measured()?.objective.point
    };
    let is_late =
        |candidate: &&Candidate| candidate.invalid(Basis::OpenLoop).is_some_and(is_generator_late);
    let late: Vec<&Candidate> = all.iter().filter(is_late).collect();
    let loads = all.iter().filter(|candidate| candidate.is_loaded()).count();
    if loads == 0 {
        let why = all.iter().find_map(Candidate::why_unloaded);
        let why = why.unwrap_or_else(|| "the run has no load at this rate".to_owned());
        return all.iter().any(Candidate::is_timed).then(|| {
            format!(
                "Nothing was measured at {rate} ({why}), so round trips are ranked: what messages \
                 wait for each other is not in them."
            )
        });
    }
    let best = open.ranking(request);
    let best = best.first().filter(|_| open.states.iter().any(|s| matches!(s, State::Meets(_))));
    let best_closed = best.and_then(|best| {
        let found = all.iter().find(|candidate| candidate.name == best.name);
        closed(found?)
    });
    let could_win = |candidate: &&&Candidate| {
        best_closed.is_none_or(|best| closed(candidate).is_some_and(|value| value < best))
    };
    late.iter().find(could_win)?;
    Some(format!(
        "At {rate} this machine produces no faithful load for {} of {loads} candidates \
         (GENERATOR_LATE: the sender is late by itself), so round trips are ranked, one at a time: \
         what messages wait for each other at that rate is not in them.",
        late.len()
    ))
}

/// What became of the question, and the first line.
fn answer(
    judged: &Judged,
    ranking: &[RankedCandidate],
    results: &Results,
    request: &AdviceRequest,
) -> (Answer, String) {
    let any = |is_it: fn(&State) -> bool| judged.states.iter().any(is_it);
    let invalid = || {
        let of_run = results.findings.iter().find(|found| found.case.is_none());
        let of_run = of_run.filter(|found| found.severity == Severity::Invalid);
        let why = of_run.map(words::finding).or_else(|| {
            let mut states = judged.states.iter();
            states.find_map(|state| match state {
                State::Invalid(reason) => Some(reason.says.clone()),
                _ => None,
            })
        });
        why.unwrap_or_default()
    };
    let first = ranking.first();
    match first {
        Some(first)
            if any(|state| matches!(state, State::Meets(_))) && !rank::is_told(first, request) =>
        {
            let says =
                format!("Not decided, after too few rounds: {} so far, {}", first.name, first.says);
            (Answer::Open, says)
        }
        Some(first) if any(|state| matches!(state, State::Meets(_))) => {
            (Answer::Recommended, format!("Use {}: {}", first.name, first.says))
        }
        Some(first) if any(|state| matches!(state, State::MayMeet(..))) => {
            let says = format!("Not decided: nearest is {}, {}", first.name, first.says);
            (Answer::Open, says)
        }
        _ if any(|state| matches!(state, State::Invalid(_))) => {
            (Answer::Invalid, format!("No recommendation, the numbers are invalid: {}", invalid()))
        }
        _ if any(|state| matches!(state, State::Unknown(_))) => {
            let says = "Not decided: of what could be recommended nothing is known yet".to_owned();
            (Answer::Open, says)
        }
        Some(first) => {
            let says =
                format!("No mechanism here meets it; nearest is {}: {}", first.name, first.says);
            (Answer::NothingMeets, says)
        }
        None => (Answer::NothingMeets, "No mechanism here meets it".to_owned()),
    }
}

#[cfg(test)]
mod tests;
