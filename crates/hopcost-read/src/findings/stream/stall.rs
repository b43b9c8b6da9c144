//! Nagle's algorithm against the delayed acknowledgement.
//!
//! With small writes and no TCP_NODELAY, the sender holds back its last short segment
//! until the data before it is acknowledged, and the receiver, having nothing to say,
//! acknowledges only when its timer runs out. On Linux that timer is 40 ms at the
//! least (TCP_DELACK_MIN, HZ/25, include/net/tcp.h), whole ticks of up to 4 ms and
//! the message itself come on top, and it never fires early: so each stall takes 38
//! to 48 ms, and k of them take k times that.

use hopcost_model::case::{Case, Workload};
use hopcost_model::finding::{Code, Finding, Severity};
use hopcost_model::protocol::Stamp;
use hopcost_model::raw::RawTrial;

use crate::findings::finding;
use crate::run::Run;
use crate::say;

/// Least and most time of one stall.
const STALL_NS: (f64, f64) = (38e6, 48e6);
/// From five stalls on, the ranges of k and k + 1 overlap and tell nothing.
const STALLS_MAX: usize = 4;
/// Share of the samples that must be stalls.
const SHARE_MIN: f64 = 0.01;
/// Beginnings of the names of mechanisms that run over TCP.
const OVER_TCP: [&str; 2] = ["tcp", "websocket"];

/// Messages of a stream, or round trips, over TCP that take as long as stalls do.
pub fn nagle_delack(run: &Run, case: &Case, trials: &[&RawTrial]) -> Option<Finding> {
    let over_tcp = OVER_TCP.iter().any(|name| case.mechanism_name().starts_with(name));
    let waits = matches!(case.workload, Workload::Stream | Workload::Roundtrip);
    // With TCP_NODELAY there is nothing to hold back.
    let no_delay = case.parameters.get("nodelay").is_some_and(|value| value == "on");
    if !over_tcp || !waits || no_delay {
        return None;
    }
    let mut samples = 0u64;
    let mut stalls = [0u64; STALLS_MAX];
    for trial in trials.iter().filter(|trial| trial.stamp == Some(Stamp::Each)) {
        let tick_ns = 1e9 / run.clock(trial)?.ticks_per_second;
        for ticks in &trial.samples {
            samples += 1;
            if let Some(k) = stalls_in(f64::from(*ticks) * tick_ns) {
                stalls[k - 1] += 1;
            }
        }
    }
    let stalled: u64 = stalls.iter().sum();
    let share = stalled as f64 / samples.max(1) as f64;
    if share < SHARE_MIN {
        return None;
    }
    let (k, _) = (1..).zip(stalls).max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let times = match k {
        1 => "about 40 ms".to_owned(),
        k => format!("about {k} × 40 ms"),
    };
    let evidence = format!(
        "{} of the {} take {times} or another small multiple of it.",
        say::percent(share),
        if case.workload == Workload::Stream { "messages" } else { "round trips" },
    );
    let values = [("share", share), ("k", f64::from(k)), ("stalled_samples", stalled as f64)];
    Some(finding(Code::NagleDelack, Severity::Suspect, evidence, &values))
}

/// How many stalls a time is, if it is some.
fn stalls_in(ns: f64) -> Option<usize> {
    let within = |k: &usize| (STALL_NS.0 * *k as f64..=STALL_NS.1 * *k as f64).contains(&ns);
    (1..=STALLS_MAX).find(within)
}

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};
    use hopcost_model::results::Results;

    use crate::testing::{Builder, PIPE, STREAM, TCP, TrialBuilder, read, severity};

    /// A hundred samples, of which some take this many nanoseconds.
    fn with(id: &str, stalled: usize, ns: u32) -> Results {
        let samples: Vec<u32> = (0..200).map(|i| if i < stalled { ns } else { 30_000 }).collect();
        let make = |_: u32, t: &mut TrialBuilder| {
            if id.starts_with("stream") {
                let elapsed = samples.iter().map(|s| u64::from(*s)).sum();
                t.stream(1, 200, 2048, &samples, elapsed);
            } else {
                t.each(&samples);
            }
        };
        read(&Builder::new().case(id, 8, make).build())
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
}
