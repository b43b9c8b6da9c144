//! Which mechanism to use: the cases of a run that meet the requirements, sorted.

use hopcost_model::group::grouped;
use hopcost_model::text::some;
use hopcost_model::{
    AdviceRequest, Case, Code, Estimate, Mechanism, Placement, Plan, Severity, SortedBy, Statistic,
    WaitKind, document,
};
use hopcost_stats::next_run::TRIALS_MIN;

use crate::case::{CaseResult, Status};
use crate::format;
use crate::ranking::Place;
use crate::results::Results;

document! {
    /// Which mechanism to use.
    #[derive(Default)]
    pub struct Advice {
        /// What was asked.
        pub request: AdviceRequest,
        /// The run that it rests on.
        pub run: String,
        /// Whether there is an answer.
        pub answer: Answer,
        /// The same in sentences, what to use first.
        pub says: Vec<String>,
        /// The cases that are asked for: what meets the requirements, sorted, then what may, then
        /// what does not.
        pub candidates: Vec<Candidate>,
        /// What casts doubt on the run as a whole.
        pub notes: Vec<String>,
        /// The command that measures them again.
        pub command: String,
    }

    /// Whether there is an answer.
    #[derive(Copy, Eq, Default)]
    pub enum Answer {
        /// The first candidate.
        Recommended,
        /// No candidate meets the requirements; the first comes nearest.
        NothingMeets,
        /// It is not known whether one does.
        #[default]
        Open,
        /// The numbers are invalid.
        Invalid,
    }

    /// A mechanism with its wait, and what it takes.
    pub struct Candidate {
        /// The case.
        pub case: String,
        /// Mechanism, wait, and parameters in which others differ.
        pub name: String,
        /// Where it lies against the requirements.
        pub fit: Fit,
        /// The median, or the cost in batches.
        pub p50: Option<Estimate>,
        /// The 99th percentile.
        pub p99: Option<Estimate>,
        /// CPU time of both ends per message.
        pub cpu_ns_per_message: Option<f64>,
        /// Whether the interval that it is sorted by overlaps that of the first.
        pub overlaps: bool,
        /// Why it does not meet the requirements, or may not, or what its numbers suffer from.
        pub reason: Option<String>,
    }

    /// Where a case lies against the requirements.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    pub enum Fit {
        /// It meets them.
        Inside,
        /// Its interval holds the limit, or there is none yet.
        Open,
        /// It does not meet them.
        Outside,
    }
}

/// What helps where too little was measured.
const MORE: &str = "take a longer --budget or name fewer mechanisms";

/// Where both ends may be as well.
const ON_ONE_CPU: &str = "With --place same-cpu both ends share a CPU: a hand-over that sleeps often \
                          takes a fraction of this there.";

/// Ties that a sentence names.
const TIES_MAX: usize = 3;

