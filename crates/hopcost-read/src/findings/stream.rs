//! Findings about streams and the transports under them.

use std::ops::Range;

use hopcost_model::{Code, Finding, Role, Severity, Stamp, Workload};
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
    let trials = of.reading.per_trial.iter();
    let found = median(trials.filter_map(|trial| trial.rates?.little_outstanding))?;
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

/// Least and most time of one stall.
const STALL_NS: (f64, f64) = (38e6, 48e6);
/// Where the times below the first stall begin.
const BELOW_NS: f64 = 28e6;
/// How much denser stalls must lie than the times between them and the stalls before.
const DENSER: f64 = 2.0;
/// Share of the samples that must be stalls.
const SHARE_MIN: f64 = 0.01;
/// Beginnings of the names of mechanisms that run over TCP.
const OVER_TCP: [&str; 2] = ["tcp", "websocket"];

/// Nagle's algorithm against the delayed acknowledgement.
///
/// With small writes and no TCP_NODELAY, the sender holds back its last short segment
/// until the data before it is acknowledged, and the receiver, having nothing to say,
/// acknowledges only when its timer runs out. In a stream that sender is the one of the
/// messages: the receiver, which sends 8 bytes a message the other way, always sets
/// TCP_NODELAY, or its own acknowledgements would wait for each other at the end of a
/// window. On Linux that timer is 40 ms at the
/// least (TCP_DELACK_MIN, HZ/25, include/net/tcp.h), whole ticks of up to 4 ms and
/// the message itself come on top, and it never fires early: so each stall takes 38
/// to 48 ms, and k of them take k times that. Nor is there anything just below a stall,
/// whereas the latencies of merely slow messages thin out gradually; so the times
/// below must be far fewer.
pub fn nagle_delack(of: &Seen) -> Option<Finding> {
    let case = of.case;
    let over_tcp = OVER_TCP.iter().any(|name| case.mechanism_name().starts_with(name));
    let waits = matches!(case.workload, Workload::Stream | Workload::Roundtrip);
    // With TCP_NODELAY there is nothing to hold back.
    let no_delay = case.parameter("nodelay") == Some("on");
    if !over_tcp || !waits || no_delay {
        return None;
    }
    let mut samples: Vec<f64> = Vec::new();
    for trial in of.reading.trials.iter().filter(|trial| trial.stamp == Some(Stamp::Each)) {
        let tick_ns = of.run.raw.tick_ns(trial)?;
        samples.extend(trial.samples.iter().map(|ticks| *ticks as f64 * tick_ns));
    }
    let count = |range: &Range<f64>| samples.iter().filter(|ns| range.contains(ns)).count() as u64;
    let density = |range: Range<f64>| count(&range) as f64 / (range.end - range.start);
    // From five stalls on, the ranges of k and k + 1 overlap and tell nothing.
    let stalls = [1, 2, 3, 4].map(|k| {
        let is_dense = density(range(k)) > DENSER * density(gap(k));
        if is_dense { count(&range(k)) } else { 0 }
    });
    let stalled: u64 = stalls.iter().sum();
    let share = stalled as f64 / samples.len().max(1) as f64;
    if share < SHARE_MIN {
        return None;
    }
    let (k, _) = (1..).zip(stalls).max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let times = match k {
        1 => "about 40 ms".to_owned(),
        k => format!("about {k} × 40 ms"),
    };
    let what = case.workload.spec().operation;
    let says = format!(
        "<share %> of the {what}s take {times} or another small multiple of it: Nagle's algorithm \
         holds a small segment back until the delayed acknowledgement comes."
    );
    let values = [("share", share), ("k", f64::from(k)), ("stalled_samples", stalled as f64)];
    Some(finding(Code::NagleDelack, Severity::Suspect, says, &values))
}

/// What `k` stalls take.
fn range(k: usize) -> Range<f64> {
    STALL_NS.0 * k as f64..STALL_NS.1 * k as f64
}

/// The times between `k` stalls and the stalls before.
fn gap(k: usize) -> Range<f64> {
    let from = if k == 1 { BELOW_NS } else { range(k - 1).end };
    from..range(k).start
}

#[cfg(test)]
mod tests {
    use hopcost_model::{Code, Severity, TcpReading, ZeroCopySends};

    use crate::results::Results;
    use crate::testing::{
        Builder, PIPE, Row, STREAM, TCP, TrialBuilder, expect, invalid, note, severity, suspect,
    };

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

    fn of(id: &str, samples: &[u32]) -> Results {
        let make = |_: u32, t: &mut TrialBuilder| {
            if id.starts_with("stream") {
                let elapsed = samples.iter().map(|s| u64::from(*s)).sum();
                t.stream(1, samples.len() as u64, 2048, samples, elapsed);
            } else {
                t.each(samples);
            }
        };
        Builder::new().case(id, 8, make).read()
    }

    /// Two hundred samples, of which some take this many nanoseconds.
    fn with(id: &str, stalled: usize, ns: u32) -> Results {
        let samples: Vec<u32> = (0..200).map(|i| if i < stalled { ns } else { 30_000 }).collect();
        of(id, &samples)
    }

    #[test]
    fn stalls_of_forty_milliseconds() {
        let send = STREAM.replace("tcp-sendmsg", "tcp-send") + "&more=off&nodelay=off";
        let all = with(&send, 200, 40_876_649);
        assert_eq!(severity(&all, Code::NagleDelack), Some(Severity::Suspect));
        let finding = all.findings.iter().find(|f| f.code == Code::NagleDelack).unwrap();
        assert!(finding.evidence.starts_with("100 % of the messages take about 40 ms"));
        assert_eq!((finding.values["share"], finding.values["k"]), (1.0, 1.0));
        assert!(finding.remedy.contains("TCP_NODELAY"));
        let two = with(&send, 4, 82_000_000);
        let two = two.findings.iter().find(|f| f.code == Code::NagleDelack).unwrap();
        assert!(two.evidence.contains("2.0 % of the messages take about 2 × 40 ms"));
        assert_eq!(severity(&with(TCP, 3, 44_000_000), Code::NagleDelack), Some(Severity::Suspect));
    }

    #[test]
    fn what_is_no_stall() {
        assert_eq!(severity(&with(STREAM, 1, 41_000_000), Code::NagleDelack), None, "0.5 %");
        assert_eq!(severity(&with(STREAM, 50, 30_000_000), Code::NagleDelack), None, "too short");
        assert_eq!(severity(&with(STREAM, 50, 60_000_000), Code::NagleDelack), None, "between");
        assert_eq!(severity(&with(PIPE, 50, 41_000_000), Code::NagleDelack), None, "no TCP");
        let no_delay = STREAM.replace("tcp-sendmsg", "tcp-send") + "&nodelay=on";
        assert_eq!(severity(&with(&no_delay, 50, 41_000_000), Code::NagleDelack), None);
    }

    #[test]
    fn messages_that_are_merely_slow() {
        // As many at each time from 10 to 60 ms, as in a full window of large messages.
        let slow: Vec<u32> = (0..500).map(|i| 10_000_000 + i * 100_000).collect();
        assert_eq!(severity(&of(STREAM, &slow), Code::NagleDelack), None);
        // Stalls, some of which a busy machine ends late.
        let late: Vec<u32> = (0..500).map(|i| 40_000_000 + i * 30_000).collect();
        assert_eq!(severity(&of(STREAM, &late), Code::NagleDelack), Some(Severity::Suspect));
    }
}
