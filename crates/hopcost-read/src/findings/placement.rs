//! Does the spinning round trip between the two CPUs fit what /sys claims of them?
//!
//! The rule looks at the trial values of `flag` (a cache line per direction, both
//! ends spinning, no payload) on two CPUs. Two threads of one core answer each
//! other through their own first-level cache, at most about a hundred nanoseconds
//! a round trip; two cores take at least twice what the threads of one core take
//! on the same machine. So a claim is contradicted if
//!
//! - the trials lie at two levels, the slower at least [`LEVELS_APART`]
//!   times the faster, and the faster no slower than [`SIBLINGS_MAX_NS`]: the pair
//!   was at times two threads of one core and at times two cores, so either name
//!   is wrong part of the time; or
//! - /sys claims two threads of one core, and all trials take more than
//!   [`NOT_SIBLINGS_FACTOR`] times as long as such threads may.
//!
//! A constant distance under a hundred nanoseconds contradicts nothing: the cores
//! of small processors are that near. It is a heuristic, hence a note.

use std::collections::BTreeMap;

use hopcost_model::case::{Boundary, Case, Placement, WaitKind, Waits};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_stats::sample::Sample;

use super::make::finding;
use crate::case::{Reading, known};
use crate::format;
use crate::run::Run;

/// The most a round trip between two threads of one core takes.
const SIBLINGS_MAX_NS: f64 = 100.0;
/// The least ratio of the two levels.
const LEVELS_APART: f64 = 2.0;
/// How much longer than [`SIBLINGS_MAX_NS`] contradicts `smt`.
const NOT_SIBLINGS_FACTOR: f64 = 3.0;

/// A finding for every placement whose claim is contradicted.
pub fn claims(run: &Run, readings: &[Reading]) -> Vec<Finding> {
    let probes = known(readings).filter(|_| !run.is_virtual());
    let probes = probes.filter_map(|(case, reading)| Some((probes_of(case)?, reading)));
    let judged = probes.filter_map(|(claimed, reading)| Some((claimed, judge(claimed, reading)?)));
    judged.collect::<BTreeMap<Placement, Finding>>().into_values().collect()
}

fn judge(claimed: Placement, reading: &Reading) -> Option<Finding> {
    let note = |evidence: String, values: &[(&str, f64)]| {
        Some(finding(Code::PlacementClaim, Severity::Note, evidence, values))
    };
    let sample = Sample::new(reading.values())?;
    let is_other =
        |(near, far): &(f64, f64)| *far >= LEVELS_APART * near && *near <= SIBLINGS_MAX_NS;
    if let Some((near, far)) = reading.result.levels.filter(is_other) {
        let nearer = sample.values().partition_point(|ns| *ns < (near * far).sqrt());
        let share = nearer as f64 / sample.len() as f64;
        let evidence = format!(
            "/sys claims `{claimed}`, but the spinning round trip took {} in {} of the trials and \
             {} in the others: the two CPUs are at times threads of one core and at times not.",
            format::ns(near),
            format::percent(share),
            format::ns(far)
        );
        return note(evidence, &[("near_ns", near), ("far_ns", far), ("near_share", share)]);
    }
    let (least, median) = (sample.min(), sample.median());
    if claimed == Placement::Smt && least > NOT_SIBLINGS_FACTOR * SIBLINGS_MAX_NS {
        let evidence = format!(
            "/sys claims that the two CPUs are threads of one core, but the spinning round trip \
             between them took {} at best, typically {}.",
            format::ns(least),
            format::ns(median)
        );
        return note(evidence, &[("least_ns", least), ("median_ns", median)]);
    }
    None
}

/// The placement that a case is a probe of, if it is one.
fn probes_of(case: &Case) -> Option<Placement> {
    let spins = case.waits == Some(Waits::both(WaitKind::Spin));
    let two_cpus = |p: &Placement| p.is_two_cpu();
    let native = case.runtimes.are_rust();
    let bare = case.payload_bytes.unwrap_or(0) == 0 && case.boundary != Boundary::Inline;
    (case.mechanism == "flag" && native && spins && bare)
        .then_some(case.placement?)
        .filter(two_cpus)
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity, Validity};

    use crate::testing::{Builder, severity};

    fn flag(place: &str, values: &[u32]) -> hopcost_model::results::Results {
        let id = format!("roundtrip/flag?payload=0&boundary=process&place={place}&wait=spin");
        let trials = values.len() as u32;
        let case = |round: u32, t: &mut crate::testing::TrialBuilder| {
            t.batch(1, &[values[round as usize]; 50]);
        };
        Builder::new().case(&id, trials, case).read()
    }

    #[test]
    fn the_pair_moves() {
        let results = flag("same-llc", &[80, 310, 82, 290, 83, 264, 79, 354]);
        assert_eq!(severity(&results, Code::PlacementClaim), Some(Severity::Note));
        assert_ne!(results.results[0].validity, Some(Validity::Invalid));
    }

    #[test]
    fn a_steady_distance_contradicts_nothing() {
        for values in [[80, 82, 81, 85, 79, 90], [260, 300, 310, 264, 280, 330]] {
            assert_eq!(severity(&flag("same-llc", &values), Code::PlacementClaim), None);
        }
        let far_apart = [300, 310, 305, 900, 950, 910];
        assert_eq!(severity(&flag("cross-node", &far_apart), Code::PlacementClaim), None);
        assert_eq!(severity(&flag("same-cpu", &[80, 81, 300, 310]), Code::PlacementClaim), None);
    }

    #[test]
    fn threads_of_one_core_are_near() {
        assert_eq!(severity(&flag("smt", &[60, 61, 65, 70, 62, 64]), Code::PlacementClaim), None);
        let far = flag("smt", &[400, 410, 390, 405, 420, 415]);
        assert_eq!(severity(&far, Code::PlacementClaim), Some(Severity::Note));
    }
}
