//! Nagle's algorithm against the delayed acknowledgement.
//!
//! With small writes and no TCP_NODELAY, the sender holds back its last short segment
//! until the data before it is acknowledged, and the receiver, having nothing to say,
//! acknowledges only when its timer runs out. In a stream that sender is the one of the
//! messages: the receiver, which sends 8 bytes a message the other way, always sets
//! TCP_NODELAY, or its own acknowledgements would wait for each other at the end of a
//! window. On Linux that timer is 40 ms at the
//! least (TCP_DELACK_MIN, HZ/25, include/net/tcp.h), whole ticks of up to 4 ms and
//! the message itself come on top, and it never fires early: so each stall takes 38
//! to 48 ms, and k of them take k times that. Nor is there anything just below a stall,
//! whereas the latencies of merely slow messages thin out gradually; so the times
//! below must be far fewer.

use std::ops::Range;

use hopcost_model::case::Workload;
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::protocol::Stamp;

use crate::findings::make::{Seen, finding};

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

/// Messages of a stream, or round trips, over TCP that take as long as stalls do.
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
        let tick_ns = 1e9 / of.run.raw.clock(trial)?.ticks_per_second;
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
    let says = format!("<share %> of the {what}s take {times} or another small multiple of it.");
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
    use crate::results::Results;
    use hopcost_model::finding::{Code, Severity};

    use crate::testing::{Builder, PIPE, STREAM, TCP, TrialBuilder, severity};

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
