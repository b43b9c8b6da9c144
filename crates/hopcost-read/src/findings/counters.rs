//! Findings about what was counted, and about exchanges that were lost.

use hopcost_model::finding::{Code, Finding, Severity};

use super::make::{Seen, finding, suspect_if};
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

#[cfg(test)]
mod tests {
    use hopcost_model::finding::Code;
    use hopcost_model::protocol::EventReading;

    use crate::testing::{PIPE, Row, TrialBuilder, event, expect, note, read_changed, suspect};

    fn cycles(t: &mut TrialBuilder, running_ns: u64) {
        t.raw.ends[0].events = vec![EventReading { running_ns, ..event("cycles", 5) }];
    }

    #[test]
    fn events_that_took_turns_and_losses() {
        use Code::{Lost, Multiplexed};
        let rows: [Row; 5] = [
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
        ];
        for (code, id, change, expected) in rows {
            expect(&read_changed(id, change), code, expected);
        }
    }
}
