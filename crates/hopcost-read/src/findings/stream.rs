//! Findings about streams and the transports under them.

mod stall;

pub use stall::nagle_delack;

use hopcost_model::case::{Role, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_stats::sample::median;

use super::make::{Seen, finding, suspect_if};
use crate::sums::total;
use crate::{format, stream};

/// More messages in flight than allowed by this factor cannot be: the mean latency
/// of thinned samples is off by less.
const OUTSTANDING_MAX: f64 = 1.05;
/// With one message outstanding, the share of the time inside messages below which
/// it is noted (composing a large message takes a part of the loop by itself) …
const INSIDE_NOTE: f64 = 0.8;
/// … and below which throughput and latency tell different stories.
const INSIDE_SUSPECT: f64 = 0.5;

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

/// A message takes at least one send, so fewer completions than messages mean that
/// some are missing.
pub fn uncompleted(of: &Seen) -> Option<Finding> {
    let ends = of.reading.trials.iter().flat_map(|trial| &trial.ends);
    let missing = total(ends.filter_map(|end| {
        let sends = end.zero_copy.filter(|_| end.role == Role::Caller)?;
        Some(end.count.saturating_sub(sends.completed))
    }));
    let says = "At least <uncompleted n> sends without a copy were never completed.";
    let values = [("uncompleted", missing as f64)];
    (of.case.workload == Workload::Stream && missing > 0)
        .then(|| finding(Code::ZeroCopyUncompleted, Severity::Suspect, says, &values))
}

pub fn little(of: &Seen) -> Option<Finding> {
    let window = of.reading.result.stream.as_ref()?.window? as f64;
    let rates = of.reading.per_trial.iter().filter_map(|trial| trial.rates);
    let found = median(&rates.filter_map(|of| of.little_outstanding).collect::<Vec<_>>())?;
    let (severity, why) = match () {
        () if found > OUTSTANDING_MAX * window => {
            (Severity::Invalid, "one of the two numbers is wrong.".to_owned())
        }
        () if window > 1.0 || found >= INSIDE_NOTE => return None,
        () => {
            let outside = format::percent(1.0 - found);
            let why = format!("{outside} of the time passes outside the messages.");
            (suspect_if(found < INSIDE_SUSPECT), why)
        }
    };
    let says = format!(
        "Throughput times latency is <outstanding> messages in flight, the acknowledgements allow \
         {window}: {why}"
    );
    Some(finding(Code::Little, severity, says, &[("outstanding", found), ("window", window)]))
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

    use crate::testing::{Builder, Row, STREAM, TrialBuilder, expect, invalid, note, suspect};

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
        use Code::{Little, ZeroCopyCopied, ZeroCopyUncompleted};
        let window = STREAM.replace("per-message", "window:16").leak();
        let rows: [Row; 12] = [
            (Little, STREAM, |_, t| stream(t, 3_700_000), None),
            (Little, STREAM, |_, t| stream(t, 4_000_000), note("25 %")),
            (Little, STREAM, |_, t| stream(t, 7_000_000), suspect("57 %")),
            (Little, STREAM, |_, t| stream(t, 2_000_000), invalid("wrong")),
            (Little, window, |_, t| stream(t, 150_000), invalid("wrong")),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 0), None),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 1), note("8 of 16000 segments again")),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 50), suspect("2.5 %")),
            (ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 1), note("8 of 8000")),
            (ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 0), None),
            (ZeroCopyUncompleted, STREAM, |_, t| sends(t, 990, 990), suspect("80 sends")),
            (ZeroCopyUncompleted, STREAM, |_, t| sends(t, 1000, 5), None),
        ];
        for (code, id, make, expected) in rows {
            expect(&Builder::new().case(id, 8, make).read(), code, expected);
        }
    }
}
