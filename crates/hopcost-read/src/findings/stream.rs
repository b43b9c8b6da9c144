//! Findings about streams and the transports under them.

mod stall;

pub use stall::nagle_delack;

use hopcost_model::finding::{Code, Finding, Severity};

use super::make::{Seen, finding, suspect_if};
use crate::stream;
use crate::sums::total;

/// The share of segments sent again from which on percentiles are of these: a p99 is.
const RETRANSMITTED_SUSPECT: f64 = 0.01;

pub fn copied(of: &Seen) -> Option<Finding> {
    let sends = stream::zero_copy(&of.reading.trials).filter(|sends| sends.copied > 0)?;
    let says = format!("The kernel copied <copied n> of {} zero-copy sends", sends.completed);
    let share = sends.copied as f64 / sends.completed.max(sends.copied) as f64;
    let values = [("copied", sends.copied as f64), ("copied_share", share)];
    let says = format!("{says} (<copied_share %>).");
    Some(finding(Code::ZeroCopyCopied, Severity::Note, says, &values))
}

/// What TCP sent again, either end.
pub fn retransmitted(of: &Seen) -> Option<Finding> {
    let tcp = &of.reading.result.tcp;
    let again = total(tcp.iter().map(|end| end.retransmitted));
    let segments = total(tcp.iter().map(|end| end.segments));
    let says = format!("TCP sent <retransmitted n> of {segments} segments again (<share %>).");
    let share = again as f64 / segments.max(again) as f64;
    let values = [("retransmitted", again as f64), ("share", share)];
    let severity = suspect_if(share >= RETRANSMITTED_SUSPECT);
    (again > 0).then(|| finding(Code::TcpRetransmitted, severity, says, &values))
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::Code;
    use hopcost_model::protocol::{TcpReading, ZeroCopySends};

    use crate::testing::{Builder, Row, STREAM, TrialBuilder, expect, note, suspect};

    /// 1000 messages of 3000 ns each in this many nanoseconds.
    fn stream(t: &mut TrialBuilder, elapsed: u64) {
        t.stream(1, 1000, 2048, &[3000; 1000], elapsed);
    }

    fn sends(t: &mut TrialBuilder, completed: u64, copied: u64) {
        stream(t, 3_000_000);
        t.raw.ends[0].zero_copy = Some(ZeroCopySends { completed, copied });
    }

    /// Either end has sent a thousand segments; the sender sent `retransmitted` of them again.
    fn tcp(t: &mut TrialBuilder, retransmitted: u64) {
        stream(t, 3_000_000);
        for (end, retransmitted) in t.raw.ends.iter_mut().zip([retransmitted, 0]) {
            end.tcp = Some(TcpReading { segments: 1000, retransmitted, ..TcpReading::default() });
        }
    }

    #[test]
    fn each_finding_has_its_evidence() {
        use Code::ZeroCopyCopied;
        let rows: [Row; 5] = [
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 0), None),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 1), note("8 of 16000 segments again")),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 50), suspect("2.5 %")),
            (ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 1), note("8 of 8000")),
            (ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 0), None),
        ];
        for (code, id, make, expected) in rows {
            expect(&Builder::new().case(id, 8, make).read(), code, expected);
        }
    }
}
