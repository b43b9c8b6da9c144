//! A recommendation in words.

use hopcost_model::advise::{AdviceRequest, Objective};
use hopcost_model::case::{Boundary, Case, Role, WaitKind};
use hopcost_model::finding::Finding;
use hopcost_model::group::distinct;
use hopcost_model::mechanism::{Mechanism, Shape};
use hopcost_model::results::{
    Answer, Basis, CaseResult, Estimate, RankedCandidate, Standing, Statistic,
};
use hopcost_model::units::format_number;

use crate::format;

/// Differences up to this share do not matter.
pub const MATTERS: f64 = 0.05;
/// CPUs that are too few to be saved.
pub const CPUS_NONE: f64 = 0.02;
/// Names that a sentence lists.
const NAMED_MAX: usize = 4;

/// What a candidate is called: its mechanism, how it waits unless by blocking, and parameters
/// where others differ in them.
pub fn name(case: &Case, all: &[Case]) -> String {
    let mut words = vec![format::mechanism(case)];
    let waits = case.waits.filter(|waits| waits.caller != WaitKind::Block || waits.are_mixed());
    words.extend(waits.map(|waits| match (waits.are_mixed(), waits.caller) {
        (false, WaitKind::Spin) => "spinning".to_owned(),
        _ => format!("wait={waits}"),
    }));
    let same = |other: &&Case| other.mechanism == case.mechanism && other.waits == case.waits;
    for (key, value) in &case.parameters {
        let differs = |other: &Case| other.parameters.get(key) != Some(value);
        words.extend(all.iter().filter(same).any(differs).then(|| format!("{key}={value}")));
    }
    let spins = |other: &Case| other.spin_budget_ns != case.spin_budget_ns;
    let budget = case.spin_budget_ns.filter(|_| all.iter().filter(same).any(spins));
    words.extend(budget.map(|ns| format!("spin={}", format::exact_ns(ns))));
    words.join(", ")
}

/// What it needs that not every mechanism needs.
pub fn needs(case: &Case, mechanism: Option<&Mechanism>) -> Vec<String> {
    let spinning = [Role::Caller, Role::Callee].map(|role| case.wait(role).spins_for_ever());
    let ends = spinning.into_iter().filter(|spins| *spins).count();
    let is_notifier = mechanism.is_some_and(|mechanism| mechanism.shape() == Shape::Notifier);
    let family = mechanism.map_or("", |mechanism| mechanism.family.as_str());
    let is_apart = case.boundary != Boundary::Thread;
    let all = [
        (ends > 0).then(|| format!("{} to spin on", format::count(ends, "CPU"))),
        (is_apart && (is_notifier || family.starts_with("shared memory")))
            .then(|| "shared memory".to_owned()),
        family.contains("io_uring").then(|| "io_uring".to_owned()),
        (family == "websocket").then(|| "a WebSocket library".to_owned()),
    ];
    all.into_iter().flatten().collect()
}

/// What was found, and what to do about it.
pub fn finding(found: &Finding) -> String {
    format!("{}: {} {}", found.code, found.evidence, found.remedy)
}

/// Why a case has no 99th percentile.
pub fn no_p99(row: &CaseResult) -> String {
    let estimates = row.estimates.as_ref();
    let cost = estimates.and_then(|found| found.get(Statistic::Cost)?.point);
    let why = estimates.and_then(|found| found.get(Statistic::P99)?.insufficient.clone());
    match (cost, why) {
        (Some(cost), _) => format!(
            "its p99 is not known: {} is too short to be timed one by one, and with --rate messages \
             are",
            format::ns(cost)
        ),
        (None, Some(why)) => format!("its p99 is not known: {why}"),
        (None, None) => "its p99 is not known".to_owned(),
    }
}

/// `12.1 µs [11.8, 12.9]`, `1.02 ms [980 µs, 1.10 ms]`
pub fn interval(of: &Estimate) -> String {
    with_interval(of, &format::ns)
}

fn with_interval(of: &Estimate, word: &dyn Fn(f64) -> String) -> String {
    let Some(point) = of.point else { return "unknown".to_owned() };
    match of.low.zip(of.high) {
        Some((low, high)) => {
            let all = [low, high, point].map(word);
            let split = all.each_ref().map(|text| text.split_once(' ').unwrap_or((text, "")));
            let [(low, of_low), (high, of_high), (_, unit)] = split;
            // A unit stands once where it is that of all three.
            match of_low == unit && of_high == unit {
                true => format!("{} [{low}, {high}]", all[2]),
                false => format!("{} [{}, {}]", all[2], all[0], all[1]),
            }
        }
        None => {
            let trials = || format::count(of.n_trials as usize, "trial");
            format!("{} ({})", word(point), of.insufficient.clone().unwrap_or_else(trials))
        }
    }
}

/// CPUs with two digits behind the point.
pub fn cpus(cpus: f64) -> String {
    format!("{cpus:.2}")
}

fn per_s(value: f64) -> String {
    let (scaled, unit) = match value {
        value if value >= 1e6 => (value / 1e6, "M/s"),
        value if value >= 1e3 => (value / 1e3, "k/s"),
        value => (value, "/s"),
    };
    format!("{} {unit}", format::three(scaled))
}

/// What CPU time it takes.
fn cpu(cpus_taken: Option<f64>, ns: Option<f64>, request: &AdviceRequest) -> Option<String> {
    match (cpus_taken, request.rate) {
        (Some(taken), Some(_)) => Some(format!("{} CPU at that rate", cpus(taken))),
        _ => Some(format!("{} of CPU time a message", format::ns(ns?))),
    }
}

