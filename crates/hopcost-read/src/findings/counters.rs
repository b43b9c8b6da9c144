//! Findings about exchanges that were lost.

use hopcost_model::finding::{Code, Finding, Severity};

use super::make::{Seen, finding, suspect_if};
use crate::format;

/// Share of exchanges lost from which on percentiles could look different: had every
/// lost one been the slowest, p99.9 would have been one of them.
const LOST_MAX: f64 = 0.001;

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

    use crate::testing::{PIPE, Row, expect, note, read_changed, suspect};

    #[test]
    fn losses() {
        use Code::Lost;
        let rows: [Row; 2] = [
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
