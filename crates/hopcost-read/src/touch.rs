//! What writing and comparing messages took the ends of a case.

use hopcost_model::case::{Ack, Case, Workload};
use hopcost_model::protocol::EndCounters;
use hopcost_model::raw::RawTrial;
use hopcost_model::results::TouchCost;
use hopcost_stats::sample::median;

/// Of the trials that were measured.
pub fn cost(case: &Case, trials: &[&RawTrial]) -> Option<TouchCost> {
    let over = |of: fn(&EndCounters) -> Option<f64>| {
        let ends = trials.iter().flat_map(|trial| &trial.ends);
        median(&ends.filter_map(of).filter(|ns| ns.is_finite()).collect::<Vec<_>>())
    };
    let (fill_ns, verify_ns) = (over(|end| end.fill_ns)?, over(|end| end.verify_ns)?);
    let operation_ns = match case.workload {
        Workload::Roundtrip => Some(2.0 * (fill_ns + verify_ns)),
        Workload::Stream => (case.ack != Some(Ack::None)).then_some(verify_ns),
        Workload::Wake | Workload::Load | Workload::Call => Some(0.0),
    };
    Some(TouchCost { fill_ns, verify_ns, operation_ns })
}

#[cfg(test)]
mod tests {
    use crate::testing::{Builder, PIPE_4K, STREAM, STREAM_NO_ACK, TrialBuilder, read};

    #[test]
    fn of_a_round_trip_two_messages_and_of_a_stream_what_is_acknowledged() {
        let timed = |t: &mut TrialBuilder, round: u32| {
            for end in &mut t.raw.ends {
                end.fill_ns = Some(40.0 + f64::from(round));
                end.verify_ns = Some(70.0);
            }
        };
        let raw = Builder::new()
            .case(PIPE_4K, 7, |round, t| {
                t.each(&[4000; 50]);
                timed(t, round);
            })
            .case(STREAM, 7, |round, t| {
                t.stream(1, 100, 2048, &[9000; 100], 900_000);
                timed(t, round);
            })
            .case(STREAM_NO_ACK, 7, |round, t| {
                t.stream(1, 100, 2048, &[], 200_000);
                timed(t, round);
            })
            .case(PIPE_4K.replace("same-cpu", "free").as_str(), 7, |_, t| t.each(&[4000; 50]))
            .build();
        let costs: Vec<_> = read(&raw).results.iter().map(|result| result.touch).collect();
        let [Some(pipe), Some(stream), Some(no_ack), None] = costs[..] else { panic!("{costs:?}") };
        assert_eq!((pipe.fill_ns, pipe.verify_ns, pipe.operation_ns), (43.0, 70.0, Some(226.0)));
        let remarks = read(&raw).remarks.join("\n");
        let greatest = remarks.split("greatest share is that of ").nth(1).expect("the remark");
        assert!(greatest.starts_with("roundtrip/pipe?payload=4096"), "{remarks}");
        assert!(
            greatest.contains(": 226 ns with") && remarks.contains("up to 5.7 % of"),
            "{remarks}"
        );
        assert_eq!((stream.operation_ns, no_ack.operation_ns), (Some(70.0), None));
    }
}
