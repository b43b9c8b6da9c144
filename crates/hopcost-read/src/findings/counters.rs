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

    use crate::testing::{PIPE, TrialBuilder, event, expect, read_changed, uncounted};

    fn cycles(t: &mut TrialBuilder, running_ns: u64) {
        t.raw.ends[0].events = vec![EventReading { running_ns, ..event("cycles", 5) }];
    }

    #[test]
    fn events_that_took_turns_or_are_missing_and_losses() {
        type Row = (Code, fn(u32, &mut TrialBuilder), Option<(Severity, &'static str)>);
        let note = |words| Some((Severity::Note, words));
        let suspect = |words| Some((Severity::Suspect, words));
        let rows: [Row; 8] = [
            (Code::Multiplexed, |_, t| cycles(t, 1000), None),
            (Code::Multiplexed, |_, t| cycles(t, 950), note("95 %")),
            (Code::Multiplexed, |_, t| cycles(t, 890), suspect("89 %")),
            (Code::Lost, |_, _| (), None),
            (Code::Lost, |_, t| t.raw.ends[0].lost = 2, suspect("16 exchanges lost (0.20 %)")),
            (
                Code::Lost,
                |round, t| t.raw.ends[0].lost = u64::from(round == 0),
                note("1 exchange lost (0.01 %)"),
            ),
            (Code::CountersMissing, |_, _| (), None),
            (
                Code::CountersMissing,
                |_, t| {
                    let missing = ["cycles", "llc-misses"].map(|name| uncounted(name, "no PMU"));
                    t.raw.ends.iter_mut().for_each(|end| end.events = missing.to_vec());
                    t.raw.counted = vec![uncounted("system-calls", "EACCES")];
                },
                note("Not counted: system-calls (EACCES); cycles, llc-misses (no PMU)."),
            ),
        ];
        for (code, change, expected) in rows {
            expect(&read_changed(PIPE, change), code, expected);
        }
    }
}
