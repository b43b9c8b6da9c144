//! Findings about what was counted, and about exchanges that were lost.

use std::collections::BTreeMap;

use hopcost_model::finding::{Code, Finding, Severity};

use super::make::{finding, suspect_if};
use crate::case::Reading;
use crate::format;

/// An event that was counted for less than this share of the time is an
/// extrapolation rather than a count.
const COUNTED_MIN: f64 = 0.9;
/// Share of exchanges lost from which on percentiles could look different: had every
/// lost one been the slowest, p99.9 would have been one of them.
const LOST_MAX: f64 = 0.001;

/// All of them for one case.
pub fn findings(reading: &Reading) -> Vec<Finding> {
    [multiplexed(reading), lost(reading)].into_iter().flatten().collect()
}

fn multiplexed(reading: &Reading) -> Option<Finding> {
    let counters = reading.result.counters.iter();
    let (share, event) = counters
        .filter_map(|counter| Some((counter.counted_share?, &counter.event)))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let severity = suspect_if(share < COUNTED_MIN);
    let evidence =
        format!("`{event}` was counted for {} of the time and scaled.", format::percent(share));
    Some(finding(Code::Multiplexed, severity, evidence, &[("counted_share", share)]))
}

fn lost(reading: &Reading) -> Option<Finding> {
    let lost = reading.result.lost;
    if lost == 0 {
        return None;
    }
    let share = lost as f64 / (lost as f64 + reading.result.operations as f64);
    // The responses of a load that lost messages would be those of another rate.
    let is_load = reading.result.load.is_some();
    let severity = if is_load { Severity::Invalid } else { suspect_if(share >= LOST_MAX) };
    let evidence = format!(
        "{} lost ({}).",
        format::count(lost as usize, if is_load { "message" } else { "exchange" }),
        format::percent(share)
    );
    Some(finding(Code::Lost, severity, evidence, &[("lost", lost as f64), ("share", share)]))
}

/// One note for the whole run, since what is missing is missing in every case.
pub fn missing(readings: &[Reading]) -> Option<Finding> {
    let mut events: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for counter in readings.iter().flat_map(|reading| &reading.result.counters) {
        if let Some(reason) = &counter.unavailable {
            let of_reason = events.entry(reason).or_default();
            if !of_reason.contains(&counter.event.as_str()) {
                of_reason.push(&counter.event);
            }
        }
    }
    let count: usize = events.values().map(Vec::len).sum();
    let each = events.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", ")));
    let evidence = format!("Not counted: {}.", each.collect::<Vec<_>>().join("; "));
    (count > 0).then(|| {
        finding(Code::CountersMissing, Severity::Note, evidence, &[("events", count as f64)])
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};
    use hopcost_model::protocol::EventReading;
    use hopcost_model::results::Results;

    use crate::testing::{Builder, PIPE, TCP, TrialBuilder, event, severity, uncounted};

    fn run(change: impl Fn(&mut TrialBuilder) + Copy) -> Results {
        let make = |_: u32, t: &mut TrialBuilder| {
            t.each(&[3000; 1000]);
            change(t);
        };
        Builder::new().case(PIPE, 8, make).case(TCP, 8, make).read()
    }

    #[test]
    fn events_that_took_turns() {
        let with = |running_ns: u64| {
            run(move |t| {
                t.raw.ends[0].events = vec![EventReading { running_ns, ..event("cycles", 5) }];
            })
        };
        assert_eq!(severity(&with(1000), Code::Multiplexed), None);
        assert_eq!(severity(&with(950), Code::Multiplexed), Some(Severity::Note));
        assert_eq!(severity(&with(890), Code::Multiplexed), Some(Severity::Suspect));
    }

    #[test]
    fn what_is_missing_is_said_once() {
        let results = run(|t| {
            let missing = ["cycles", "llc-misses"].map(|name| uncounted(name, "no PMU"));
            t.raw.ends.iter_mut().for_each(|end| end.events = missing.to_vec());
            t.raw.counted = vec![uncounted("system-calls", "EACCES")];
        });
        let notes: Vec<_> =
            results.findings.iter().filter(|f| f.code == Code::CountersMissing).collect();
        assert_eq!(notes.len(), 1);
        assert_eq!((notes[0].severity, &notes[0].case), (Severity::Note, &None));
        assert_eq!(
            notes[0].evidence,
            "Not counted: system-calls (EACCES); cycles, llc-misses (no PMU)."
        );
        assert_eq!(severity(&run(|_| ()), Code::CountersMissing), None);
    }

    #[test]
    fn losses() {
        let with = |lost: u64| run(move |t| t.raw.ends[0].lost = lost);
        assert_eq!(severity(&with(0), Code::Lost), None);
        let many = with(2);
        assert_eq!(severity(&many, Code::Lost), Some(Severity::Suspect), "0.2 %");
        assert_eq!(many.results[0].lost, 16);
        let once = Builder::new()
            .case(PIPE, 8, |round, t| {
                t.each(&[3000; 1000]);
                t.raw.ends[0].lost = u64::from(round == 0);
            })
            .read();
        assert_eq!(severity(&once, Code::Lost), Some(Severity::Note), "1 of 8001");
    }
}
