//! What is different in the slowest hops of a case.

use std::collections::{BTreeMap, BTreeSet};

use hopcost_model::results::{ExplainedTail, Segment, TailOccurrence, TailSegment, UnseenTime};
use hopcost_model::trace::Trace;
use hopcost_stats::sample::rank;

use super::cut::{Cpu, Hop, Occurrence, role};
use super::traced::{Traced, mean, ns};
use crate::format;

/// Slow hops from which on something is said of them.
const SLOW_MIN: usize = 20;
/// Segments and occurrences that a sentence names.
const NAMED_MAX: usize = 2;
/// From this share of the time on CPU by events on it is said that the kernel has not counted all of it.
const UNSEEN_MIN: f64 = 0.01;

/// The slow hops of all trials beside the typical ones; `None` where there are too few.
pub fn of(trials: &[&Traced], quantile: f64) -> Option<ExplainedTail> {
    let slow = |trial: &&Traced| {
        let from = rank(trial.hops.len(), quantile) - 1;
        trial.hops[from..].to_vec()
    };
    let slow: Vec<Hop> = trials.iter().flat_map(slow).collect();
    let typical: Vec<Hop> = trials.iter().flat_map(|trial| trial.typical().to_vec()).collect();
    if slow.len() < SLOW_MIN {
        return None;
    }
    let both = |of: &dyn Fn(&Hop) -> f64| [&slow, &typical].map(|hops| mean(hops, of));
    let all: BTreeSet<Segment> =
        slow.iter().chain(&typical).flat_map(|hop| hop.parts.keys().copied()).collect();
    let segments = all.into_iter().map(|segment| {
        let [slow_ns, typical_ns] = both(&|hop| ns(hop, segment) as f64);
        TailSegment { segment, slow_ns, typical_ns }
    });
    let mut segments: Vec<TailSegment> = segments.collect();
    let longer = |one: &TailSegment| one.slow_ns - one.typical_ns;
    segments.sort_by(|a, b| longer(b).total_cmp(&longer(a)));
    let [slow_ns, typical_ns] = both(&|hop| hop.total_ns as f64);
    let occurrence = |what: &str, has: &dyn Fn(&Hop) -> bool| {
        let [slow_share, typical_share] = both(&|hop| if has(hop) { 1.0 } else { 0.0 });
        TailOccurrence { what: what.to_owned(), slow_share, typical_share }
    };
    let seen =
        Occurrence::ALL.map(|what| occurrence(what.words(), &|hop| hop.seen.contains(&what)));
    let silent = occurrence(SILENT, &|hop| hop.silent_ns as f64 > typical_ns);
    let mut occurrences: Vec<TailOccurrence> = seen
        .into_iter()
        .chain([silent])
        .filter(|of| of.slow_share > 0.0 || of.typical_share > 0.0)
        .collect();
    let oftener = |one: &TailOccurrence| one.slow_share - one.typical_share;
    occurrences.sort_by(|a, b| oftener(b).total_cmp(&oftener(a)));
    let unseen = unseen(trials);
    let mut says = sentence(slow_ns - typical_ns, quantile, &segments, &occurrences);
    says.extend(unseen.map(|unseen| doubt(&unseen)));
    let hops = slow.len() as u64;
    Some(ExplainedTail { quantile, hops, slow_ns, typical_ns, segments, occurrences, unseen, says })
}

/// What takes an end longer than a typical hop without an event.
const SILENT: &str = "no event for longer than a typical hop";

/// How long both ends had their CPUs, by events.
pub fn on_cpu_ns(trace: &Trace) -> u64 {
    let begin_ns = trace.events.first().map_or(0, |event| event.at_ns);
    let mut cpus: BTreeMap<u32, (Cpu, u64)> = BTreeMap::new();
    let mut sum_ns = 0u64;
    for event in &trace.events {
        let first = Cpu { runs: Some(event.thread), ..Cpu::default() };
        let (cpu, since_ns) = cpus.entry(event.cpu).or_insert((first, begin_ns));
        if cpu.runs.and_then(role).is_some() {
            sum_ns = sum_ns.saturating_add(event.at_ns.saturating_sub(*since_ns));
        }
        *since_ns = event.at_ns;
        cpu.take(event);
    }
    sum_ns
}