/// What a run says to a request. No candidates where no case of the run is asked for.
pub fn of(plan: &Plan, results: &Results, rust: &[Mechanism], request: &AdviceRequest) -> Advice {
    let rows = plan.cases.iter().zip(&results.results);
    let rows = rows.map(|(planned, result)| (&planned.case, result));
    let asked: Vec<(&Case, &CaseResult)> =
        rows.filter(|(case, _)| request.is_about(case)).collect();
    let placement = request.placement.or_else(|| usual(asked.iter().map(|(case, _)| *case)));
    let asked: Vec<_> = asked.into_iter().filter(|(case, _)| case.placement == placement).collect();
    let cases: Vec<&Case> = asked.iter().map(|(case, _)| *case).collect();
    let mut candidates: Vec<Candidate> = Vec::new();
    for (case, result) in &asked {
        let mechanism = rust.iter().find(|known| known.name == case.mechanism_name());
        let out = request.rules_out(case, mechanism).map(str::to_owned);
        // That a mechanism lacks one wait is no news where it was measured with another.
        let others = asked.iter().filter(|(other, _)| other.mechanism == case.mechanism);
        let is_lack = out.is_none() && result.status == Status::Skipped;
        if is_lack && others.into_iter().any(|(_, other)| other.status != Status::Skipped) {
            continue;
        }
        candidates.push(candidate(name(case, &cases), result, out, request));
    }
    // Where what they are sorted by is not known yet, by their medians.
    let by_median = AdviceRequest { sort: SortedBy::P50, ..request.clone() };
    candidates.sort_by(|a, b| {
        let of = |by: &AdviceRequest| key(a, by).total_cmp(&key(b, by));
        a.fit.cmp(&b.fit).then(of(request)).then(of(&by_median))
    });
    let high = candidates.first().and_then(|first| estimate(first, request)?.high);
    for of in candidates.iter_mut().skip(1).filter(|of| of.fit == Fit::Inside) {
        let low = estimate(of, request).and_then(|own| own.low);
        of.overlaps = low.zip(high).is_some_and(|(low, high)| low <= high);
    }
    let calm = AdviceRequest { spinning: false, loss: true, ..request.clone() };
    let about = |of: &Candidate| {
        let (case, _) = asked.iter().find(|(_, result)| result.id == of.case)?;
        Some((*case, rust.iter().find(|known| known.name == case.mechanism_name())))
    };
    let sleeps =
        |of: &&Candidate| about(of).is_some_and(|(case, of)| calm.rules_out(case, of).is_none());
    let sleeping: Vec<&Candidate> = candidates.iter().filter(sleeps).collect();
    let place = cases.first().map(|case| Place::of(case));
    let (answer, mut says) = answer(&candidates, &sleeping, results, (request, place));
    // The sender of a load needs a CPU of its own.
    let on_one = placement.filter(|of| of.is_two_cpu() && request.rate.is_none());
    let on_one = on_one.map(|_| ON_ONE_CPU.to_owned());
    let first = candidates.first().filter(|of| of.p50.is_some()).and_then(|of| about(of)?.1);
    says.extend(first.filter(|of| of.family == "notifications").map(|of| {
        format!("{} only wakes the other end: the message lies in memory that both share.", of.name)
    }));
    Advice {
        request: AdviceRequest { placement, ..request.clone() },
        run: results.about.id.clone(),
        answer,
        says,
        candidates,
        notes: notes(results).into_iter().chain(on_one).collect(),
        command: results.command.clone(),
    }
}

/// What casts doubt on the run as a whole.
fn notes(results: &Results) -> Vec<String> {
    let of_run = results.findings.iter().filter(|found| found.case.is_none());
    let doubts = of_run.filter(|found| found.severity > Severity::Note);
    doubts.map(|found| found.evidence.clone()).collect()
}

/// Where most cases have their ends.
fn usual<'a>(cases: impl Iterator<Item = &'a Case>) -> Option<Placement> {
    let places = grouped(cases, |case| case.placement);
    places.into_iter().max_by_key(|(_, cases)| cases.len())?.0
}

/// Its mechanism, how it waits unless by blocking, and parameters in which others differ.
fn name(case: &Case, all: &[&Case]) -> String {
    let mut words = vec![format::mechanism(case)];
    let waits = case.waits.filter(|waits| waits.caller != WaitKind::Block || waits.are_mixed());
    words.extend(waits.map(|waits| match (waits.are_mixed(), waits.caller) {
        (false, WaitKind::Spin) => "spinning".to_owned(),
        _ => format!("wait={waits}"),
    }));
    let others = all.iter().filter(|other| other.mechanism == case.mechanism);
    for (key, value) in &case.parameters {
        let differs = |other: &&Case| other.parameters.get(key) != Some(value);
        words.extend(others.clone().any(differs).then(|| format!("{key}={value}")));
    }
    let is_other = |other: &&Case| other.runtimes != case.runtimes;
    words.extend(others.clone().any(is_other).then(|| format!("runtime={}", case.runtimes)));
    words.join(", ")
}

/// A case that is ruled `out`, or what was measured of it against the requirements.
fn candidate(
    name: String,
    result: &CaseResult,
    out: Option<String>,
    request: &AdviceRequest,
) -> Candidate {
    let estimates = result.estimates.as_ref();
    let mut of = Candidate {
        case: result.id.clone(),
        name,
        fit: Fit::Outside,
        p50: result.shown(),
        p99: estimates.and_then(|all| all.get(Statistic::P99).cloned()),
        cpu_ns_per_message: result.cpu_ns_per_message,
        overlaps: false,
        reason: None,
    };
    let lost = result.lost > 0 || result.load.as_ref().is_some_and(|load| load.lost_share > 0.0);
    let invalid = result.findings.iter().find(|found| found.severity == Severity::Invalid);
    let unmeasured = || result.reason.clone().unwrap_or_else(|| "not measured".to_owned());
    (of.fit, of.reason) = match () {
        () if out.is_some() => (Fit::Outside, out),
        () if result.status != Status::Measured => (Fit::Outside, Some(unmeasured())),
        () if lost && !request.loss => (Fit::Outside, Some("lost messages".to_owned())),
        () if invalid.is_some() => {
            // A sender that was late says nothing of the mechanism.
            let is_late = invalid.is_some_and(|found| found.code == Code::GeneratorLate);
            let fit = if is_late { Fit::Open } else { Fit::Outside };
            (fit, invalid.map(|found| format!("{}: {}", found.code, found.evidence)))
        }
        () => fit(&of, request),
    };
    let doubted = result.findings.iter().find(|found| found.severity == Severity::Suspect);
    of.reason = of.reason.or(doubted.map(|found| format!("{}: {}", found.code, found.evidence)));
    of
}