/// What a request is ranked by, of one candidate.
fn objective(of: &RankedCandidate, basis: Basis, request: &AdviceRequest) -> String {
    let statistic = match of.case.starts_with("load/") {
        true => "response",
        false => "round trip",
    };
    let is_batched = |of: &Estimate| of.estimand.contains("cost of one");
    match request.objective {
        Objective::P50 if is_batched(&of.objective) => {
            format!("{} a {statistic} in batches", interval(&of.objective))
        }
        Objective::P50 => format!("p50 of a {statistic} {}", interval(&of.objective)),
        Objective::P99 => format!("p99 of a {statistic} {}", interval(&of.objective)),
        Objective::Cpu => {
            let p50 = of.p99.as_ref().map(|p99| format!("p99 of a {statistic} {}", interval(p99)));
            p50.unwrap_or_else(|| format!("least CPU time of a {statistic}"))
        }
        Objective::Throughput if basis == Basis::Saturation => {
            format!("carries {} at most", with_interval(&of.objective, &per_s))
        }
        Objective::Throughput => String::new(),
    }
}

/// What it takes, of what is recommended.
pub fn first(of: &RankedCandidate, basis: Basis, request: &AdviceRequest) -> String {
    let cpu = cpu(of.cpus, of.cpu_ns_per_message, request);
    let mut words = vec![objective(of, basis, request)];
    let p99 = of.p99.as_ref().filter(|_| request.objective == Objective::P50);
    words.extend(
        p99.filter(|_| request.p99_ns.is_some()).map(|p99| format!("p99 {}", interval(p99))),
    );
    words.extend(cpu);
    words.join(", ")
}

/// `1.3 µs worse at p99 than shm-ring, saves 0.70 CPU`
pub fn other(of: &RankedCandidate, first: &RankedCandidate, request: &AdviceRequest) -> String {
    let than = &first.name;
    let at = match request.objective {
        Objective::P50 => "at p50 ",
        Objective::P99 => "at p99 ",
        Objective::Cpu | Objective::Throughput => "",
    };
    let saves = saves(of, first, request).map(|saves| format!(", {saves}")).unwrap_or_default();
    let Some(regret) = of.regret else { return format!("not comparable with {than}{saves}") };
    let word = |value: f64| match request.objective {
        Objective::P50 | Objective::P99 => format::ns(value.abs()),
        Objective::Cpu if request.rate.is_some() => format!("{} CPU", cpus(value.abs())),
        Objective::Cpu => format!("{} of CPU time a message", format::ns(value.abs())),
        Objective::Throughput => per_s(value.abs()),
    };
    let sense = if regret.point < 0.0 { "better" } else { "worse" };
    let by = word(regret.point);
    match of.standing {
        Standing::AsGood => format!("{by} {sense} {at}than {than}, which does not matter{saves}"),
        _ => format!("{by} {sense} {at}than {than}{saves}"),
    }
}

/// What it saves, or takes more, in CPU time.
fn saves(of: &RankedCandidate, first: &RankedCandidate, request: &AdviceRequest) -> Option<String> {
    if request.objective == Objective::Cpu {
        return None;
    }
    let (more, word, is_some) = match (of.cpus.zip(first.cpus), request.rate) {
        (Some((own, base)), Some(_)) => (
            own - base,
            format!("{} CPU", cpus((own - base).abs())),
            (own - base).abs() >= CPUS_NONE,
        ),
        _ => {
            let (own, base) = of.cpu_ns_per_message.zip(first.cpu_ns_per_message)?;
            let word = format!("{} of CPU time a message", format::ns((own - base).abs()));
            (own - base, word, (own - base).abs() > MATTERS * base)
        }
    };
    is_some.then(|| match more > 0.0 {
        true => format!("takes {word} more"),
        false => format!("saves {word}"),
    })
}

/// What else is to be known of a ranking.
pub fn remarks(
    ranking: &[RankedCandidate],
    answer: Answer,
    basis: Basis,
    request: &AdviceRequest,
) -> Vec<String> {
    let Some(first) = ranking.first().filter(|_| answer != Answer::Invalid) else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    let as_good: Vec<&str> = ranking
        .iter()
        .filter(|of| of.standing == Standing::AsGood)
        .map(|of| of.name.as_str())
        .collect();
    if !as_good.is_empty() {
        let percent = format::percent(MATTERS);
        remarks.push(format!(
            "As good, within {percent} or not told apart: {}; {} takes less CPU time or needs less.",
            listed(&as_good),
            first.name
        ));
    }
    if !first.needs.is_empty() {
        remarks.push(format!("It needs {}.", first.needs.join(" and ")));
    }
    if !first.doubts.is_empty() {
        let codes: Vec<String> = first.doubts.iter().map(ToString::to_string).collect();
        remarks.push(format!(
            "Its numbers are suspect: {}.",
            distinct(codes.iter()).into_iter().cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    if request.rate.is_some() && basis == Basis::ClosedLoop && request.p99_ns.is_some() {
        remarks
            .push("The limit is held against the p99 of a round trip, there and back.".to_owned());
    }
    if first.cpus.is_some() {
        let rate = request.rate.map_or(String::new(), |rate| format_number(rate.into()));
        remarks.push(format!(
            "CPU at {rate} messages a second is reckoned from the CPU time of round trips and from \
             the wait; a receiver that spins takes a CPU."
        ));
    }
    remarks
}

/// A few names, and how many more.
fn listed(names: &[&str]) -> String {
    let named = names.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join("; ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