/// What events show of the time on CPU in all phases, beside the kernel's account of it.
fn unseen(trials: &[&Traced]) -> Option<UnseenTime> {
    let of = |trial: &&Traced| {
        let on_cpu_ns = on_cpu_ns(trial.trace);
        let counted_ns = trial.counted.cpu_ns?;
        Some(UnseenTime { on_cpu_ns, counted_ns, steal_ns: trial.counted.steal_ns })
    };
    trials.iter().filter_map(of).reduce(|one, other| UnseenTime {
        on_cpu_ns: one.on_cpu_ns.saturating_add(other.on_cpu_ns),
        counted_ns: one.counted_ns.saturating_add(other.counted_ns),
        steal_ns: one.steal_ns.zip(other.steal_ns).map(|(one, other)| one.saturating_add(other)),
    })
}

/// What can be said of steal, which no event shows.
fn doubt(unseen: &UnseenTime) -> String {
    let [on_cpu_ns, counted_ns] = [unseen.on_cpu_ns, unseen.counted_ns].map(|ns| ns as f64);
    let taken_ns = on_cpu_ns - counted_ns;
    let all = format!("the {} that the ends were on their CPUs by events", format::ns(on_cpu_ns));
    let says = match taken_ns / on_cpu_ns {
        share if share >= UNSEEN_MIN => {
            format!(
                "{} less CPU time than {all}, which is steal, or interrupts",
                format::ns(taken_ns)
            )
        }
        share if share <= -UNSEEN_MIN => format!(
            "{} more CPU time than {all} (it may count from the wake-up on), so that it does not tell steal",
            format::ns(-taken_ns)
        ),
        _ => format!("all of {all} as CPU time"),
    };
    let steal = unseen.steal_ns.map_or(String::new(), |ns| {
        format!(", and steal of {} (in steps of 10 ms)", format::ns(ns as f64))
    });
    format!("; over all hops the kernel counts {says}{steal}")
}

/// `the slowest 1 % take 9.10 µs longer on average than the typical hops of all trials, of which 5.20 µs in “softirq, back”; a timer in 34 % of them …`
fn sentence(
    longer_ns: f64,
    quantile: f64,
    segments: &[TailSegment],
    occurrences: &[TailOccurrence],
) -> String {
    let told = segments.iter().map(|one| (one, one.slow_ns - one.typical_ns));
    let told = told.filter(|(_, ns)| *ns >= 0.1 * longer_ns && *ns > 0.0).take(NAMED_MAX);
    let told = told.map(|(one, ns)| format!("{} in “{}”", format::ns(ns), one.segment));
    let told: Vec<String> = told.collect();
    let oftener = occurrences.iter().filter(|one| one.slow_share > 2.0 * one.typical_share);
    // Of what no event shows it is always said.
    let oftener = oftener.enumerate().filter(|(at, one)| *at < NAMED_MAX || one.what == SILENT);
    let oftener = oftener.map(|(_, one)| {
        let (slow, typical) = (format::percent(one.slow_share), format::percent(one.typical_share));
        let why = match one.what == SILENT {
            true => ", as where the hypervisor has the CPU (steal) or an end works for itself,",
            false => "",
        };
        format!("; {}{why} in {slow} of them and {typical} of typical ones", one.what)
    });
    let of_which = if told.is_empty() { "" } else { ", of which " };
    format!(
        "the slowest {} take {} longer on average than the typical hops of all trials{of_which}{}{}",
        format::percent(1.0 - quantile),
        format::ns(longer_ns),
        told.join(" and "),
        oftener.collect::<String>()
    )
}
