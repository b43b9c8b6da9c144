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
/// it is said (composing a large message takes a part of the loop by itself) …
const INSIDE_NOTE: f64 = 0.8;
/// … and below which throughput and latency tell different stories.
const INSIDE_SUSPECT: f64 = 0.5;

/// All of them for one case.
pub fn findings(run: &Run, case: &Case, reading: &Reading) -> Vec<Finding> {
    let trials = &reading.trials;
    let all = [
        nagle_delack(run, case, trials),
        copied(trials),
        uncompleted(case, trials),
        little(reading),
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

#[cfg(test)]
mod tests {
    use hopcost_model::finding::{Code, Severity};
    use hopcost_model::protocol::ZeroCopySends;
    use hopcost_model::results::Results;

    use crate::testing::{
        Builder, STREAM, STREAM_NO_ACK, STREAM_TWO_FLOWS, TrialBuilder, noisy, severity,
    };

    fn run(id: &str, make: impl Fn(u32, &mut TrialBuilder)) -> Results {
        Builder::new().case(id, 8, make).read()
    }
    fn plain(round: u32, t: &mut TrialBuilder) {
        let latencies = noisy(1000, round);
        let elapsed: u64 = latencies.iter().map(|l| u64::from(*l)).sum();
        t.stream(1, 1000, 2048, &latencies, elapsed);
    }

    #[test]
    fn nothing_fires_on_a_plain_stream() {
        for place in ["free", "same-cpu", "same-llc"] {
            let id = STREAM.replace("place=free", &format!("place={place}"));
            let quiet = |round: u32, t: &mut TrialBuilder| {
                plain(round, t);
                // Blocking for want of work is no one else's doing.
                t.raw.ends.iter_mut().for_each(|end| end.thread_cpu_ns = 1);
                (t.raw.cpu_ns, t.raw.ends[0].voluntary) = (2, 3);
                if place != "free" {
                    t.raw.cpus_asked = vec![Some(0), Some(u32::from(place == "same-llc"))];
                    t.raw.ends[1].cpu_before = u32::from(place == "same-llc");
                    t.raw.ends[1].cpu_after = u32::from(place == "same-llc");
                }
            };
            assert_eq!(run(&id, quiet).findings, [], "{place}");
        }
        let none = run(STREAM_NO_ACK, |_, t| t.stream(1, 1000, 2048, &[], 3_000_000));
        assert_eq!(none.findings, []);
    }

    #[test]
    fn copies_are_always_told_of() {
        let with = |sends: Option<ZeroCopySends>| {
            run(STREAM, move |round, t| {
                plain(round, t);
                t.raw.ends[0].zero_copy = sends;
            })
        };
        let sends = |completed, copied| Some(ZeroCopySends { completed, copied });
        assert_eq!(severity(&with(sends(1000, 1)), Code::ZeroCopyCopied), Some(Severity::Note));
        assert_eq!(severity(&with(sends(1000, 0)), Code::ZeroCopyCopied), None);
        assert_eq!(severity(&with(None), Code::ZeroCopyCopied), None);
        let missing = with(sends(990, 990));
        assert_eq!(severity(&missing, Code::ZeroCopyUncompleted), Some(Severity::Suspect));
        assert!(missing.findings.iter().any(|f| f.evidence.contains("At least 80 sends")));
        assert_eq!(severity(&with(sends(1000, 5)), Code::ZeroCopyUncompleted), None);
    }

    #[test]
    fn little() {
        // 1000 messages of 3000 ns each in this many nanoseconds.
        let with = |id: &str, elapsed: u64| {
            run(id, move |_, t| t.stream(1, 1000, 2048, &[3000; 1000], elapsed))
        };
        let of = |id: &str, elapsed| severity(&with(id, elapsed), Code::Little);
        assert_eq!(of(STREAM, 3_000_000), None);
        assert_eq!(of(STREAM, 3_700_000), None, "0.81 in flight");
        assert_eq!(of(STREAM, 4_000_000), Some(Severity::Note), "0.75");
        assert_eq!(of(STREAM, 7_000_000), Some(Severity::Suspect), "0.43");
        assert_eq!(of(STREAM, 2_000_000), Some(Severity::Invalid), "1.5 of 1");
        let window = STREAM.replace("per-message", "window:16");
        assert_eq!(of(&window, 7_000_000), None, "a window need not be full");
        assert_eq!(of(&window, 200_000), None, "15");
        assert_eq!(of(&window, 150_000), Some(Severity::Invalid), "20 of 16");
    }

    #[test]
    fn a_slow_flow_beside_a_fast_one_does_not_put_more_in_flight_than_there_is() {
        // Always one in flight; the second flow's messages take seven times as long.
        let latencies: Vec<u32> = [vec![3000; 1000], vec![21_000; 1000]].concat();
        let results = run(STREAM_TWO_FLOWS, move |_, t| {
            t.stream(2, 1000, 2048, &latencies, 3_000_000);
            for end in [1, 3] {
                t.raw.ends[end].elapsed_ticks = 21_000_000;
            }
        });
        assert_eq!(severity(&results, Code::Little), None);
        let outstanding = results.results[0].stream.clone().unwrap().little_outstanding;
        assert!((outstanding.unwrap() - 1.0).abs() < 1e-9, "{outstanding:?}");
    }
}
