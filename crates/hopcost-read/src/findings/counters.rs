//! Findings about what was counted, and about exchanges that were lost.

use std::collections::BTreeMap;

use hopcost_model::finding::{Code, Finding, Severity};

use super::make::{Seen, finding, suspect_if};
use crate::case::Reading;
use crate::format;

/// An event that was counted for less than this share of the time is an
/// extrapolation rather than a count.
const COUNTED_MIN: f64 = 0.9;
/// Share of exchanges lost from which on percentiles could look different: had every
/// lost one been the slowest, p99.9 would have been one of them.
const LOST_MAX: f64 = 0.001;

pub fn multiplexed(of: &Seen) -> Option<Finding> {
    let counters = of.reading.result.counters.iter();
    let shares = counters.filter_map(|counter| Some((counter.counted_share?, &counter.event)));
    let (share, event) = shares.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let says = format!("`{event}` was counted for <counted_share %> of the time and scaled.");
    let severity = suspect_if(share < COUNTED_MIN);
    Some(finding(Code::Multiplexed, severity, says, &[("counted_share", share)]))
}

pub fn lost(of: &Seen) -> Option<Finding> {
    let lost = of.reading.result.lost;
    let share = lost as f64 / (lost as f64 + of.reading.result.operations as f64);
    // The responses of a load that lost messages would be those of another rate.
    let (what, severity) = match of.reading.result.load.is_some() {
        true => ("message", Severity::Invalid),
        false => ("exchange", suspect_if(share >= LOST_MAX)),
    };
    let says = format!("{} lost (<share %>).", format::count(lost as usize, what));
    let values = [("lost", lost as f64), ("share", share)];
    (lost > 0).then(|| finding(Code::Lost, severity, says, &values))
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
    let says = format!("Not counted: {}.", each.collect::<Vec<_>>().join("; "));
    let values = [("events", count as f64)];
    (count > 0).then(|| finding(Code::CountersMissing, Severity::Note, says, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::Code;
    use hopcost_model::protocol::EventReading;

    use crate::testing::{
        PIPE, Row, TrialBuilder, event, expect, note, read_changed, suspect, uncounted,
    };

    fn cycles(t: &mut TrialBuilder, running_ns: u64) {
        t.raw.ends[0].events = vec![EventReading { running_ns, ..event("cycles", 5) }];
    }

    #[test]
    fn events_that_took_turns_or_are_missing_and_losses() {
        use Code::{CountersMissing, Lost, Multiplexed};
        let rows: [Row; 6] = [
            (Multiplexed, PIPE, |_, t| cycles(t, 1000), None),
            (Multiplexed, PIPE, |_, t| cycles(t, 950), note("95 %")),
            (Multiplexed, PIPE, |_, t| cycles(t, 890), suspect("89 %")),
            (Lost, PIPE, |_, t| t.raw.ends[0].lost = 2, suspect("16 exchanges lost (0.20 %)")),
            (
                Lost,
                PIPE,
                |round, t| t.raw.ends[0].lost = u64::from(round == 0),
                note("1 exchange lost (0.01 %)"),
            ),
            (
                CountersMissing,
                PIPE,
                |_, t| {
                    let missing = ["cycles", "llc-misses"].map(|name| uncounted(name, "no PMU"));
                    t.raw.ends.iter_mut().for_each(|end| end.events = missing.to_vec());
                    t.raw.counted = vec![uncounted("system-calls", "EACCES")];
                },
                note("Not counted: system-calls (EACCES); cycles, llc-misses (no PMU)."),
            ),
        ];
        for (code, id, change, expected) in rows {
            expect(&read_changed(id, change), code, expected);
        }
    }
}