/// Where what was measured lies against the limit, and why that is not inside.
fn fit(of: &Candidate, request: &AdviceRequest) -> (Fit, Option<String>) {
    let missing = |of: Option<&Estimate>| match of {
        None => "not known: timed in batches".to_owned(),
        Some(of) => of.insufficient.clone().unwrap_or_else(|| "no interval yet".to_owned()),
    };
    let Some(limit) = request.p99_ns.map(|ns| ns as f64) else {
        let sorted = estimate(of, request);
        let is_known = sorted.is_some_and(|found| found.low.is_some());
        return match is_known {
            true => (Fit::Inside, None),
            false => (Fit::Open, Some(missing(sorted))),
        };
    };
    let Some((p99, ends)) = of.p99.as_ref().and_then(|p99| Some((p99, p99.low.zip(p99.high)?)))
    else {
        return (Fit::Open, Some(missing(of.p99.as_ref())));
    };
    let said = |sign: &str| Some(format!("p99 {} {sign} {}", interval(p99), format::ns(limit)));
    match ends {
        (_, high) if high <= limit => (Fit::Inside, None),
        (low, _) if low > limit => (Fit::Outside, said("exceeds")),
        _ => (Fit::Open, said("may exceed")),
    }
}

/// The estimate that a candidate is sorted by; the median where that is the CPU time.
fn estimate<'a>(of: &'a Candidate, request: &AdviceRequest) -> Option<&'a Estimate> {
    match request.sort {
        SortedBy::P99 => of.p99.as_ref(),
        SortedBy::P50 | SortedBy::Cpu => of.p50.as_ref(),
    }
}

fn key(of: &Candidate, request: &AdviceRequest) -> f64 {
    let value = match request.sort {
        SortedBy::Cpu => of.cpu_ns_per_message,
        _ => estimate(of, request).and_then(|found| found.point),
    };
    value.unwrap_or(f64::INFINITY)
}

/// The answer in sentences; `sleeping` are those that sleep while they wait.
fn answer(
    candidates: &[Candidate],
    sleeping: &[&Candidate],
    results: &Results,
    (request, place): (&AdviceRequest, Option<Place>),
) -> (Answer, Vec<String>) {
    let first = candidates.first();
    let of_run = results.findings.iter().filter(|found| found.case.is_none());
    let invalid = of_run.into_iter().find(|found| found.severity == Severity::Invalid);
    let (answer, said) = match (first.map(|first| (first, first.fit)), invalid) {
        (_, Some(found)) => {
            let said = "No recommendation: the numbers are invalid.".to_owned();
            let why = format!("{}: {} {}", found.code, found.evidence, found.remedy);
            (Answer::Invalid, vec![Some(said), Some(why)])
        }
        (Some((first, Fit::Inside)), _) => {
            let ties = candidates.iter().filter(|of| of.overlaps).map(|of| of.name.clone());
            let ties: Vec<String> = ties.collect();
            let ties =
                (!ties.is_empty()).then(|| format!("Level with it: {}.", some(&ties, TIES_MAX)));
            let sleeping = sleeping.iter().find(|of| of.fit == Fit::Inside);
            let sleeping = sleeping.filter(|of| of.case != first.case).map(|of| {
                let value = estimate(of, request).map_or(String::new(), interval);
                format!("The best that sleeps: {}, {value}.", of.name)
            });
            let at = place.map_or(String::new(), |place| format!(", {}", place.name()));
            let all = candidates.iter().filter(|of| of.overlaps).count();
            let or = match all {
                0..=TIES_MAX => String::new(),
                all => format!(", or any of {all} more whose intervals overlap"),
            };
            let use_it = format!("Use {}{or}: {}{at}.", first.name, says(first, request));
            (Answer::Recommended, vec![Some(use_it), ties, sleeping])
        }
        (Some((_, Fit::Open)), _) => {
            let (said, why) = undecided(candidates, results);
            let near = nearest(candidates, request);
            let asleep = nearest(sleeping.iter().copied(), request);
            let asleep =
                asleep.filter(|(of, _)| near.as_ref().is_none_or(|(a, _)| a.case != of.case));
            let asleep =
                asleep.map(|(of, said)| format!("Nearest that sleeps: {}, {said}.", of.name));
            (Answer::Open, vec![Some(said), near.map(told), asleep, why])
        }
        _ => {
            let said = "No mechanism here meets it.".to_owned();
            (Answer::NothingMeets, vec![Some(said), nearest(candidates, request).map(told)])
        }
    };
    let disturbed = results.disturbed.as_ref().map(|why| format!("Disturbed: {why}."));
    (answer, said.into_iter().chain([disturbed]).flatten().collect())
}

