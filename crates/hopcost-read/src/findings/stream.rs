//! Findings about streams and the transports under them.

mod stall;

pub use stall::stalled_share;

use hopcost_model::case::{Case, Role, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::raw::RawTrial;

use self::stall::nagle_delack;
use super::make::{finding, suspect_if};
use crate::case::Reading;
use crate::run::Run;
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

/// All of them for one case.
pub fn findings(run: &Run, case: &Case, reading: &Reading) -> Vec<Finding> {
    let trials = &reading.trials;
    let all = [
        nagle_delack(run, case, trials),
        copied(trials),
        uncompleted(case, trials),
        little(reading),
        retransmitted(reading),
    ];
    all.into_iter().flatten().collect()
}

fn copied(trials: &[&RawTrial]) -> Option<Finding> {
    let sends = stream::zero_copy(trials).filter(|sends| sends.copied > 0)?;
    let share = sends.copied as f64 / sends.completed.max(sends.copied) as f64;
    let evidence = format!(
        "The kernel copied {} of {} zero-copy sends ({}).",
        sends.copied,
        sends.completed,
        format::percent(share)
    );
    let values = [("copied", sends.copied as f64), ("copied_share", share)];
    Some(finding(Code::ZeroCopyCopied, Severity::Note, evidence, &values))
}

/// A message takes at least one send, so fewer completions than messages mean that
/// some are missing.
fn uncompleted(case: &Case, trials: &[&RawTrial]) -> Option<Finding> {
    if case.workload != Workload::Stream {
        return None;
    }
    let missing = trials.iter().flat_map(|trial| &trial.ends).filter_map(|end| {
        let sends = end.zero_copy.filter(|_| end.role == Role::Caller)?;
        Some(end.count.saturating_sub(sends.completed))
    });
    let missing = total(missing);
    (missing > 0).then(|| {
        let evidence = format!("At least {missing} sends without a copy were never completed.");
        let values = [("uncompleted", missing as f64)];
        finding(Code::ZeroCopyUncompleted, Severity::Suspect, evidence, &values)
    })
}

fn little(reading: &Reading) -> Option<Finding> {
    let stream = reading.result.stream.as_ref()?;
    let (found, window) = (stream.little_outstanding?, stream.window? as f64);
    let values = [("outstanding", found), ("window", window)];
    let said = |severity, why: &str| {
        let evidence = format!(
            "Throughput times latency is {} messages in flight, the acknowledgements allow {window}: \
             {why}",
            format::three(found)
        );
        Some(finding(Code::Little, severity, evidence, &values))
    };
    if found > OUTSTANDING_MAX * window {
        return said(Severity::Invalid, "one of the two numbers is wrong.");
    }
    if window > 1.0 || found >= INSIDE_NOTE {
        return None;
    }
    let outside = format::percent(1.0 - found);
    let why = format!("{outside} of the time passes outside the messages.");
    said(suspect_if(found < INSIDE_SUSPECT), &why)
}

/// What TCP sent again, either end.
fn retransmitted(reading: &Reading) -> Option<Finding> {
    let tcp = &reading.result.tcp;
    let again = total(tcp.iter().map(|end| end.retransmitted));
    let segments = total(tcp.iter().map(|end| end.segments));
    (again > 0).then(|| {
        let share = again as f64 / segments.max(again) as f64;
        let evidence =
            format!("TCP sent {again} of {segments} segments again ({}).", format::percent(share));
        let values = [("retransmitted", again as f64), ("share", share)];
        let severity = suspect_if(share >= RETRANSMITTED_SUSPECT);
        finding(Code::TcpRetransmitted, severity, evidence, &values)
    })
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};
    use hopcost_model::protocol::{TcpReading, ZeroCopySends};

    use crate::testing::{Builder, STREAM, STREAM_NO_ACK, STREAM_TWO_FLOWS, TrialBuilder, expect};

    /// 1000 messages of 3000 ns each in this many nanoseconds.
    fn stream(t: &mut TrialBuilder, elapsed: u64) {
        t.stream(1, 1000, 2048, &[3000; 1000], elapsed);
    }

    fn sends(t: &mut TrialBuilder, completed: u64, copied: u64) {
        stream(t, 3_000_000);
        t.raw.ends[0].zero_copy = Some(ZeroCopySends { completed, copied });
    }

    /// Either end has sent a thousand segments, the sender so many of them again.
    fn tcp(t: &mut TrialBuilder, retransmitted: u64) {
        stream(t, 3_000_000);
        for (end, retransmitted) in t.raw.ends.iter_mut().zip([retransmitted, 0]) {
            end.tcp = Some(TcpReading { segments: 1000, retransmitted, ..TcpReading::default() });
        }
    }

    #[test]
    fn each_finding_has_its_evidence() {
        type Row =
            (Code, &'static str, fn(u32, &mut TrialBuilder), Option<(Severity, &'static str)>);
        let note = |words| Some((Severity::Note, words));
        let suspect = |words| Some((Severity::Suspect, words));
        let invalid = Some((Severity::Invalid, "wrong"));
        let window = STREAM.replace("per-message", "window:16").leak();
        let rows: [Row; 16] = [
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 0), None),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 1), note("8 of 16000 segments again")),
            (Code::TcpRetransmitted, STREAM, |_, t| tcp(t, 50), suspect("2.5 %")),
            (Code::ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 1), note("8 of 8000")),
            (Code::ZeroCopyCopied, STREAM, |_, t| sends(t, 1000, 0), None),
            (Code::ZeroCopyUncompleted, STREAM, |_, t| sends(t, 990, 990), suspect("80 sends")),
            (Code::ZeroCopyUncompleted, STREAM, |_, t| sends(t, 1000, 5), None),
            (Code::Little, STREAM, |_, t| stream(t, 3_000_000), None),
            (Code::Little, STREAM, |_, t| stream(t, 3_700_000), None),
            (Code::Little, STREAM, |_, t| stream(t, 4_000_000), note("25 %")),
            (Code::Little, STREAM, |_, t| stream(t, 7_000_000), suspect("57 %")),
            (Code::Little, STREAM, |_, t| stream(t, 2_000_000), invalid),
            // A window need not be full, but holds no more than it does.
            (Code::Little, window, |_, t| stream(t, 7_000_000), None),
            (Code::Little, window, |_, t| stream(t, 150_000), invalid),
            (Code::Little, STREAM_NO_ACK, |_, t| t.stream(1, 9, 2048, &[], 3_000), None),
            // Always one in flight; the second flow's messages take seven times as long.
            (
                Code::Little,
                STREAM_TWO_FLOWS,
                |_, t| {
                    let latencies = [[3000; 1000], [21_000; 1000]].concat();
                    t.stream(2, 1000, 2048, &latencies, 3_000_000);
                    for end in [1, 3] {
                        t.raw.ends[end].elapsed_ticks = 21_000_000;
                    }
                },
                None,
            ),
        ];
        for (code, id, make, expected) in rows {
            expect(&Builder::new().case(id, 8, make).read(), code, expected);
        }
    }
}
