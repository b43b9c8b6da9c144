//! Published numbers that do not say what was timed, and the operations here that come
//! nearest to them.

use hopcost_model::case::{Boundary, Workload};
use hopcost_model::results::{PublishedSearch, SearchCandidate};

use super::entry::Entry;
use crate::format;
use crate::published::{self, Search};

/// Operations that are shown.
const SHOWN: usize = 5;
/// What comes within this factor of a number may be what was timed.
const FACTOR: f64 = 1.25;

/// One search for every published number that asks for one, where an operation of its
/// runtime was measured.
pub fn searches(entries: &[Entry]) -> Vec<PublishedSearch> {
    published::searches().iter().filter_map(|search| of(entries, search)).collect()
}

fn of(entries: &[Entry], search: &Search) -> Option<PublishedSearch> {
    let mut candidates: Vec<SearchCandidate> = entries
        .iter()
        .filter(|entry| {
            let runtime = entry.runtime().is_some_and(|of| of.word() == search.runtime);
            runtime && is_in_one_process(entry)
        })
        .filter_map(|entry| {
            let value = entry.reading.headline()?.clone();
            let ratio = value.point.filter(|ns| *ns > 0.0)? / search.published_ns;
            let case = entry.reading.result.id.clone();
            Some(SearchCandidate { case, result: entry.reading.index, value, ratio })
        })
        .collect();
    let distance = |candidate: &SearchCandidate| libm::log(candidate.ratio).abs();
    // Stable: equally near ones keep the order of the plan.
    candidates.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let conclusion = conclusion(search, &candidates)?;
    candidates.truncate(SHOWN);
    Some(PublishedSearch {
        label: search.label.clone(),
        source: search.source.clone(),
        published_ns: search.published_ns,
        runtime: search.runtime.clone(),
        candidates,
        conclusion,
    })
}

/// One thread, or two of one process: what a source that speaks of threads may have
/// timed.
fn is_in_one_process(entry: &Entry) -> bool {
    match entry.case.workload {
        Workload::Call => true,
        Workload::Roundtrip => entry.case.boundary == Boundary::Thread,
        _ => false,
    }
}

/// Whether a cost is within the factor.
fn is_near(ns: f64, published_ns: f64) -> bool {
    ns <= published_ns * FACTOR && ns >= published_ns / FACTOR
}

/// Whether an operation's interval reaches into the factor.
fn reaches(candidate: &SearchCandidate, published_ns: f64) -> bool {
    let ns = candidate.ratio * published_ns;
    let (low, high) = (candidate.value.low.unwrap_or(ns), candidate.value.high.unwrap_or(ns));
    low <= published_ns * FACTOR && high >= published_ns / FACTOR
}

fn conclusion(search: &Search, candidates: &[SearchCandidate]) -> Option<String> {
    let nearest = candidates.first()?;
    // With the digits that it was published with.
    let published = format!("{} µs", search.published_ns / 1e3);
    let name = |candidate: &SearchCandidate| {
        let value = candidate.ratio * search.published_ns;
        format!(
            "{} ({}, {} of it)",
            candidate.case,
            format::ns(value),
            format::three(candidate.ratio)
        )
    };
    let reaching = candidates.iter().filter(|c| reaches(c, search.published_ns));
    let mut found = if is_near(nearest.ratio * search.published_ns, search.published_ns) {
        format!("{} comes nearest to {published}.", name(nearest))
    } else {
        format!(
            "Not found: nothing measured here comes within a factor of {FACTOR} of {published}; of \
             {}, the nearest is {}.",
            format::count(candidates.len(), &format!("{} operation", search.runtime)),
            name(nearest)
        )
    };
    let others: Vec<String> = reaching.filter(|c| c.result != nearest.result).map(name).collect();
    if !others.is_empty() {
        found.push_str(&format!(
            " Their intervals reach as near, so that the number alone cannot rule them out: {}.",
            others.join(", ")
        ));
    }
    Some(format!(
        "{found} The machines differ, so that nearness is a hint at what was timed and not a proof."
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, read};

    fn operation(name: &str) -> String {
        format!("roundtrip/{name}?payload=64&boundary=thread&place=free&wait=block&runtime=python")
    }

    #[test]
    fn the_nearest_operations_are_named() {
        let mut builder = Builder::new()
            .case("call/mutex-uncontended?runtime=python", 8, |_, t| t.batch(10, &[800; 50]))
            .case("call/thread-start?runtime=python", 8, |_, t| t.each(&[60_000; 50]))
            .case(&operation("condvar"), 8, |round, t| t.each(&[18_100 + 10 * round; 50]))
            .case(&operation("udp").replace("thread", "process"), 8, |_, t| t.each(&[16_950; 50]))
            .case(&operation("condvar").replace("=python", "=go"), 8, |_, t| t.each(&[16_950; 50]));
        for (name, ns) in [("queue", 90_000), ("event", 30_000), ("pipe", 9000)] {
            builder = builder.case(&operation(name), 8, move |_, t| t.each(&[ns; 50]));
        }
        let searches = builder.read().runtimes.unwrap().searches;
        let [search] = searches.as_slice() else { panic!("{searches:?}") };
        assert_eq!((search.label.as_str(), search.runtime.as_str()), ("Python: threads", "python"));
        assert_eq!(search.published_ns, 16_950.0);
        let shown: Vec<(u32, f64)> = search
            .candidates
            .iter()
            .map(|c| (c.result, (c.ratio * 100.0).round() / 100.0))
            .collect();
        assert_eq!(shown, [(2, 1.07), (6, 1.77), (7, 0.53), (1, 3.54), (5, 5.31)]);
        let conclusion = &search.conclusion;
        assert!(
            conclusion.starts_with("roundtrip/condvar?")
                && conclusion.contains("(18.1 µs, 1.07 of it) comes nearest to"),
            "{conclusion}"
        );
        assert!(
            conclusion.contains("machines differ") && !conclusion.contains("rule them out"),
            "{conclusion}"
        );
    }

    #[test]
    fn several_may_be_near_and_all_may_be_far() {
        let run = |values: &[u32]| {
            let mut builder = Builder::new();
            for (name, ns) in ["condvar", "queue", "event"].iter().zip(values) {
                builder = builder.case(&operation(name), 8, move |_, t| t.each(&[*ns; 50]));
            }
            builder.read().runtimes.unwrap().searches[0].conclusion.clone()
        };
        let two = run(&[14_000, 17_000, 40_000]);
        assert!(two.starts_with("roundtrip/queue?"), "{two}");
        assert!(two.contains("cannot rule them out: roundtrip/condvar?"), "{two}");
        assert!(!two.contains("roundtrip/event"), "{two}");
        let far = run(&[13_000, 30_000, 40_000]);
        assert!(
            far.starts_with("Not found: nothing measured here comes within a factor of 1.25 of")
        );
        assert!(far.contains("of 3 python operations, the nearest is roundtrip/condvar?"), "{far}");
    }

    #[test]
    fn without_an_operation_of_that_runtime_nothing_is_searched() {
        let go = operation("condvar").replace("=python", "=go");
        let raw = Builder::new().case(&go, 8, |_, t| t.each(&[16_950; 50])).build();
        assert!(read(&raw).runtimes.unwrap().searches.is_empty());
    }
}