/// The measured candidate that is first by what they are sorted by, or else by its median, and what it
/// takes; of those that the limit alone rules out.
fn nearest<'a>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    request: &AdviceRequest,
) -> Option<(&'a Candidate, String)> {
    let may_be_used = |of: &&Candidate| {
        of.fit == Fit::Open || of.reason.as_ref().is_some_and(|why| why.starts_with("p99 "))
    };
    let all: Vec<&Candidate> = candidates.into_iter().filter(may_be_used).collect();
    let by_median = AdviceRequest { sort: SortedBy::P50, ..request.clone() };
    [request, &by_median].into_iter().find_map(|by| {
        let measured = all.iter().filter(|of| key(of, by).is_finite());
        let of = measured.min_by(|a, b| key(a, by).total_cmp(&key(b, by)))?;
        Some((*of, says(of, by)))
    })
}

fn told((of, said): (&Candidate, String)) -> String {
    format!("Nearest is {}: {said}.", of.name)
}

/// That nothing is decided, and why most candidates are open.
fn undecided(candidates: &[Candidate], results: &Results) -> (String, Option<String>) {
    let open = candidates.iter().filter(|of| of.fit == Fit::Open);
    let reasons: Vec<&str> = open.filter_map(|of| of.reason.as_deref()).collect();
    // A finding begins with its code.
    let kinds = grouped(reasons.iter().copied(), |reason| reason.split(':').next());
    let (kind, of) = kinds.into_iter().max_by_key(|(_, all)| all.len()).unwrap_or_default();
    let code = Code::ALL.iter().find(|code| Some(code.word()) == kind);
    let done = results.plan.rounds_done as usize;
    // More rounds do not help against a finding.
    if done < TRIALS_MIN && code.is_none() {
        let needed = format!("an interval needs {TRIALS_MIN}, so {MORE}");
        return (format!("Not decided in {}: {needed}.", format::count(done, "round")), None);
    }
    let Some(first) = of.first() else { return ("Not decided.".to_owned(), None) };
    let why = code.map_or(*first, |code| code.means());
    let why = why.split(". ").next().unwrap_or(why).trim_end_matches('.');
    let said = format!("Not decided for {}.", format::count(reasons.len(), "mechanism"));
    let next = code.map_or_else(|| format!("; {MORE}."), |code| format!(". {}", code.remedy()));
    (said, Some(format!("{} of them: {why}{next}", of.len())))
}

/// `p50 of a round trip 12.1 µs [11.8 µs, 12.9 µs], p99 15.0 µs [13.2 µs, 17.1 µs]`
fn says(of: &Candidate, request: &AdviceRequest) -> String {
    let what = if request.rate.is_some() { "response" } else { "round trip" };
    let statistic = match request.sort {
        SortedBy::P99 => "p99",
        _ if of.p99.is_none() => "cost",
        _ => "p50",
    };
    let sorted =
        estimate(of, request).map(|own| format!("{statistic} of a {what} {}", interval(own)));
    let limited = of.p99.as_ref().filter(|_| request.p99_ns.is_some() && statistic != "p99");
    let limited = limited.map(|p99| format!("p99 {}", interval(p99)));
    let cpu = of.cpu_ns_per_message.filter(|_| request.sort == SortedBy::Cpu);
    let cpu = cpu.map(|ns| format!("{} of CPU time per message", format::ns(ns)));
    [cpu, sorted, limited].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `12.1 µs [11.8 µs, 12.9 µs]`
fn interval(of: &Estimate) -> String {
    let point = of.point.map_or("unknown".to_owned(), format::ns);
    match of.low.zip(of.high) {
        Some((low, high)) => format!("{point} [{}, {}]", format::ns(low), format::ns(high)),
        None => point,
    }
}

#[cfg(test)]
mod tests;
